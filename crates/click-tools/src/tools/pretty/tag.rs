//! Tags of a template: `<~NAME ATTRIBUTE=VALUE...>`.

use std::collections::HashMap;

/// The attributes of a tag, by name in lower case.
pub(super) type Attributes = HashMap<String, String>;

/// A tag.
pub(super) struct Tag {
    /// In lower case.
    pub(super) name: String,
    pub(super) attributes: Attributes,
}

impl Tag {
    /// An attribute; empty if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// The text before the first tag, and if there is one, the tag and what comes behind it.
pub(super) fn cut(template: &str) -> (&str, Option<(Tag, &str)>) {
    match template.split_once("<~") {
        None => (template, None),
        Some((before, rest)) => (before, Some(tag(rest))),
    }
}

/// Reads a tag behind its `<~`.
fn tag(text: &str) -> (Tag, &str) {
    let text = text.trim_ascii_start();
    let (name, mut rest) = text.split_at(end(text, |c| c == '>' || c.is_ascii_whitespace()));
    let mut tag = Tag { name: name.to_ascii_lowercase(), attributes: Attributes::new() };
    loop {
        rest = rest.trim_ascii_start();
        for closing in [">", "-->"] {
            if let Some(behind) = rest.strip_prefix(closing) {
                return (tag, behind);
            }
        }
        if rest.is_empty() {
            return (tag, rest);
        }
        if let Some(behind) = rest.strip_prefix('/') {
            rest = behind;
            continue;
        }
        let (name, behind) = rest.split_at(end(rest, |c| "=>".contains(c) || c.is_ascii_whitespace()));
        let name = unescape(name).to_ascii_lowercase();
        // An attribute without a value has its name.
        let (value, behind) = match behind.trim_ascii_start().strip_prefix('=') {
            None => (name.clone(), behind),
            Some(behind) => {
                let (value, behind) = value(behind.trim_ascii_start());
                (value.to_owned(), behind)
            }
        };
        tag.attributes.insert(name, value);
        rest = behind;
    }
}

/// The value of an attribute, perhaps in quotes, and what comes behind it.
fn value(text: &str) -> (&str, &str) {
    match text.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let inner = &text[1..];
            inner.split_once(quote).unwrap_or((inner, ""))
        }
        _ => text.split_at(end(text, |c| c == '>' || c.is_ascii_whitespace())),
    }
}

/// Where the first such character is.
fn end(text: &str, ends: impl Fn(char) -> bool) -> usize {
    text.find(ends).unwrap_or(text.len())
}

/// The text with characters in the place of `&amp;`, `&quot;`, `&lt;`, `&gt;` and `&#NUMBER;`.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = [("&amp;", '&'), ("&quot;", '"'), ("&lt;", '<'), ("&gt;", '>')];
        if let Some((entity, c)) = known.iter().find(|(entity, _)| rest.starts_with(entity)) {
            out.push(*c);
            rest = &rest[entity.len()..];
        } else if let Some((c, behind)) = numbered(rest) {
            out.push(c);
            rest = behind;
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out + rest
}

/// The character that `&#NUMBER;` at the start of a text is, and what comes behind it.
fn numbered(text: &str) -> Option<(char, &str)> {
    let (number, behind) = text.strip_prefix("&#")?.split_once(';')?;
    Some((char::from_u32(number.parse().ok()?)?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_cut_out_with_its_attributes() {
        let (before, found) = cut("a<b <~ Name a=1 B='<~x>' c = \"&quot;&#65;&z\" link /--> behind");
        let (tag, behind) = found.unwrap();
        assert_eq!((before, tag.name.as_str(), behind), ("a<b ", "name", " behind"));
        let mut attributes: Vec<_> = tag.attributes.into_iter().collect();
        attributes.sort();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            attributes,
            [pair("a", "1"), pair("b", "<~x>"), pair("c", "&quot;&#65;&z"), pair("link", "link")]
        );
        assert_eq!(unescape("&quot;&#65;&z"), "\"A&z");
        assert!(cut("no < ~tag").1.is_none());
        assert_eq!(cut("<~open a='b").1.map(|(tag, behind)| (tag.name, behind)), Some(("open".into(), "")));
    }
}
