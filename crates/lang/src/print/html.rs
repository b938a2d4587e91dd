//! Program text as HTML.

use super::pretty::{Role, pieces};
use crate::nested::{Nested, NestedElement};
use crate::token::Kind;
use std::collections::HashMap;
use std::fmt::Write;

/// Text that stands for itself in HTML and XML, in attributes, too.
pub fn escape_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Program text as HTML, with classes and anchors like those of Click's `click-pretty`: comments (`c-cmt`), keywords
/// (`c-kw`), configuration strings (`c-cfg`), and declarations of elements (`c-ed`), each in an anchor `e-NAME` and with
/// its declaration as title, and of classes (`c-cd`, `decl-NAME`). `nested` is what the text says; elements that are
/// declared inside of compound elements have no anchor.
pub fn html(source: &str, nested: &Nested) -> String {
    let declared: HashMap<usize, &NestedElement> = (nested.body.elements.iter())
        .filter(|element| element.span.source == 0)
        .map(|element| (element.span.start as usize, element))
        .collect();
    let mut out = String::from("<pre>");
    let mut end = 0;
    let mut after_elementclass = false;
    for piece in pieces(source) {
        // Between pieces there are only blanks.
        let start = end + source[end..].find(piece.text).unwrap_or(0);
        out.push_str(&source[end..start]);
        end = start + piece.text.len();
        let text = escape_markup(piece.text);
        let names_class = piece.role == Role::Token(Kind::Ident) && after_elementclass;
        after_elementclass = piece.role == Role::Token(Kind::Elementclass);
        if names_class {
            let _ = write!(out, "<a name='decl-{text}'><span class='c-cd'>{text}</span></a>");
            continue;
        }
        let class = match piece.role {
            Role::LineComment | Role::BlockComment | Role::Directive => "c-cmt",
            Role::Token(Kind::Elementclass | Kind::Require | Kind::Provide | Kind::Define) => "c-kw",
            Role::Config => {
                // The parentheses do not belong to the string.
                let inner = text.strip_prefix('(').unwrap_or(&text);
                let (inner, close) = inner.strip_suffix(')').map_or((inner, ""), |inner| (inner, ")"));
                let _ = write!(out, "(<span class='c-cfg'>{inner}</span>{close}");
                continue;
            }
            Role::Token(_) => match declared.get(&start) {
                Some(element) => {
                    let (name, class) = (&element.name, nested.class_name(&element.kind));
                    let _ = write!(
                        out,
                        "<a name='e-{0}'><span class='c-ed' title='{0} :: {1}'>{text}</span></a>",
                        escape_markup(name),
                        escape_markup(class)
                    );
                    continue;
                }
                None => {
                    out.push_str(&text);
                    continue;
                }
            },
        };
        let _ = write!(out, "<span class='{class}'>{text}</span>");
    }
    out.push_str(&source[end..]);
    out.push_str("</pre>\n");
    out
}
