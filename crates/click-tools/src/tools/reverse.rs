//! Undoes what Click's compilers have done to a configuration: it has its own classes again, instead of those that were made for it.

use super::load::Loaded;
use crate::archive::Member;
use lang::conf;
use std::collections::HashMap;

/// How a compiler marks what it makes.
pub(super) struct Compiler {
    /// The member of the archive that lists the classes: with tabs between, the new name, the old one and perhaps the old
    /// configuration string.
    info: &'static str,
    /// What the names of packages and of members of the archive begin with.
    prefixes: [&'static str; 3],
}

pub(super) const DEVIRTUALIZE: Compiler =
    Compiler { info: "devirtualize_info", prefixes: ["devirtualize", "clickdv_", "elementmap-devirtualize"] };

pub(super) const FASTCLASSIFIER: Compiler = Compiler {
    info: "fastclassifier_info",
    prefixes: ["fastclassifier", "clickfc_", "elementmap-fastclassifier"],
};

impl Compiler {
    fn made(&self, name: &[u8]) -> bool {
        let name = name.strip_prefix(b"elementmap-clickfc_").map_or(name, |_| b"clickfc_");
        self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_bytes()))
    }

    /// Undoes what the compiler has done, if it has.
    pub(super) fn reverse(&self, loaded: &mut Loaded) {
        let is_info = |member: &&Member| member.name() == self.info.as_bytes();
        let Some(info) = loaded.archive.iter().find(is_info) else { return };
        let info = String::from_utf8_lossy(&info.data).into_owned();
        let classes: HashMap<&str, Vec<&str>> = info.lines().filter_map(class).collect();
        for element in &mut loaded.graph.elements {
            let Some(old) = classes.get(element.class.as_str()) else { continue };
            element.class = conf::unquote(old[0]);
            if let Some(config) = old.get(1) {
                element.config = conf::unquote(config);
            }
        }
        let made = |name: &[u8]| self.made(name);
        loaded.graph.requirements.retain(|r| r.kind != "package" || !made(r.value.as_bytes()));
        loaded.archive.retain(|member| !made(member.name()));
    }
}

/// The name of a new class, and what it was before.
fn class(line: &str) -> Option<(&str, Vec<&str>)> {
    let (new, old) = line.split_once('\t')?;
    Some((new, old.splitn(2, '\t').collect()))
}
