//! Which module of a crate uses which, read from the source, and the circles that this makes.
//!
//! A module is a file here; a block `mod x { .. }` belongs to its file. A module uses another one if it names something
//! of it: in a `use` declaration, or by a path that begins with `crate`, `self`, `super`, a child, or a module that a
//! `use` declaration has named. What `cfg(test)` guards is left out, and so are the links of documentation.
//!
//! A path counts for the module that defines its last name, wherever it leads through. So a parent that only re-exports
//! (`pub use child::Item`) has no part in a circle: `use super::Item` in another child is a use of the child that
//! defines `Item`, and the re-export itself is no use unless the parent's own code mentions the name as well. If a name
//! is not found, because a macro makes it, say, then it counts for the last module of the path.

use crate::source::{Import, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How long a chain of re-exports may be.
const REEXPORTS_MAX: usize = 16;

/// What a path leads to.
enum Resolved {
    Module(usize),
    /// Something that this module defines.
    Item(usize),
}

/// Files that use each other, directly or by way of others of them; each with one that it uses, and what it uses of it.
pub(crate) type Circle = Vec<(PathBuf, PathBuf, String)>;

impl Tree {
    /// The circles, the largest first.
    pub(crate) fn circles(&self) -> Vec<Circle> {
        let uses = self.uses();
        let reached: Vec<BTreeSet<usize>> = (0..self.files.len()).map(|file| reach(&uses, file)).collect();
        let mut circles = Vec::new();
        for file in 0..self.files.len() {
            let circle: BTreeSet<usize> =
                reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
            // Each circle once: from its first file.
            if circle.first() == Some(&file) && circle.len() > 1 {
                circles.push(self.named(&uses, &circle));
            }
        }
        circles.sort_by_key(|circle: &Circle| std::cmp::Reverse(circle.len()));
        circles
    }

    fn named(&self, uses: &[BTreeMap<usize, String>], circle: &BTreeSet<usize>) -> Circle {
        let arrow = |file: &usize| {
            let (to, what) =
                uses[*file].iter().find(|(to, _)| circle.contains(to)).expect("uses another one");
            (self.files[*file].clone(), self.files[*to].clone(), what.clone())
        };
        circle.iter().map(arrow).collect()
    }

    /// Whom each file uses, and one path by which it does.
    fn uses(&self) -> Vec<BTreeMap<usize, String>> {
        let mut uses = vec![BTreeMap::new(); self.files.len()];
        for (number, module) in self.modules.iter().enumerate() {
            let mut note = |used: usize, path: &[String]| {
                let used = self.modules[used].file;
                if used != module.file {
                    uses[module.file].entry(used).or_insert_with(|| path.join("::"));
                }
            };
            for import in &module.imports {
                let mentioned = import.name.as_ref().is_some_and(|name| module.mentioned.contains(name));
                match self.find(number, &import.path, REEXPORTS_MAX) {
                    Some(_) if import.public && !mentioned => {}
                    Some(Resolved::Item(used)) => note(used, &import.path),
                    // A module that is only named here is used by the paths that begin with it.
                    Some(Resolved::Module(used)) if import.name.is_none() || import.local => {
                        note(used, &import.path);
                    }
                    Some(Resolved::Module(_)) | None => {}
                }
            }
            for path in &module.paths {
                if let Some(Resolved::Item(used)) = self.find(number, path, REEXPORTS_MAX) {
                    note(used, path);
                }
            }
        }
        uses
    }

    /// What a path leads to, unless that is another crate's. At most so many re-exports are followed.
    fn find(&self, from: usize, path: &[String], reexports: usize) -> Option<Resolved> {
        let mut rest = path;
        let mut at = from;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (0, &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            first if self.modules[from].children.contains_key(first) => {}
            first if self.import(from, first).is_some() => {}
            _ => return None,
        }
        while rest.first().is_some_and(|first| first == "super") {
            (at, rest) = (self.modules[at].parent?, &rest[1..]);
        }
        self.descend(at, rest, reexports)
    }

    /// What a path leads to that begins within a module.
    fn descend(&self, at: usize, path: &[String], reexports: usize) -> Option<Resolved> {
        let Some((first, rest)) = path.split_first() else { return Some(Resolved::Module(at)) };
        let module = &self.modules[at];
        if module.items.contains(first) && (rest.is_empty() || !module.children.contains_key(first)) {
            return Some(Resolved::Item(at));
        }
        if let Some(child) = module.children.get(first) {
            return self.descend(*child, rest, reexports);
        }
        if let Some(used) = self.macros.get(first).filter(|_| at == 0) {
            return Some(Resolved::Item(*used));
        }
        if reexports == 0 {
            return Some(Resolved::Item(at));
        }
        if let Some(import) = self.import(at, first) {
            let path: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return self.find(at, &path, reexports - 1);
        }
        for all in module.imports.iter().filter(|import| import.name.is_none() && !import.local) {
            if let Some(Resolved::Module(of)) = self.find(at, &all.path, reexports - 1)
                && of != at
                && self.defines(of, first)
            {
                return self.descend(of, path, reexports - 1);
            }
        }
        Some(Resolved::Item(at))
    }

    fn import(&self, module: usize, name: &str) -> Option<&Import> {
        let named = |import: &&Import| import.name.as_deref() == Some(name) && !import.local;
        self.modules[module].imports.iter().find(named)
    }

    fn defines(&self, module: usize, name: &str) -> bool {
        let of = &self.modules[module];
        of.items.contains(name) || of.children.contains_key(name) || self.import(module, name).is_some()
    }
}

/// What is reached from a place, by one step or more.
fn reach(uses: &[BTreeMap<usize, String>], from: usize) -> BTreeSet<usize> {
    let (mut reached, mut to_do) = (BTreeSet::new(), vec![from]);
    while let Some(at) = to_do.pop() {
        to_do.extend(uses[at].keys().copied().filter(|next| reached.insert(*next)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The circles of a made-up crate: whom each module in them is seen to use.
    fn circles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let read = |path: &Path| {
            files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
        };
        let named = |(from, to, what): &(PathBuf, PathBuf, String)| {
            format!("{} -> {}: {what}", from.display(), to.display())
        };
        let circles = Tree::read(Path::new("lib.rs"), &read).circles();
        circles.iter().map(|circle| circle.iter().map(named).collect()).collect()
    }

    #[test]
    fn a_circle_of_five_is_found_and_named() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; mod outside;"),
            ("a.rs", "use crate::b::{B, C as _}; pub struct A;"),
            ("b.rs", "pub struct B; pub trait C {} fn f() { vec![crate::c::inner::make(1)]; }"),
            ("c/mod.rs", "pub mod inner; pub struct C;"),
            ("c/inner.rs", "mod deep; use super::C; pub fn make(n: u8) -> deep::Deep { todo!() }"),
            ("c/inner/deep.rs", "mod last; pub use last::Deep;"),
            ("c/inner/deep/last.rs", "pub struct Deep(super::super::super::super::d::D);"),
            ("d.rs", "use crate::a; pub struct D(a::A);"),
            ("outside.rs", "use crate::{a::A, b::B};"),
        ]);
        let expected = [
            "a.rs -> b.rs: crate::b::B",
            "b.rs -> c/inner.rs: crate::c::inner::make",
            "c/inner.rs -> c/inner/deep/last.rs: deep::Deep",
            "c/inner/deep/last.rs -> d.rs: super::super::super::super::d::D",
            "d.rs -> a.rs: a::A",
        ];
        assert_eq!(found, [expected]);
    }

    #[test]
    fn who_only_re_exports_is_in_no_circle() {
        let with_parent = |parent: &str| {
            circles(&[
                ("lib.rs", "mod parent;"),
                ("parent/mod.rs", parent),
                ("parent/x.rs", "use super::{LIMIT, Y}; pub struct X(Y);"),
                ("parent/y.rs", "pub const LIMIT: u8 = 1; pub struct Y;"),
            ])
        };
        let re_exports = "mod x; mod y; pub use x::X; pub use y::*;";
        assert_eq!(with_parent(re_exports), [[""; 0]; 0]);
        // One that uses a child, too, as long as no child uses it.
        assert_eq!(with_parent(&format!("{re_exports} fn f(x: X) {{}}")), [[""; 0]; 0]);
        let defines = "mod x; mod y; pub use x::X; pub use y::Y; const LIMIT: u8 = 1; fn f(x: X) {}";
        let arrows = ["parent/mod.rs -> parent/x.rs: x::X", "parent/x.rs -> parent/mod.rs: super::LIMIT"];
        assert_eq!(with_parent(defines), [arrows]);
    }

    #[test]
    fn blocks_belong_to_their_file() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "pub fn f() {} pub(in super::b) mod block { use super::f; fn g() { super::super::b::h() } }",
            ),
            ("b.rs", "pub fn h() { use crate::a::block; crate::a::f() }"),
        ]);
        assert_eq!(found, [["a.rs -> b.rs: super::super::b::h", "b.rs -> a.rs: crate::a::block"]]);
    }

    #[test]
    fn an_exported_macro_is_of_the_module_that_defines_it() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "#[macro_export] macro_rules! twice { ($x:expr) => { $crate::b::add($x, $x) } }"),
            ("b.rs", "pub fn add(x: u8, y: u8) -> u8 { crate::twice!(x) }"),
        ]);
        assert_eq!(found, [["a.rs -> b.rs: crate::b::add", "b.rs -> a.rs: crate::twice"]]);
    }

    #[test]
    fn what_is_for_tests_is_left_out() {
        let with_condition = |condition| {
            let a = format!(
                "pub struct A; #[cfg({condition})] use crate::b::B; #[cfg({condition})] mod block {{ use crate::b::B; }} \
                 fn f() {{ #[cfg({condition})] crate::b::f(1); }} \
                 struct S {{ #[cfg({condition})] pub b: crate::b::B, last: u8 }} #[test] fn t() {{ crate::b::f(2) }}"
            );
            circles(&[("lib.rs", "mod a; mod b;"), ("a.rs", &a), ("b.rs", "use crate::a::A; pub struct B;")])
                .len()
        };
        assert_eq!(with_condition("test"), 0);
        assert_eq!(with_condition("all(unix, test)"), 0);
        assert_eq!(with_condition("not(test)"), 1);
        assert_eq!(with_condition("any(test, unix)"), 1);
    }
}
