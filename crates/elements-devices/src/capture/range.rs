//! Which records of a capture are wanted, by their times.

use elements_shared::instant::parse_span;
use router::{ConfigError, FromArg, Scope};

/// A time or a time span in nanoseconds, read without rounding: `1000000000.000001`, `2min`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Nanos(pub(super) i64);

impl FromArg for Nanos {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        parse_span(text).map(Nanos).map_or_else(|| router::parse_error("time", text), Ok)
    }
}

/// One end of the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// This time.
    At(i64),
    /// So long after the first record of the capture.
    AfterFirst(i64),
    /// So long after the beginning of the range.
    Interval(i64),
}

/// The range of times. Relative ends become absolute with the first record.
#[derive(Clone, Debug, Default)]
pub(super) struct Range {
    start: Option<Bound>,
    end: Option<Bound>,
    /// Nanoseconds added to the end so far.
    extension_ns: i64,
    /// The end once it is known, without extensions.
    end_ns: Option<i64>,
    settled: bool,
}

/// What the range says about a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RangePosition {
    /// It comes before.
    Before,
    /// It is wanted.
    Inside,
    /// It comes after the end; said once.
    End,
}

/// Arguments about a range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RangeArgs {
    pub(super) start: Nanos,
    pub(super) start_after: Nanos,
    pub(super) end: Nanos,
    pub(super) end_after: Nanos,
    pub(super) interval: Nanos,
}

impl Range {
    /// The range that arguments describe; zero means that one was not given.
    ///
    /// # Errors
    /// Arguments that exclude each other.
    pub(super) fn new(args: RangeArgs) -> Result<Range, ConfigError> {
        type Arg = (Nanos, fn(i64) -> Bound);
        let given = |args: &[Arg]| -> Vec<Bound> {
            args.iter().filter(|(time, _)| time.0 != 0).map(|(time, bound)| bound(time.0)).collect()
        };
        let start = given(&[(args.start, Bound::At), (args.start_after, Bound::AfterFirst)]);
        let end = given(&[
            (args.end, Bound::At),
            (args.end_after, Bound::AfterFirst),
            (args.interval, Bound::Interval),
        ]);
        if start.len() > 1 {
            return Err("START and START_AFTER are mutually exclusive".into());
        }
        if end.len() > 1 {
            return Err("END, END_AFTER, and INTERVAL are mutually exclusive".into());
        }
        Ok(Range { start: start.first().copied(), end: end.first().copied(), ..Range::default() })
    }

    /// Whether the range has an end.
    pub(super) fn ends(&self) -> bool {
        self.end.is_some()
    }

    /// Where a record lies.
    pub(super) fn position(&mut self, time_ns: i64) -> RangePosition {
        if !self.settled {
            self.settle(time_ns);
        }
        if let Some(Bound::At(start)) = self.start {
            if time_ns < start {
                return RangePosition::Before;
            }
            self.start = None;
        }
        if let Some(Bound::At(end)) = self.end
            && time_ns >= end.saturating_add(self.extension_ns)
        {
            self.end = None;
            return RangePosition::End;
        }
        RangePosition::Inside
    }

    /// Makes relative ends absolute, given the time of the first record.
    fn settle(&mut self, first_ns: i64) {
        let start_ns = match self.start {
            Some(Bound::At(at)) => at,
            Some(Bound::AfterFirst(span) | Bound::Interval(span)) => first_ns.saturating_add(span),
            None => first_ns,
        };
        self.start = self.start.map(|_| Bound::At(start_ns));
        self.end = self.end.map(|end| match end {
            Bound::At(at) => Bound::At(at),
            Bound::AfterFirst(span) => Bound::At(first_ns.saturating_add(span)),
            Bound::Interval(span) => Bound::At(start_ns.saturating_add(span)),
        });
        if let Some(Bound::At(end)) = self.end {
            self.end_ns = Some(end);
        }
        self.settled = true;
    }

    /// Moves the end.
    pub(super) fn extend(&mut self, by: Nanos) {
        self.extension_ns = self.extension_ns.saturating_add(by.0);
        if let Some(end) = self.end_ns {
            self.end = Some(Bound::At(end));
        }
    }

    /// Takes the next record for the first.
    pub(super) fn reset(&mut self) {
        self.settled = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        assert_eq!(parse_span("1234567890.123456789"), Some(1_234_567_890_123_456_789));
        assert_eq!(parse_span("1.5min"), Some(90_000_000_000));
        assert_eq!(parse_span(".5"), Some(500_000_000));
        assert_eq!([parse_span("+2.5"), parse_span("1e1")], [Some(2_500_000_000), Some(10_000_000_000)]);
        for bad in ["", ".", "1.2.3", "-1", "x", "1 parsec", "99999999999999999999"] {
            assert_eq!(parse_span(bad), None, "{bad}");
        }
    }

    /// The end is said once; an extension makes it an end again.
    #[test]
    fn interval_and_extension() {
        let args = RangeArgs { start_after: Nanos(5), interval: Nanos(10), ..Default::default() };
        let mut range = Range::new(args).unwrap();
        let places: Vec<_> = [100, 104, 105, 114, 115, 116].map(|t| range.position(t)).to_vec();
        use RangePosition::{Before, End, Inside};
        assert_eq!(places, [Before, Before, Inside, Inside, End, Inside]);
        range.extend(Nanos(5));
        assert_eq!([119, 120, 121].map(|t| range.position(t)), [Inside, End, Inside]);
    }

    #[test]
    fn exclusive_arguments() {
        let args = RangeArgs { end: Nanos(5), interval: Nanos(10), ..Default::default() };
        assert!(Range::new(args).unwrap_err().to_string().contains("mutually exclusive"));
    }
}
