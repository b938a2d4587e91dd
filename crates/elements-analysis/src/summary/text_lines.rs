//! The lines of a text about packets.

use router::{Cx, Level};
use std::io::{BufRead, Read};

/// The longest line.
const LINE_MAX: u64 = 1 << 20;

/// A text that is being read.
pub(super) struct TextLines {
    /// Missing at the end.
    bytes: Option<Box<dyn BufRead + Send>>,
    name: String,
    /// Of the line that was read last, from 1 on.
    pub(super) number: u64,
    complained: bool,
    line: Vec<u8>,
}

impl TextLines {
    /// A text with a name, by which complaints call it.
    pub(super) fn new(name: &str) -> TextLines {
        TextLines { bytes: None, name: name.to_owned(), number: 0, complained: false, line: Vec::new() }
    }

    /// Begins to read.
    pub(super) fn open(&mut self, bytes: Box<dyn BufRead + Send>) {
        (self.bytes, self.number) = (Some(bytes), 0);
    }

    /// The next line without the blanks at its end; `None` at the end, or with a message where nothing more can be read.
    pub(super) fn next(&mut self, cx: &Cx<'_>) -> Option<String> {
        self.line.clear();
        self.number += 1;
        let read = self.bytes.as_mut()?.take(LINE_MAX).read_until(b'\n', &mut self.line);
        if let Err(error) = &read {
            cx.error(format_args!("{}:{}: {error}", self.name, self.number));
        }
        if !read.is_ok_and(|count| count > 0) {
            self.bytes = None;
            return None;
        }
        Some(String::from_utf8_lossy(&self.line).trim_end().to_owned())
    }

    /// Says something about the text as a whole.
    pub(super) fn warn(&self, cx: &Cx<'_>, warning: &str) {
        cx.say(Level::Warning, format_args!("{}: warning: {warning}", self.name));
    }

    /// Says of the first line for which it is so that it cannot be read.
    pub(super) fn complain(&mut self, cx: &Cx<'_>) {
        if !std::mem::replace(&mut self.complained, true) {
            cx.say(Level::Warning, format_args!("{}:{}: packet parse error", self.name, self.number));
        }
    }
}
