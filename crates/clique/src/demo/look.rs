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
}

/// Codes of terminals.
pub(super) const BOLD: &str = "1";
pub(super) const GREEN: &str = "1;32";
pub(super) const RED: &str = "1;31";
