//! Classifies packets by their aggregates.
//!
//! ```click
//! AggregateFilter(PATTERN, ...)
//! ```
//!
//! Each PATTERN is an output and the aggregates that leave by it: `OUTPUT AGGREGATE ...`. OUTPUT is a number, `allow`
//! for 0, or `drop` or `deny`. An aggregate is a number, a range `FIRST-LAST`, or `all` (or `-`) for the rest. The
//! first matching pattern decides; packets that match none are dropped.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: replicated.
//!
//! # Example
//! ```click
//! f :: AggregateFilter(allow 1-10 15, 1 all); f[0] -> Queue; f[1] -> Discard
//! ```
//!
//! # See also
//! AggregateIP, AggregateIPFlows

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateFilter", create)
    .ports("1/-")
    .processing("h/h")
    .doc(router::manual!("aggregate_filter.rs"));

/// Aggregates and their output.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u32,
    last: u32,
    output: usize,
}

struct AggregateFilter {
    /// In ascending order, without overlaps.
    ranges: Vec<Range>,
    /// For all others.
    default: usize,
    outputs: usize,
    /// Aggregates of the last pattern that another range had, with its output.
    taken: Vec<(u32, usize)>,
}

/// Aggregates of a pattern that are reported one by one, at most.
const REPORTS: usize = 100;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut patterns = Vec::new();
    config.args().rest(&mut patterns).finish()?;
    let outputs = config.outputs();
    let mut e = AggregateFilter { ranges: Vec::new(), default: usize::MAX, outputs, taken: Vec::new() };
    let (mut errors, mut closed) = (Vec::new(), false);
    for (number, pattern) in patterns.iter().enumerate() {
        if closed {
            config.warn(format!("pattern {number} matches no packets"));
            continue;
        }
        if pattern.trim().is_empty() {
            errors.push(format!("empty pattern {number}"));
            continue;
        }
        match e.add_pattern(pattern) {
            Ok(all) => {
                closed = all;
                for (aggregate, output) in e.taken.drain(..) {
                    let output = output.min(outputs);
                    config.warn(format!(
                        "pattern {number}: aggregate {aggregate} already filtered to output {output}"
                    ));
                }
            }
            Err(bad) => errors.extend(bad.iter().map(|error| format!("pattern {number}{error}"))),
        }
    }
    if errors.is_empty() { Ok(Box::new(PerPacket(e))) } else { Err(ConfigError::from(errors)) }
}

/// An unsigned number.
fn number(text: &str) -> Option<u32> {
    router::parse_integer(text).and_then(|number| u32::try_from(number).ok())
}

impl AggregateFilter {
    /// Adds a pattern; true if it leaves nothing to others.
    fn add_pattern(&mut self, pattern: &str) -> Result<bool, Vec<String>> {
        let words: Vec<&str> = pattern.split_whitespace().collect();
        let wrong = |error: &str| vec![error.to_owned()];
        let (&to, aggregates) = words.split_first().ok_or_else(|| wrong(" is empty"))?;
        let output = match to {
            "allow" => 0,
            "drop" | "deny" => usize::MAX,
            port => number(port).ok_or_else(|| wrong(": expected a port number"))? as usize,
        };
        match aggregates {
            [] => return Err(wrong(" has no aggregates")),
            ["all" | "-"] => {
                self.default = output;
                return Ok(true);
            }
            _ => {}
        }
        let mut errors = Vec::new();
        for word in aggregates {
            let (first, last) = word.split_once('-').unwrap_or((word, word));
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                errors.push(format!(": bad aggregate number '{word}'"));
                continue;
            };
            self.add(Range { first, last, output });
        }
        if errors.is_empty() { Ok(false) } else { Err(errors) }
    }

    /// Adds the parts of a range that no other range has.
    fn add(&mut self, range: Range) {
        let mut parts = Vec::new();
        let mut first = Some(range.first);
        let within = |known: &&Range| known.last >= range.first && known.first <= range.last;
        for known in self.ranges.iter().filter(within) {
            let Some(from) = first else { break };
            if known.first > from {
                parts.push(Range { first: from, last: known.first - 1, ..range });
            }
            if known.output != range.output {
                let both = from.max(known.first)..=range.last.min(known.last);
                let left = REPORTS.saturating_sub(self.taken.len());
                self.taken.extend(both.take(left).map(|aggregate| (aggregate, known.output)));
            }
            first = known.last.checked_add(1);
        }
        if let Some(from) = first.filter(|from| *from <= range.last) {
            parts.push(Range { first: from, ..range });
        }
        self.ranges.extend(parts);
        self.ranges.sort_unstable_by_key(|range| range.first);
    }

    fn output(&self, aggregate: u32) -> usize {
        let at = self.ranges.partition_point(|range| range.last < aggregate);
        let range = self.ranges.get(at).filter(|range| range.first <= aggregate);
        range.map_or(self.default, |range| range.output)
    }
}

impl Simple for AggregateFilter {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.output(packet.anno(Anno::AGGREGATE) as u32) {
            output if output < self.outputs => Verdict::Output(output),
            _ => Verdict::Drop("aggregate filtered out"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AggregateFilter, Range};
    use crate::testing::errors;
    use crate::testing::{Sent, send};
    use packet::Anno;
    use proptest::prelude::*;

    #[test]
    fn patterns_choose_the_output() {
        let sent = [1u64, 5, 9, 12, 13, 99]
            .map(|a| Sent { annotations: vec![(Anno::AGGREGATE, a)], ..Sent::from(vec![a as u8]) });
        let config = "Inject -> f :: AggregateFilter(deny 5, drop 0xd, allow 1-12, 1 all); f[0] -> Collect(0); f[1] -> Collect(1)";
        let flow = send(config, sent);
        assert_eq!(flow.data(0), [[1], [9], [12]]);
        assert_eq!(flow.data(1), [[99]]);
        let text = errors("Idle -> AggregateFilter(x 1, 0, allow 1-x 3 y, ) -> Discard");
        for part in [
            "pattern 0: expected a port number",
            "pattern 1 has no aggregates",
            "pattern 2: bad aggregate number '1-x'",
            "pattern 2: bad aggregate number 'y'",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn aggregates_of_an_earlier_pattern_are_noted_one_by_one() {
        let mut filter = AggregateFilter { ranges: Vec::new(), default: 99, outputs: 0, taken: Vec::new() };
        for (first, last, output) in [(3, 5, 0), (8, 8, 1), (1, 9, 1)] {
            filter.add(Range { first, last, output });
        }
        assert_eq!(filter.taken, [(3, 0), (4, 0), (5, 0)]);
        filter.add(Range { first: 0, last: u32::MAX, output: 2 });
        assert_eq!((filter.taken.len(), filter.taken[3]), (12, (1, 1)));
    }

    proptest! {
        #[test]
        fn the_first_range_that_fits_decides(ranges in prop::collection::vec((0u32..40, 0u32..40), 0..12)) {
            let mut filter = AggregateFilter { ranges: Vec::new(), default: 99, outputs: 0, taken: Vec::new() };
            for (output, &(first, last)) in ranges.iter().enumerate() {
                filter.add(Range { first, last, output });
            }
            for aggregate in 0..45 {
                let naive = ranges.iter().position(|&(first, last)| first <= aggregate && aggregate <= last);
                prop_assert_eq!(filter.output(aggregate), naive.unwrap_or(99));
            }
        }
    }
}
