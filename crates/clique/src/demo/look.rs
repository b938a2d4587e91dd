//! How what the demonstration prints looks.

/// How what is printed looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Characters of a line.
    pub(super) width: usize,
    pub(super) color: bool,
}

impl Look {
    pub(super) fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A text in lines that fit, broken between words; what goes on is indented by two more. A word that is longer stays whole.
    pub(super) fn fold(self, text: &str) -> String {
        let words = text.trim_start_matches(' ');
        let indent = " ".repeat(text.len() - words.len());
        let (mut folded, mut used) = (indent.clone(), indent.len());
        for (number, word) in words.split(' ').enumerate() {
            let len = word.chars().count();
            if number > 0 && used + 1 + len <= self.width {
                folded += " ";
                used += 1;
            } else if number > 0 {
                folded = format!("{folded}\n{indent}  ");
                used = indent.len() + 2;
            }
            folded += word;
            used += len;
        }
        folded
    }
}

/// Codes of terminals.
pub(super) const BOLD: &str = "1";
pub(super) const GREEN: &str = "1;32";
pub(super) const RED: &str = "1;31";

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines are as long as fits, and nothing is lost; a word that does not fit has a line of its own.
    #[test]
    fn texts_fold_between_words() {
        let fold = |width, text| Look { width, color: false }.fold(text);
        assert_eq!(fold(11, "one two three"), "one two\n  three");
        assert_eq!(fold(13, "one two three"), "one two three");
        assert_eq!(fold(5, "one enormous two"), "one\n  enormous\n  two");
        assert_eq!(fold(9, "  one two three"), "  one two\n    three");
    }
}
