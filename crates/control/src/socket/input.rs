//! Reading lines that end with CR, LF or CRLF, and data between them, within bounds.

use crate::limits::{DATA_MAX, LINE_MAX};
use std::io::{self, BufRead, BufReader, Read};

/// What a client sends.
pub(super) struct Input<R> {
    source: R,
    /// The last line ended with a CR; an LF that follows belongs to it.
    after_cr: bool,
    /// Bytes of data between lines, at most.
    data_max: usize,
}

/// That a client sends more than it may.
fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "line too long")
}

impl<R: Read> Input<BufReader<R>> {
    /// Whether something that was received has not been looked at.
    pub(super) fn holds_more(&self) -> bool {
        match self.source.buffer() {
            [] => false,
            [b'\n'] => !self.after_cr,
            _ => true,
        }
    }
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(source: R) -> Input<R> {
        Input { source, after_cr: false, data_max: DATA_MAX }
    }

    /// The next line without its end; `None` at the end of input. A last line may lack its end.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let ended = self.until_end(&mut line, LINE_MAX)?;
        Ok((ended.is_some() || !line.is_empty()).then(|| lang::bytes::to_text(line)))
    }

    /// Reads up to the end of a line, which is taken, too, and returned as far as it is there; `None` if the input ends first.
    fn until_end(&mut self, line: &mut Vec<u8>, max: usize) -> io::Result<Option<&'static str>> {
        self.skip_lf()?;
        loop {
            let bytes = self.source.fill_buf()?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let taken = end.unwrap_or(bytes.len());
            if line.len() + taken > max {
                return Err(too_long());
            }
            line.extend_from_slice(&bytes[..taken]);
            if let Some(end) = end {
                // An LF that is already there is taken now, lest it be mistaken for data.
                let found = match (bytes[end], bytes.get(end + 1)) {
                    (b'\r', Some(b'\n')) => "\r\n",
                    (b'\r', _) => "\r",
                    _ => "\n",
                };
                self.after_cr = found == "\r" && bytes.len() == end + 1;
                self.source.consume(end + found.len());
                return Ok(Some(found));
            }
            self.source.consume(taken);
        }
    }

    /// Passes over an LF that belongs to the line before; whether there was one.
    fn skip_lf(&mut self) -> io::Result<bool> {
        let found = self.after_cr && self.source.fill_buf()?.first() == Some(&b'\n');
        self.source.consume(usize::from(found));
        self.after_cr = false;
        Ok(found)
    }

    /// The next `length` bytes; `None` if the input ends first.
    pub(super) fn data(&mut self, length: usize) -> io::Result<Option<String>> {
        if length > 0 {
            self.skip_lf()?;
        }
        let mut data = Vec::new();
        (&mut self.source).take(length as u64).read_to_end(&mut data)?;
        Ok((data.len() == length).then(|| lang::bytes::to_text(data)))
    }

    /// All lines before one that reads `end`, blanks behind it aside, with their ends as they came; `None` if there is none. Where
    /// they are of no use, they are passed over, and not kept.
    pub(super) fn until(&mut self, end: &str, keep: bool) -> io::Result<Option<String>> {
        let mut data = Vec::new();
        let mut passed = 0;
        loop {
            let mut line = Vec::new();
            let max = self.data_max.saturating_sub(passed);
            let Some(line_end) = self.until_end(&mut line, max)? else { return Ok(None) };
            if line.trim_ascii_end() == &*lang::bytes::of_text(end) {
                return Ok(Some(lang::bytes::to_text(data)));
            }
            line.extend_from_slice(line_end.as_bytes());
            if self.skip_lf()? {
                line.push(b'\n');
            }
            // Ends of lines count: empty lines are data as well.
            passed += line.len();
            if passed > self.data_max {
                return Err(too_long());
            }
            if keep {
                data.extend_from_slice(&line);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the same for ever, or for as long as any reader may read.
    struct Endless(&'static [u8], usize);

    impl Read for Endless {
        fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
            assert!(self.1 < 1 << 20, "more is read than may be sent");
            space.iter_mut().zip(self.0.iter().cycle()).for_each(|(place, byte)| *place = *byte);
            self.1 += space.len();
            Ok(space.len())
        }
    }

    /// Empty lines have an end each, which takes memory as other bytes do.
    #[test]
    fn empty_lines_are_bounded() {
        for (ends, keep) in [("\n", true), ("\r", true), ("\r\n", false)] {
            let mut input = Input::new(BufReader::with_capacity(1 << 16, Endless(ends.as_bytes(), 0)));
            input.data_max = 100_000;
            assert!(input.until("END", keep).is_err_and(|error| error.to_string() == "line too long"));
        }
    }

    /// Data are as they were sent, however they arrive, and what follows them is a line.
    #[test]
    fn ends_of_lines() {
        for capacity in [1, 2, 3, 100] {
            let sent: &[u8] = b"a\r\nb\rc\n\r\nEND \r\nread x\r\n";
            let mut input = Input::new(BufReader::with_capacity(capacity, sent));
            assert_eq!(input.until("END", true).unwrap().as_deref(), Some("a\r\nb\rc\n\r\n"), "{capacity}");
            assert_eq!(input.line().unwrap().as_deref(), Some("read x"), "{capacity}");
        }
    }
}
