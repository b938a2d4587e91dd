//! The pieces of program text that editors and pages give colours.

use super::pretty::{Role, pieces};
use crate::token::Kind::{Define, Elementclass, Provide, Require};
use std::ops::Range;

/// What a piece of program text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Highlight {
    /// A comment, or a directive that names a file and a line.
    Comment,
    /// A word of the language.
    Keyword,
    /// A configuration string, without its parentheses.
    Config,
}

/// The comments, keywords and configuration strings of a text, in their order, each with its bytes in the text.
pub fn highlights(source: &str) -> Vec<(Range<usize>, Highlight)> {
    let mut found = Vec::new();
    let mut end = 0;
    for piece in pieces(source) {
        // Between pieces there are only blanks.
        let start = end + source[end..].find(piece.text).unwrap_or(0);
        end = start + piece.text.len();
        match piece.role {
            Role::LineComment | Role::BlockComment | Role::Directive => {
                found.push((start..end, Highlight::Comment));
            }
            Role::Token(Elementclass | Require | Provide | Define) => {
                found.push((start..end, Highlight::Keyword));
            }
            Role::Config => {
                // At the end of a text that breaks off, the closing parenthesis is missing.
                let close = usize::from(piece.text.ends_with(')'));
                found.push((start + 1..end - close, Highlight::Config));
            }
            Role::Token(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_keywords_and_configuration_strings() {
        let source = "# 1 \"f\"\nrequire(x) /* a */ elementclass X { $c | -> Y($c, ()) -> } // b\nX(1";
        let text = |(range, what): (Range<usize>, Highlight)| (&source[range], what);
        let found: Vec<(&str, Highlight)> = highlights(source).into_iter().map(text).collect();
        assert_eq!(
            found,
            [
                ("# 1 \"f\"", Highlight::Comment),
                ("require", Highlight::Keyword),
                ("x", Highlight::Config),
                ("/* a */", Highlight::Comment),
                ("elementclass", Highlight::Keyword),
                ("$c, ()", Highlight::Config),
                ("// b", Highlight::Comment),
                ("1", Highlight::Config),
            ]
        );
    }
}
