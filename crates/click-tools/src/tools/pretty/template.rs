//! A page made of a template, with the tags of Click's `click-pretty`.

use super::super::markup::escape;
use super::super::nest::Nest;
use super::html::{Anchors, html};
use super::tag::{Attributes, Tag, cut, unescape};
use lang::{Kind, NestedElement, Port};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// Templates inside of others, at most; one that contains itself would never end.
const DEPTH_MAX: usize = 50;

/// What templates are about.
pub(super) struct Page<'a> {
    pub(super) nest: &'a Nest,
    /// The text of the configuration.
    pub(super) text: &'a str,
    pub(super) anchors: Anchors,
    /// Where classes are documented, with `%s` for the class's name.
    pub(super) documentation: String,
    /// Tags that the command line defines.
    pub(super) definitions: HashMap<String, String>,
    /// Of a class: processing code and flow code, if it is known.
    pub(super) codes: &'a dyn Fn(&str) -> Option<(&'static str, &'static str)>,
}

impl Page<'_> {
    /// The page that a template gives.
    pub(super) fn fill(&self, template: &str) -> String {
        let mut out = String::new();
        self.fill_into(template, &mut out, 0);
        out
    }

    fn fill_into(&self, template: &str, out: &mut String, depth: usize) {
        let mut rest = template;
        loop {
            let (text, found) = cut(rest);
            out.push_str(text);
            let Some((tag, behind)) = found else { return };
            match tag.name.as_str() {
                "config" => out.push_str(&self.config()),
                "elements" => Elements::new(self, &tag.attributes).run(out),
                name => {
                    if let Some(text) = self.definitions.get(name).filter(|_| depth < DEPTH_MAX) {
                        self.fill_into(text, out, depth + 1);
                    }
                }
            }
            rest = behind;
        }
    }

    /// The text of the configuration as HTML.
    fn config(&self) -> String {
        html(self.text, &self.nest.nested, &|class| self.documented(class))
    }

    /// What a template gives for an element.
    pub(super) fn label(&self, template: &str, element: usize) -> String {
        let attributes = Attributes::new();
        let mut elements = Elements::new(self, &attributes);
        elements.fill(template, Subject { element, is_class: false, port: None });
        elements.out
    }

    /// Where a class that the text does not define is documented.
    fn documented(&self, class: &str) -> Option<String> {
        (!self.documentation.is_empty()).then(|| self.documentation.replace("%s", class))
    }

    fn elements(&self) -> &[NestedElement] {
        &self.nest.nested.body.elements
    }

    /// Where a class is documented: in the text, if it is compound.
    fn class_link(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Compound(class) => Some(format!("#{}", self.anchors.class(*class))),
            Kind::Primitive(name) => self.documented(name),
            Kind::Pseudo => None,
        }
    }
}

/// Texts in the order of Click: numbers in them count as numbers, and large letters as small ones.
fn natural(a: &str, b: &str) -> Ordering {
    let number = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (mut x, mut y) = (a, b);
    while let (Some(c), Some(d)) = (x.chars().next(), y.chars().next()) {
        let (m, n) = (number(x), number(y));
        if m > 0 && n > 0 {
            let digits = |text: &str, len: usize| text[..len].trim_start_matches('0').to_owned();
            let (p, q) = (digits(x, m), digits(y, n));
            match p.len().cmp(&q.len()).then_with(|| p.cmp(&q)) {
                Ordering::Equal => (x, y) = (&x[m..], &y[n..]),
                other => return other,
            }
        } else {
            match c.to_ascii_lowercase().cmp(&d.to_ascii_lowercase()) {
                Ordering::Equal => (x, y) = (&x[c.len_utf8()..], &y[d.len_utf8()..]),
                other => return other,
            }
        }
    }
    x.len().cmp(&y.len()).then_with(|| a.cmp(b))
}

/// What a piece of a template is about.
#[derive(Clone, Copy)]
struct Subject {
    /// The element, or an element of the class.
    element: usize,
    is_class: bool,
    /// Side (0 inputs, 1 outputs) and number of a port.
    port: Option<(usize, u32)>,
}

/// What comes of a tag `elements`.
struct Elements<'a> {
    page: &'a Page<'a>,
    main: &'a Attributes,
    out: String,
    /// What stands before the next text.
    separator: String,
    depth: usize,
}

impl<'a> Elements<'a> {
    fn new(page: &'a Page<'a>, main: &'a Attributes) -> Elements<'a> {
        Elements { page, main, out: String::new(), separator: String::new(), depth: 0 }
    }

    fn main(&self, name: &str) -> &'a str {
        self.main.get(name).map_or("", String::as_str)
    }

    /// The attribute of a tag, or else of the tag `elements`.
    fn either(&self, tag: &Tag, name: &str, main: &str) -> String {
        let own = tag.get(name);
        if own.is_empty() { self.main(main).to_owned() } else { own.to_owned() }
    }

    /// The elements and, by an element of each, the classes that there are entries for.
    fn entries(&self) -> Vec<Subject> {
        let elements = self.page.elements();
        let subject = |element: usize, is_class: bool| Subject { element, is_class, port: None };
        let (mut entries, mut classes) = (Vec::new(), HashSet::new());
        for (i, element) in elements.iter().enumerate() {
            if !self.main("entry").is_empty() {
                entries.push(subject(i, false));
            }
            if !self.main("typeentry").is_empty() && classes.insert(&element.kind) {
                entries.push(subject(i, true));
            }
        }
        entries.sort_by(|a, b| natural(self.name(*a), self.name(*b)));
        entries
    }

    fn run(mut self, out: &mut String) {
        let entries = self.entries();
        let (which, count) = columns(self.main("column"));
        let rows = entries.len().saturating_sub(1) / count + 1;
        let last = if which == count { entries.len() } else { (which * rows).min(entries.len()) };
        for entry in entries.iter().take(last).skip((which - 1) * rows) {
            let template = self.main(if entry.is_class { "typeentry" } else { "entry" });
            self.fill(template, *entry);
            out.push_str(&std::mem::take(&mut self.out));
            self.separator = self.main("sep").to_owned();
        }
    }

    fn element(&self, subject: Subject) -> &'a NestedElement {
        &self.page.elements()[subject.element]
    }

    fn name(&self, subject: Subject) -> &'a str {
        let element = self.element(subject);
        if subject.is_class { self.page.nest.nested.class_name(&element.kind) } else { &element.name }
    }

    /// Puts text out, behind the separator.
    fn put(&mut self, text: &str) {
        self.out.push_str(&self.separator);
        self.out.push_str(text);
    }

    fn link(&mut self, to: Option<String>, text: &str) {
        let text = escape(text);
        match to {
            Some(to) => self.put(&format!("<a href='{}'>{text}</a>", escape(&to))),
            None => self.put(&text),
        }
    }

    /// Fills a template in.
    fn fill(&mut self, template: &str, subject: Subject) {
        if self.depth >= DEPTH_MAX {
            return;
        }
        self.depth += 1;
        let mut rest = template;
        loop {
            let (text, found) = cut(rest);
            if !text.is_empty() {
                self.put(text);
                self.separator.clear();
            }
            let Some((mut tag, behind)) = found else { break };
            tag.attributes.values_mut().for_each(|value| *value = unescape(value));
            let before = self.out.len();
            let separator = self.tag(&tag, subject);
            if self.out.len() != before {
                self.separator = separator;
            }
            rest = behind;
        }
        self.depth -= 1;
    }

    /// Puts out what a tag stands for. Gives what is to stand before what comes next.
    fn tag(&mut self, tag: &Tag, subject: Subject) -> String {
        let element = self.element(subject);
        let link = tag.get("link").to_ascii_lowercase();
        match (tag.name.as_str(), subject.is_class, subject.port) {
            ("name", is_class, _) => {
                let to = match link.as_str() {
                    "" => None,
                    kind if kind == "type" || is_class => self.page.class_link(&element.kind),
                    _ => Some(format!("#{}", Anchors::element(&element.name))),
                };
                self.link(to, self.name(subject));
            }
            ("anonymous", ..) => self.put(if element.anonymous { "yes" } else { "" }),
            ("type", ..) => {
                let to = if link.is_empty() { None } else { self.page.class_link(&element.kind) };
                self.link(to, self.page.nest.nested.class_name(&element.kind));
            }
            ("typerefs", ..) => self.class_references(tag, subject),
            ("processingcode" | "flowcode", ..) => {
                if let Some((processing, flow)) =
                    (self.page.codes)(self.page.nest.nested.class_name(&element.kind))
                {
                    self.put(if tag.name == "flowcode" { flow } else { processing });
                }
            }
            ("if", ..) => self.condition(tag, subject),
            ("config", false, _) => self.config(tag, element),
            ("configlink", false, _) => {
                let text = self.either(tag, "text", "configlink");
                if !text.is_empty() {
                    let anchor = escape(&Anchors::element(&element.name));
                    self.fill(&format!("<a href='#{anchor}'>{text}</a>"), subject);
                    return tag.get("sep").to_owned();
                }
            }
            (name @ ("ninputs" | "noutputs"), false, _) => {
                let (count, what) = match name {
                    "ninputs" => (element.ports[0], "input"),
                    _ => (element.ports[1], "output"),
                };
                let plural = if count == 1 { "" } else { "s" };
                let english = !tag.get("english").is_empty();
                self.put(&if english { format!("{count} {what}{plural}") } else { count.to_string() });
            }
            ("inputs", false, _) => self.side(tag, subject, 0),
            ("outputs", false, _) => self.side(tag, subject, 1),
            ("inputconnections", _, Some((0, port))) => self.connections(tag, subject, 0, port),
            ("outputconnections", _, Some((1, port))) => self.connections(tag, subject, 1, port),
            ("port", _, Some((_, port))) => self.put(&port.to_string()),
            ("processing", _, Some((side, port))) => {
                let body = &self.page.nest.nested.body;
                self.put(match self.page.nest.is_push(body, "", subject.element, side, port) {
                    Some(true) => "push",
                    Some(false) => "pull",
                    None => "agnostic",
                });
            }
            (name, ..) => {
                let text = self.main.get(name).or_else(|| self.page.definitions.get(name)).cloned();
                self.fill(&text.unwrap_or_default(), subject);
            }
        }
        String::new()
    }

    fn config(&mut self, tag: &Tag, element: &NestedElement) {
        let limit = tag.get("limit").parse().unwrap_or(0);
        let mut config = element.config.clone();
        if limit > 0 && config.chars().count() > limit {
            config = config.chars().take(limit).chain("...".chars()).collect();
        }
        if !config.is_empty() {
            let text = escape(&config);
            self.put(&if tag.get("parens").is_empty() { text } else { format!("({text})") });
        }
    }

    fn class_references(&mut self, tag: &Tag, subject: Subject) {
        let text = self.either(tag, "entry", "typeref");
        let elements = self.page.elements();
        let kind = &elements[subject.element].kind;
        let mut same: Vec<usize> = (0..elements.len()).filter(|&i| elements[i].kind == *kind).collect();
        same.sort_by(|&a, &b| natural(&elements[a].name, &elements[b].name));
        for element in same {
            self.fill(&text, Subject { element, is_class: false, port: None });
            self.separator = tag.get("sep").to_owned();
        }
    }

    /// A template for each port of a side, or one that says that there is none.
    fn side(&mut self, tag: &Tag, subject: Subject, side: usize) {
        let count = self.element(subject).ports[side];
        if count == 0 {
            let text = self.either(tag, "noentry", ["noinputentry", "nooutputentry"][side]);
            self.fill(&text, Subject { port: None, ..subject });
            return;
        }
        let text = self.either(tag, "entry", ["inputentry", "outputentry"][side]);
        for port in 0..count {
            self.fill(&text, Subject { port: Some((side, port)), ..subject });
            self.separator = tag.get("sep").to_owned();
        }
    }

    /// A template for the other end of each connection of a port, or one that says that there is none.
    fn connections(&mut self, tag: &Tag, subject: Subject, side: usize, port: u32) {
        let here = Port { element: subject.element, port };
        let connections = self.page.nest.nested.body.connections.iter();
        let ends = connections.map(|c| if side == 0 { (c.to, c.from) } else { (c.from, c.to) });
        let mut others: Vec<Port> = ends.filter(|(end, _)| *end == here).map(|(_, other)| other).collect();
        if others.is_empty() {
            let text = self.either(tag, "noentry", ["noinputconnection", "nooutputconnection"][side]);
            return self.fill(&text, subject);
        }
        let name = |port: &Port| &self.page.elements()[port.element].name;
        others.sort_by(|a, b| natural(name(a), name(b)).then(a.port.cmp(&b.port)));
        let text = self.either(tag, "entry", ["inputconnection", "outputconnection"][side]);
        for Port { element, port } in others {
            self.fill(&text, Subject { element, is_class: false, port: Some((1 - side, port)) });
            self.separator = tag.get("sep").to_owned();
        }
    }

    /// `if`: one of two templates.
    fn condition(&mut self, tag: &Tag, subject: Subject) {
        let test = self.expand(tag.get("test"), subject);
        let relation =
            ["eq", "ne", "gt", "lt", "ge", "le"].into_iter().find(|name| !tag.get(name).is_empty());
        let other = relation.map(|name| self.expand(tag.get(name), subject)).unwrap_or_default();
        let order = natural(&test, &other);
        let holds = match relation {
            Some("eq") => test == other,
            Some("ne") => test != other,
            Some("gt") => order.is_gt(),
            Some("lt") => order.is_lt(),
            Some("ge") => order.is_ge(),
            Some(_) => order.is_le(),
            None => !test.is_empty(),
        };
        self.fill(tag.get(if holds { "then" } else { "else" }), subject);
    }

    /// What a template gives, not to be put out.
    fn expand(&mut self, template: &str, subject: Subject) -> String {
        let separator = std::mem::take(&mut self.separator);
        let before = self.out.len();
        self.fill(template, subject);
        self.separator = separator;
        self.out.split_off(before)
    }
}

/// `WHICH/COUNT`: which of so many columns is meant.
fn columns(text: &str) -> (usize, usize) {
    let numbers = text.split_once('/').and_then(|(which, count)| {
        Some((which.trim().parse::<usize>().ok()?, count.trim().parse::<usize>().ok()?))
    });
    numbers.filter(|(which, count)| (1..=*count).contains(which)).unwrap_or((1, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_by_the_numbers_in_them() {
        let mut names = ["c@10", "C@9", "b", "c@09", "c", "10", "9", "a/b", "a"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["9", "10", "a", "a/b", "b", "c", "C@9", "c@09", "c@10"]);
    }

    #[test]
    fn columns_that_there_are() {
        for (text, expected) in
            [("2/3", (2, 3)), ("", (1, 1)), ("4/3", (1, 1)), ("0/1", (1, 1)), ("x/2", (1, 1))]
        {
            assert_eq!(columns(text), expected, "{text}");
        }
    }
}
