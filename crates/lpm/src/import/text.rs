//! Text, line by line: Clique's own routes ([`plain`](super::plain)) and what `ip route` prints ([`kernel`](super::kernel)).

#[cfg(test)]
mod tests;

use std::str::SplitAsciiWhitespace;

use super::error::ImportError;
use super::fault::{Fault, LineError};
use super::kernel::{Destination, Kernel, Kind, MAIN_TABLE, Part, Route, is_attribute};
use super::list::{AnyPrefix, Hop, List, NextHops};
use super::plain::Plain;
use super::prefixes::{bare_v4, bare_v6};

/// Longest line that is accepted, in bytes: `ip -o route` writes hundreds of next hops into one.
const MAX_LINE: usize = 1 << 16;

/// Reads routes from text; of those of the kernel, the ones of its main table.
///
/// # Errors
/// [`ImportError::Unreadable`] if nothing can be read.
pub fn parse(text: &[u8]) -> Result<List, ImportError> {
    parse_table(text, MAIN_TABLE).checked()
}

/// Reads routes from text; of those of the kernel, the ones of a table.
pub(super) fn parse_table(text: &[u8], table: &str) -> List {
    let mut reader = Reader {
        list: List::default(),
        kernel: Kernel::new(table),
        plain: Plain::default(),
        line: 0,
        bare: false,
        open: None,
    };
    for line in text.split(|&byte| byte == b'\n') {
        reader.line += 1;
        if let Err(error) = reader.read(line) {
            reader.list.faults.add(Fault::Line { line: reader.line, error });
        }
    }
    reader.close();
    reader.list
}

/// Reads line after line.
struct Reader<'a> {
    list: List,
    kernel: Kernel<'a>,
    plain: Plain,
    /// The number of the line.
    line: u64,
    /// Whether the latest route is a prefix and nothing else.
    bare: bool,
    /// The route of `ip route` that may go on in the next line.
    open: Option<Open>,
}

/// A route that may go on in the next line.
enum Open {
    /// One that began in this line.
    Route(u64, Route),
    /// One that cannot be used, as was said.
    Refused,
}

impl Reader<'_> {
    /// Reads one line without its line end.
    fn read(&mut self, line: &[u8]) -> Result<(), LineError> {
        let nowhere_else = NextHops::Hop(Hop::default());
        if let Some(prefix) = bare_v4(line) {
            self.close();
            (self.kernel.v6, self.bare) = (false, true);
            self.list.v4.push((prefix, nowhere_else));
            return Ok(());
        }
        if let Some(prefix) = bare_v6(line) {
            self.close();
            (self.kernel.v6, self.bare) = (true, true);
            self.list.v6.push((prefix, nowhere_else));
            return Ok(());
        }
        let goes_on = line.first().is_some_and(u8::is_ascii_whitespace);
        match std::str::from_utf8(line) {
            Ok(text) if text.len() <= MAX_LINE => self.text(text),
            // Perhaps one of several next hops: without it, the route would be another.
            _ => {
                if !goes_on {
                    self.close();
                }
                (self.open, self.bare) = (Some(Open::Refused), false);
                Err(LineError::NoText)
            }
        }
    }

    fn text(&mut self, line: &str) -> Result<(), LineError> {
        let words = without_comment(line).split_ascii_whitespace();
        let mut rest = words.clone();
        match rest.next() {
            None => Ok(()),
            Some("nexthop") => self.go_on(Part::Hop, rest),
            Some("nh_info") => self.go_on(Part::Object, rest),
            // What the kernel remembers of packets that were forwarded.
            Some("cache") if line.starts_with(' ') => Ok(()),
            Some(first) => {
                self.close();
                (self.open, self.bare) = (Some(Open::Refused), false);
                self.open = self.route(first, rest)?.map(|route| Open::Route(self.line, route));
                Ok(())
            }
        }
    }

    /// Reads a line that begins a route; returns one that may go on.
    fn route(&mut self, first: &str, rest: SplitAsciiWhitespace<'_>) -> Result<Option<Route>, LineError> {
        let mut behind = rest.clone();
        let second = behind.next();
        if let Some(kind) = Kind::of(first) {
            return self.kernel_route(kind, second.unwrap_or_default(), behind).map(Some);
        }
        // Clique's own next hops begin with a gateway or none, the kernel's with a word.
        let own = second == Some("nexthop") && behind.next().is_some_and(|third| !is_attribute(third));
        match first {
            "Deleted" => Err(LineError::Deleted),
            "default" => self.kernel_route(Kind::Forward, first, rest).map(Some),
            _ if second.is_some_and(is_attribute) && !own => {
                self.kernel_route(Kind::Forward, first, rest).map(Some)
            }
            _ => {
                let bare = second.is_none();
                let prefix = self.plain.read(&mut self.list, first, rest)?;
                (self.kernel.v6, self.bare) = (matches!(prefix, AnyPrefix::V6(_)), bare);
                Ok(None)
            }
        }
    }

    fn kernel_route(
        &mut self,
        kind: Kind,
        destination: &str,
        words: SplitAsciiWhitespace<'_>,
    ) -> Result<Route, LineError> {
        let mut route = Route::new(kind, Destination::parse(destination)?);
        self.kernel.read(&mut self.list, &mut route, Part::Route, words)?;
        Ok(route)
    }

    /// Reads a line that belongs to the route before.
    fn go_on(&mut self, part: Part, words: SplitAsciiWhitespace<'_>) -> Result<(), LineError> {
        if self.open.is_none() && std::mem::take(&mut self.bare) {
            self.open = self.reopen();
        }
        match &mut self.open {
            None => Err(LineError::NoRoute),
            Some(Open::Refused) => Ok(()),
            Some(Open::Route(_, route)) => {
                let read = self.kernel.read(&mut self.list, route, part, words);
                if read.is_err() {
                    self.open = Some(Open::Refused);
                }
                read
            }
        }
    }

    /// Takes the latest route back, which was a prefix and nothing else: `ip route` has nothing to say of a route, sometimes, but its
    /// next hops.
    #[cold]
    fn reopen(&mut self) -> Option<Open> {
        let prefix = match self.kernel.v6 {
            true => self.list.v6.pop().map(|(prefix, _)| AnyPrefix::V6(prefix)),
            false => self.list.v4.pop().map(|(prefix, _)| AnyPrefix::V4(prefix)),
        };
        Some(Open::Route(self.line - 1, Route::new(Kind::Forward, Destination::Prefix(prefix?))))
    }

    /// Enters the route that does not go on.
    #[inline]
    fn close(&mut self) {
        if self.open.is_some() {
            self.close_open();
        }
    }

    fn close_open(&mut self) {
        let Some(Open::Route(line, route)) = self.open.take() else { return };
        if let Err(error) = self.kernel.enter(&mut self.list, route) {
            self.list.faults.add(Fault::Line { line, error });
        }
    }
}

/// A line up to its comment. A `#` in the name of an interface begins none.
fn without_comment(line: &str) -> &str {
    if !line.as_bytes().contains(&b'#') {
        return line;
    }
    let mut before = "";
    for word in line.split_ascii_whitespace() {
        if let Some(at) = word.find('#').filter(|_| before != "dev") {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            return &line[..start + at];
        }
        before = word;
    }
    line
}
