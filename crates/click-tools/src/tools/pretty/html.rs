//! Program text as HTML.

use super::super::markup::escape;
use lang::print::{Highlight, highlights};
use lang::{ElementRef, Kind, Mention, Nested, NestedElement};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The names of the anchors in a text as HTML, which number compound classes.
pub(super) struct Anchors(HashMap<usize, usize>);

impl Anchors {
    /// The anchors of a text.
    pub(super) fn new(nested: &Nested) -> Anchors {
        let mut numbers = HashMap::new();
        for mark in &nested.marks {
            let class = match &mark.mention {
                Mention::ClassDeclaration(Kind::Compound(class)) => *class,
                Mention::ElementDeclaration(ElementRef { class: Some(class), .. }, _) => *class,
                _ => continue,
            };
            let next = numbers.len();
            numbers.entry(class).or_insert(next);
        }
        Anchors(numbers)
    }

    /// The anchor of a compound class's declaration.
    pub(super) fn class(&self, class: usize) -> String {
        format!("decl{}", self.0.get(&class).copied().unwrap_or(0))
    }

    /// The anchor of the declaration of an element that stands outside of compound classes.
    pub(super) fn element(name: &str) -> String {
        format!("e-{name}")
    }

    fn inner_element(&self, class: usize, name: &str) -> String {
        format!("e{}-{name}", self.0.get(&class).copied().unwrap_or(0))
    }
}

/// Program text as HTML, as Click's `click-pretty` makes it: in elements `span` of class `c-cmt` comments, `c-kw` keywords,
/// `c-cfg` configuration strings, `c-ed` declarations of elements, `c-cd` of compound classes and `c-err` errors, which their
/// title explains. Declarations have [anchors](Anchors), names of elements their declaration as title; names of compound
/// classes lead to their declarations, and those of others to where `link` says. `nested` is what the text says.
pub(super) fn html(source: &str, nested: &Nested, link: &dyn Fn(&str) -> Option<String>) -> String {
    let mut items = Items { nested, link, anchors: Anchors::new(nested), all: Vec::new() };
    items.add_pieces(source);
    items.add_marks(source.len());
    items.add_errors(source);
    let mut all = items.all;
    all.retain(|item| item.start < item.end && item.end <= source.len());
    // What begins at the same place, and is longer, is around the other.
    all.sort_by_key(|item| (item.start, Reverse(item.end)));
    merge_anchors(&mut all);
    write(source, &all)
}

/// A range of the text, and what stands at its ends.
struct Item {
    start: usize,
    end: usize,
    open: String,
    close: &'static str,
}

/// Collects items.
struct Items<'a> {
    nested: &'a Nested,
    link: &'a dyn Fn(&str) -> Option<String>,
    anchors: Anchors,
    all: Vec<Item>,
}

impl Items<'_> {
    fn add(&mut self, start: usize, end: usize, open: String, close: &'static str) {
        self.all.push(Item { start, end, open, close });
    }

    fn add_span(&mut self, start: usize, end: usize, class: &str) {
        self.add(start, end, format!("<span class='{class}'>"), "</span>");
    }

    /// Comments, keywords and configuration strings.
    fn add_pieces(&mut self, source: &str) {
        for (piece, what) in highlights(source) {
            let class = match what {
                Highlight::Comment => "c-cmt",
                Highlight::Keyword => "c-kw",
                Highlight::Config => "c-cfg",
            };
            self.add_span(piece.start, piece.end, class);
        }
    }

    /// Declarations and mentions of classes and elements.
    fn add_marks(&mut self, len: usize) {
        let nested = self.nested;
        let mut declared = HashSet::new();
        for mark in nested.marks.iter().filter(|mark| mark.span.source == 0) {
            let (start, end) = (mark.span.start as usize, mark.span.end as usize);
            match &mark.mention {
                Mention::ClassDeclaration(kind) => {
                    let name = nested.class_name(kind);
                    // A further name of the class is no anchor.
                    if let Kind::Compound(class) = kind
                        && declared.insert(*class)
                    {
                        let anchor = self.anchors.class(*class);
                        self.add(start, end, format!("<a name='{anchor}'>"), "</a>");
                    }
                    if !name.is_empty() {
                        self.add_span(start, end, "c-cd");
                    }
                }
                Mention::Class(kind) => {
                    let to = match kind {
                        Kind::Compound(class) => Some(format!("#{}", self.anchors.class(*class))),
                        Kind::Primitive(name) => (self.link)(name),
                        Kind::Pseudo => None,
                    };
                    if let Some(to) = to {
                        self.add(start, end, format!("<a href='{}'>", escape(&to)), "</a>");
                    }
                }
                Mention::ElementDeclaration(place, last) => {
                    let name = escape(&self.element(*place).name);
                    let anchor = match place.class {
                        Some(class) => self.anchors.inner_element(class, &name),
                        None => Anchors::element(&name),
                    };
                    self.add(start, end, format!("<a name='{anchor}'>"), "</a>");
                    // Its parenthesis may be missing.
                    let last = (*last as usize).min(len);
                    self.add_span(start, last, "c-ed");
                    self.add_title(start, last, *place);
                }
                Mention::Element(place) => self.add_title(start, end, *place),
            }
        }
    }

    fn element(&self, place: ElementRef) -> &NestedElement {
        let body = match place.class {
            Some(class) => &self.nested.classes[class].body,
            None => &self.nested.body,
        };
        &body.elements[place.element]
    }

    /// The declaration of an element as title.
    fn add_title(&mut self, start: usize, end: usize, place: ElementRef) {
        let element = self.element(place);
        let class = self.nested.class_name(&element.kind);
        let title = escape(&format!("{} :: {class}", element.name));
        self.add(start, end, format!("<span title='{title}'>"), "</span>");
    }

    fn add_errors(&mut self, source: &str) {
        for error in self.nested.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()) {
            let Some(span) = error.span.filter(|span| span.source == 0) else { continue };
            let (mut start, mut end) = (span.start as usize, span.end as usize);
            if start == end {
                // What is missing at the end is marked where the text ends.
                end = source[..start].trim_end().len();
                start = source[..end].char_indices().next_back().map_or(0, |(at, _)| at);
            }
            let title = escape(&error.message);
            self.add(start, end, format!("<span class='c-err' title='{title}'>"), "</span>");
        }
    }
}

/// Makes one of a link and an anchor of the same range, since they cannot stand inside of each other.
fn merge_anchors(items: &mut Vec<Item>) {
    items.dedup_by(|next, item| {
        let same = (next.start, next.end) == (item.start, item.end);
        let attributes = next.open.strip_prefix("<a ").filter(|_| same && item.open.starts_with("<a href"));
        match attributes {
            Some(attributes) => {
                item.open.truncate(item.open.len() - 1);
                item.open.push(' ');
                item.open.push_str(attributes);
                true
            }
            None => same && next.open == item.open,
        }
    });
}

/// The text with its items, which begin anew on each line.
fn write(source: &str, items: &[Item]) -> String {
    let mut out = String::from("<pre>");
    let mut items = items.iter().peekable();
    let mut open: Vec<&Item> = Vec::new();
    for (at, c) in source.char_indices() {
        close(&mut out, &mut open, |item| item.end <= at);
        while let Some(item) = items.next_if(|item| item.start <= at) {
            out.push_str(&item.open);
            open.push(item);
        }
        let breaks = c == '\n' || c == '\r' && !source[at + 1..].starts_with('\n');
        match c {
            _ if breaks => {
                open.iter().rev().for_each(|item| out.push_str(item.close));
                out.push(c);
                open.retain(|item| item.end > at + 1);
                open.iter().for_each(|item| out.push_str(&item.open));
            }
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    close(&mut out, &mut open, |_| true);
    out + "</pre>\n"
}

/// Closes items; those that were opened behind one and go on beyond it are closed and opened again.
fn close(out: &mut String, open: &mut Vec<&Item>, ends: impl Fn(&Item) -> bool) {
    let Some(first) = open.iter().position(|item| ends(item)) else { return };
    open[first..].iter().rev().for_each(|item| out.push_str(item.close));
    let rest: Vec<&Item> = open.drain(first..).filter(|item| !ends(item)).collect();
    rest.iter().for_each(|item| out.push_str(&item.open));
    open.extend(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::soup;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        /// Without its marks, the text is what it was.
        #[test]
        fn html_keeps_the_text(text in soup()) {
            let nested = lang::nested(&text, "f", &lang::Options::default());
            let html = html(&text, &nested, &|_| None);
            let mut plain = String::new();
            for (i, piece) in html.split('<').enumerate() {
                plain.push_str(if i == 0 { piece } else { piece.split_once('>').unwrap().1 });
            }
            let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
            let plain = entities.iter().fold(plain, |plain, (entity, c)| plain.replace(entity, c));
            prop_assert_eq!(plain.strip_suffix('\n'), Some(text.as_str()));
        }
    }
}
