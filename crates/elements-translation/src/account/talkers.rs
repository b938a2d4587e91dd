//! Which flows are the largest.

use super::meter::Parts;
use elements_shared::flow_filter::protocol_name;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

/// Flows that can be asked for.
const MOST: usize = 1000;
const DEFAULT: usize = 10;

/// The largest flows among those that were added.
pub(super) struct Talkers {
    most: usize,
    /// The smallest of them first.
    heap: BinaryHeap<Reverse<(u64, Parts)>>,
}

impl Talkers {
    /// As many as a user asks for.
    ///
    /// # Errors
    /// The text is no such number.
    pub(super) fn asked(text: &str) -> Result<Talkers, String> {
        let most = match text.trim() {
            "" => DEFAULT,
            text => text
                .parse()
                .ok()
                .filter(|most| (1..=MOST).contains(most))
                .ok_or_else(|| format!("a number of flows from 1 to {MOST} is expected"))?,
        };
        Ok(Talkers { most, heap: BinaryHeap::with_capacity(most + 1) })
    }

    /// Adds a flow.
    pub(super) fn add(&mut self, octets: u64, parts: Parts) {
        let is_smaller = |Reverse(least): &Reverse<(u64, Parts)>| octets <= least.0;
        if octets == 0 || self.heap.len() == self.most && self.heap.peek().is_some_and(is_smaller) {
            return;
        }
        self.heap.push(Reverse((octets, parts)));
        if self.heap.len() > self.most {
            self.heap.pop();
        }
    }

    /// A line for each, the largest first: octets, a tab, protocol, source, port, destination, port.
    pub(super) fn lines(self) -> String {
        let mut text = String::new();
        for Reverse((octets, parts)) in self.heap.into_sorted_vec() {
            let [(source, sport), (destination, dport)] = parts.ends;
            let protocol = protocol_name(parts.protocol);
            let _ = writeln!(text, "{octets}\t{protocol} {source} {sport} {destination} {dport}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(port: u16) -> Parts {
        let end = |last| std::net::IpAddr::from([10, 0, 0, last]);
        Parts { ends: [(end(1), port), (end(2), 53)], protocol: 17 }
    }

    proptest! {
        /// The largest of a sorted list, in its order.
        #[test]
        fn as_a_sorted_list(octets in prop::collection::vec(0u64..50, 0..60), most in 1usize..20) {
            let mut talkers = Talkers::asked(&most.to_string()).unwrap();
            octets.iter().enumerate().for_each(|(at, &octets)| talkers.add(octets, parts(at as u16)));
            let mut sorted: Vec<u64> = octets.into_iter().filter(|&octets| octets > 0).collect();
            sorted.sort_unstable_by_key(|&octets| Reverse(octets));
            sorted.truncate(most);
            let lines = talkers.lines();
            let found: Vec<u64> =
                lines.lines().map(|line| line.split_once('\t').unwrap().0.parse().unwrap()).collect();
            prop_assert_eq!(found, sorted);
        }
    }

    #[test]
    fn what_is_asked_for_is_bounded() {
        let mut talkers = Talkers::asked("").unwrap();
        talkers.add(7, parts(5000));
        assert_eq!((talkers.most, talkers.lines().as_str()), (10, "7\tudp 10.0.0.1 5000 10.0.0.2 53\n"));
        assert!(["0", "1001", "x"].iter().all(|text| Talkers::asked(text).is_err()));
    }
}
