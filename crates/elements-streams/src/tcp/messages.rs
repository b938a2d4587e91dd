//! Where the messages of HTTP are in a stream: what HTTPIn tells the elements behind it.

use super::waiting::before;
use std::collections::VecDeque;

/// Changes of kind that are known of a stream, of what has not left, at most.
const MOST: usize = 4096;
/// Requests whose answers have not come, at most.
const REQUESTS: usize = 256;

/// What a part of a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of a head that goes on.
    Head,
    /// The end of a head, with content behind it; whether the receiver takes that in chunks.
    HeadEnd { takes_chunks: bool },
    /// The end of a message without content.
    Bare,
    /// Content; without an HTTPIn everything is.
    #[default]
    Content,
    /// The end of content.
    Last,
    /// What tells chunks of content apart.
    Framing,
    /// What is behind the last chunk.
    Trailer,
}

impl Kind {
    /// Whether elements look at it for what they seek.
    pub(super) fn is_content(self) -> bool {
        matches!(self, Kind::Content | Kind::Last)
    }

    /// Whether content that is before it ends there.
    pub(super) fn is_apart(self) -> bool {
        !matches!(self, Kind::Content | Kind::Last | Kind::Framing)
    }
}

/// The methods of requests, as far as the form of answers depends on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Method {
    /// Only heads come.
    Head,
    /// Something else than HTTP follows.
    Connect,
    #[default]
    Other,
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) method: Method,
    /// Whether in HTTP/1.1, or later.
    pub(super) is_modern: bool,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { method: Method::Other, is_modern: true }
    }
}

/// The kinds of what is in a stream, by where they begin.
#[derive(Default)]
pub(super) struct Marks(VecDeque<(u32, Kind)>);

impl Marks {
    /// Notes that what begins at a number is of a kind. No caller asks any more for what is before `left`. False if there is no room.
    pub(super) fn set(&mut self, start: u32, kind: Kind, left: u32) -> bool {
        while self.0.get(1).is_some_and(|&(next, _)| !before(left, next)) {
            self.0.pop_front();
        }
        if self.0.len() >= MOST {
            return false;
        }
        if self.0.back().is_none_or(|&(_, last)| last != kind) {
            self.0.push_back((start, kind));
        }
        true
    }

    /// The kind of what begins at a number.
    #[inline]
    pub(super) fn of(&self, start: u32) -> Kind {
        let behind = self.0.partition_point(|&(first, _)| !before(start, first));
        behind.checked_sub(1).and_then(|at| self.0.get(at)).map_or(Kind::default(), |&(_, kind)| kind)
    }
}

/// Requests whose answers have not come.
#[derive(Default)]
pub(super) struct Requests {
    open: VecDeque<Asked>,
    /// Whether an element reads the answers.
    has_answers: bool,
    is_switched: bool,
}

impl Requests {
    /// Notes one. False if there is no room.
    pub(super) fn add(&mut self, asked: Asked) -> bool {
        if self.open.len() >= REQUESTS {
            if self.has_answers {
                return false;
            }
            self.open.pop_front();
        }
        self.open.push_back(asked);
        true
    }

    /// What the next answer is to, as far as that is known.
    pub(super) fn next(&mut self) -> Asked {
        self.has_answers = true;
        self.open.pop_front().unwrap_or_default()
    }

    /// Something else than HTTP follows.
    pub(super) fn switch(&mut self) {
        self.is_switched = true;
    }

    /// Whether something else than HTTP follows.
    pub(super) fn is_switched(&self) -> bool {
        self.is_switched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD_END: Kind = Kind::HeadEnd { takes_chunks: true };

    #[test]
    fn kinds_by_number() {
        let (mut marks, first) = (Marks::default(), u32::MAX - 5);
        assert_eq!(marks.of(7), Kind::Content);
        for (offset, kind) in [(0, HEAD_END), (10, Kind::Content), (12, Kind::Content), (15, Kind::Last)] {
            assert!(marks.set(first.wrapping_add(offset), kind, first));
        }
        let kinds = |marks: &Marks| [0, 9, 10, 14, 15, 90].map(|offset| marks.of(first.wrapping_add(offset)));
        use Kind::{Content, Last};
        assert_eq!(kinds(&marks), [HEAD_END, HEAD_END, Content, Content, Last, Last]);
        assert_eq!(marks.0.len(), 3);
        assert!(marks.set(first.wrapping_add(20), Kind::Head, first.wrapping_add(15)));
        assert_eq!(marks.0.len(), 2, "what has left is forgotten");
        let fill = (0..MOST as u32)
            .map(|at| marks.set(at * 2, if at % 2 == 0 { Kind::Head } else { Kind::Bare }, first));
        assert_eq!(fill.filter(|fits| !fits).count(), 1);
    }
}
