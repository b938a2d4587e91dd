//! `click-combine`: several routers as one configuration.

use super::line::{EXPRESSION, FILE, HELP, Id, Line, OUTPUT, Source, VERSION};
use super::load::{load, write_wanted};
use super::tool::{End, Tool};
use crate::archive::Member;
use crate::clp::{Item, Spec, Takes};
use crate::input::Input;
use crate::transform::{Component, Endpoint, LINK, combine};
use lang::conf;

pub(super) const TOOL: Tool = Tool {
    name: "click-combine",
    usage: "[OPTION]... [ROUTERFILE | ROUTERNAME=FILE | LINKSPEC]...",
    about: "\
Prints several routers as one configuration. A link 'NAME1.ELEMENT1=NAME2.ELEMENT2'
puts a RouterLink in the place of a ToDevice of one router and a FromDevice of
another; the name of the device will do instead of that of the element.
'click-uncombine' takes routers out again.
",
    help: "  -n, --name NAME               Call the next router NAME, not by its number.
  -l, --link LINKSPEC           Make a link.
  -c, --config                  Print the configuration only, not an archive.
",
    options: &[
        Spec::new("config", Some('c'), Id::Config, Takes::Nothing),
        EXPRESSION,
        FILE,
        HELP,
        Spec::new("link", Some('l'), Id::Link, Takes::Text),
        Spec::new("name", Some('n'), Id::Name, Takes::Text),
        OUTPUT,
        VERSION,
    ],
    run,
};

/// The member of an archive that lists the routers in it.
pub(super) const COMPONENTS: &str = "componentmap";

/// The member of an archive that says what ports the elements have that Click's tools do not know.
pub(super) const ELEMENTMAP: &str = "elementmap.xml";

/// That member's text about RouterLink.
const ROUTER_LINK: &str = "\
<?xml version=\"1.0\" standalone=\"yes\"?>
<elementmap xmlns=\"http://www.lcdf.org/click/xml/\">
  <entry name=\"RouterLink\" processing=\"l/h\" flowcode=\"x/x\" flags=\"S3\" />
</elementmap>
";

/// What the command line has named so far.
#[derive(Default)]
struct Routers {
    components: Vec<Component>,
    /// For each, the routers in it.
    inner: Vec<Vec<String>>,
    next_name: Option<String>,
    links: Vec<String>,
}

fn run(line: &Line<'_>) -> Result<(), End> {
    let mut routers = Routers::default();
    for item in line.items.clone() {
        routers.take(line, item)?;
    }
    let links = routers.check(line)?;
    if links.is_empty() {
        line.complain("warning: no links between routers");
    }
    let graph = combine(&routers.components, &links).map_err(|(router, element)| {
        let Component { name, graph } = &routers.components[router];
        let element = &graph.elements[element].name;
        line.fail(&format!("router '{name}' element '{element}' used as both source and destination"))
    })?;
    let mut members = Vec::new();
    if graph.elements.iter().any(|element| element.class == LINK) {
        members.push(Member::new(ELEMENTMAP, 0o600, ROUTER_LINK.into()));
    }
    members.push(Member::new(COMPONENTS, 0o600, routers.list().into_bytes()));
    write_wanted(line, &graph, &members)
}

impl Routers {
    fn take(&mut self, line: &Line<'_>, item: Item<Id>) -> Result<(), End> {
        match item {
            Item::Option { id: Id::File, value, .. } => {
                self.read(line, None, Input::named(value.unwrap_or_default()))
            }
            Item::Option { id: Id::Expression, value, .. } => {
                self.read(line, None, Input::Expression(value.unwrap_or_default()))
            }
            Item::Option { id: Id::Name, value, .. } => {
                if self.next_name.is_some() {
                    line.say("warning: router name specified twice");
                }
                self.next_name = value;
                Ok(())
            }
            Item::Option { id: Id::Link, value, .. } => {
                self.links.extend(value);
                Ok(())
            }
            Item::Option { .. } => Ok(()),
            Item::Word(word) => match word.split_once(':').or_else(|| word.split_once('=')) {
                Some((name, _)) if name.contains('.') && !word.contains(':') => {
                    self.links.push(word);
                    Ok(())
                }
                Some((name, file)) => self.read(line, Some(name.to_owned()), Input::named(file.to_owned())),
                None => self.read(line, None, Input::named(word)),
            },
        }
    }

    fn read(&mut self, line: &Line<'_>, name: Option<String>, input: Input) -> Result<(), End> {
        if let (Some(next), Some(name)) = (&self.next_name, &name) {
            line.complain(&format!("warning: router name specified twice ('{next}' and '{name}')"));
        }
        let name = self.next_name.take().or(name).unwrap_or_else(|| (self.components.len() + 1).to_string());
        let is_part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_@".contains(&b))
        };
        if !name.split('/').all(is_part) {
            line.complain(&format!("router name '{name}' is not a legal Click identifier"));
            return Err(End::Failed);
        }
        let loaded = load(line, &Source::without_parameters(input))?;
        self.components.push(Component { name, graph: loaded.expanded });
        self.inner.push(components(&loaded.archive).unwrap_or_default());
        Ok(())
    }

    /// The links, if everything is right.
    fn check(&self, line: &Line<'_>) -> Result<Vec<(Endpoint, Endpoint)>, End> {
        if self.components.is_empty() {
            return Err(line.fail("no routers specified"));
        }
        for (i, Component { name, .. }) in self.components.iter().enumerate() {
            if self.components[..i].iter().any(|other| other.name == *name) {
                return Err(line.fail(&format!("two routers named '{name}'")));
            }
        }
        let links: Vec<_> = self.links.iter().map(|link| self.link(line, link)).collect();
        links.into_iter().collect()
    }

    fn link(&self, line: &Line<'_>, text: &str) -> Result<(Endpoint, Endpoint), End> {
        let sides =
            text.split_once('=').and_then(|(from, to)| Some((from.split_once('.')?, to.split_once('.')?)));
        let is_plain = |name: &str| !name.is_empty() && !name.contains(['.', '=', ' ']);
        let Some((from, to)) = sides.filter(|(from, to)| is_plain(from.1) && is_plain(to.1)) else {
            return Err(line.fail(&format!("bad link definition '{text}'")));
        };
        let ends = (
            self.endpoint(line, from, &["ToDevice"]),
            self.endpoint(line, to, &["FromDevice", "PollDevice"]),
        );
        Ok((ends.0?, ends.1?))
    }

    /// The element of a router that a name means, or the name of a device that an element of one of these classes has.
    fn endpoint(
        &self,
        line: &Line<'_>,
        (router, name): (&str, &str),
        classes: &[&str],
    ) -> Result<Endpoint, End> {
        let Some(index) = self.components.iter().position(|component| component.name == router) else {
            return Err(line.fail(&format!("no router named '{router}'")));
        };
        let graph = &self.components[index].graph;
        let has_device = |element: &lang::Element| {
            classes.contains(&element.class.as_str())
                && conf::split_args(&element.config).first().is_some_and(|device| device == name)
        };
        let mut on_device = (0..graph.elements.len()).filter(|&i| has_device(&graph.elements[i]));
        let found = match (graph.find(name), on_device.next(), on_device.next()) {
            (Some(found), ..) | (None, Some(found), None) => found,
            (None, None, _) => {
                return Err(line.fail(&format!("router '{router}' has no element or device named '{name}'")));
            }
            (None, Some(_), Some(_)) => {
                let all: Vec<String> = classes.iter().map(|class| format!("'{class}({name})'")).collect();
                let all = all.join(" or ");
                return Err(line.fail(&format!("more than one {all} element in router '{router}'")));
            }
        };
        let class = &graph.elements[found].class;
        if !classes.contains(&class.as_str()) {
            line.say(&format!("warning: router '{router}' element '{name}' has unexpected class"));
            line.say(&format!("  expected {}, got {class}", classes.join(" or ")));
        }
        Ok((index, found))
    }

    /// The names of all routers, a line each, those inside others with their names before.
    fn list(&self) -> String {
        let lines = |(component, inner): (&Component, &Vec<String>)| {
            let name = &component.name;
            let deeper: String = inner.iter().map(|inner| format!("{name}/{inner}\n")).collect();
            format!("{name}\n{deeper}")
        };
        self.components.iter().zip(&self.inner).map(lines).collect()
    }
}

/// The names of the routers in an archive, if it has some.
pub(super) fn components(archive: &[Member]) -> Option<Vec<String>> {
    let list = archive.iter().find(|member| member.name() == COMPONENTS.as_bytes())?;
    Some(String::from_utf8_lossy(&list.data).split_whitespace().map(str::to_owned).collect())
}
