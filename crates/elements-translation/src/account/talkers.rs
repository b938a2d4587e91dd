//! Which flows are the largest.

use super::estimate::{Estimate, Told};
use super::meter::{Ends, Meter, Talk};
use elements_shared::flow_filter::{Filter, Shown, protocol_name};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use wire::ip_proto;

/// Flows that can be asked for.
const MOST: usize = 1000;
const DEFAULT: usize = 10;
/// Places for flows of each family that a step of a walk looks at.
pub(super) const STRIDE: usize = 2048;

/// How many flows a user asks for.
///
/// # Errors
/// The text is no such number.
pub(super) fn asked(text: &str) -> Result<usize, String> {
    match text.trim() {
        "" => Ok(DEFAULT),
        text => text
            .parse()
            .ok()
            .filter(|most| (1..=MOST).contains(most))
            .ok_or_else(|| format!("a number of flows from 1 to {MOST} is expected")),
    }
}

/// The largest flows among those that were added, [`MOST`] of them; the smallest first.
#[derive(Clone, Default)]
struct Largest(BinaryHeap<Reverse<Talk>>);

impl Largest {
    fn add(&mut self, talk: Talk) {
        let is_smaller = |Reverse(least): &Reverse<Talk>| talk.octets <= least.octets;
        if talk.octets == 0 || self.0.len() == MOST && self.0.peek().is_some_and(is_smaller) {
            return;
        }
        self.0.push(Reverse(talk));
        if self.0.len() > MOST {
            self.0.pop();
        }
    }

    /// The largest first.
    fn sorted(self) -> Vec<Reverse<Talk>> {
        self.0.into_sorted_vec()
    }
}

/// Walks over a worker's flows in steps, and what the walks find.
#[derive(Default)]
pub(super) struct Talkers {
    /// Where the walk goes on in the table of each family, unless it is at its end.
    next: [Option<u32>; 2],
    found: Largest,
    /// What the last walk that ended has found.
    last: Option<Vec<Reverse<Talk>>>,
}

impl Talkers {
    /// Begins a walk; false if one is on.
    pub(super) fn begin(&mut self) -> bool {
        let is_new = self.next == [None; 2];
        if is_new {
            self.next = [Some(0); 2];
        }
        is_new
    }

    /// Goes on with the walk; whether there is more to walk.
    pub(super) fn step<E: Estimate>(&mut self, v4: &Meter<impl Ends, E>, v6: &Meter<impl Ends, E>) -> bool {
        let Talkers { next: [next4, next6], found, last } = self;
        let add = &mut |talk| found.add(talk);
        *next4 = next4.and_then(|from| v4.walk(from, STRIDE, &mut *add));
        *next6 = next6.and_then(|from| v6.walk(from, STRIDE, &mut *add));
        let has_more = next4.is_some() || next6.is_some();
        if !has_more {
            *last = Some(std::mem::take(found).sorted());
        }
        has_more
    }

    /// What the last walk that ended has found, or the first one until now; the largest first.
    fn largest(&self, most: usize) -> Vec<Talk> {
        let so_far = if self.last.is_none() { self.found.clone().sorted() } else { Vec::new() };
        let all = self.last.as_ref().unwrap_or(&so_far).iter();
        all.take(most).map(|Reverse(talk)| *talk).collect()
    }

    /// A line for each of so many flows, the largest first: octets, a tab, protocol, source, port, destination, port.
    pub(super) fn lines(&self, most: usize) -> String {
        let mut text = String::new();
        for talk in self.largest(most) {
            let _ = writeln!(text, "{}\t{}", talk.octets, ends(&talk));
        }
        text
    }

    /// The same as a line with an object for each, and what is estimated of its TCP if that is asked for.
    pub(super) fn json(&self, most: usize, with_estimates: bool) -> String {
        self.largest(most).iter().map(|talk| object(talk, with_estimates)).collect()
    }

    /// Those of the largest flows that a filter asks for.
    fn of(&self, filter: &Filter) -> impl Iterator<Item = Talk> {
        let all = self.largest(MOST).into_iter();
        all.filter(|talk| filter.accepts(&shown(talk))).take(filter.limit())
    }

    /// A line for each of these: protocol, source, port, destination, port, octets, and what is estimated of its TCP.
    pub(super) fn lines_of(&self, filter: &Filter) -> String {
        let mut text = String::new();
        for talk in self.of(filter) {
            let _ = write!(text, "{} {} octets", ends(&talk), talk.octets);
            let Told { rtt_us, again: [from, to] } = talk.told;
            for (whose, rtt_us) in ["server", "client"].into_iter().zip(rtt_us) {
                if rtt_us > 0 {
                    let _ = write!(text, " {whose} {}.{:03} ms", rtt_us / 1000, rtt_us % 1000);
                }
            }
            if (from, to) != (0, 0) {
                let _ = write!(text, " again {from} {to}");
            }
            text.push('\n');
        }
        text
    }

    /// The same as a line with an object for each.
    pub(super) fn json_of(&self, filter: &Filter, with_estimates: bool) -> String {
        self.of(filter).map(|talk| object(&talk, with_estimates)).collect()
    }
}

/// What a filter sees of a flow: nothing of its state is known.
fn shown(talk: &Talk) -> Shown {
    let (protocol, ends) = (talk.parts.protocol, talk.parts.ends);
    Shown { protocol, ends, state: "", replied: talk.is_answered, assured: false }
}

/// Protocol, source, port, destination and port.
fn ends(talk: &Talk) -> String {
    let [(source, sport), (destination, dport)] = talk.parts.ends;
    format!("{} {source} {sport} {destination} {dport}", protocol_name(talk.parts.protocol))
}

/// A flow as a line with an object.
fn object(talk: &Talk, with_estimates: bool) -> String {
    let [(source, sport), (destination, dport)] = talk.parts.ends;
    let (octets, protocol) = (talk.octets, protocol_name(talk.parts.protocol));
    let mut text = format!(
        r#"{{"octets":{octets},"protocol":"{protocol}","source":"{source}","sport":{sport},"destination":"{destination}","dport":{dport}"#
    );
    if with_estimates && talk.parts.protocol == ip_proto::TCP {
        let known = |rtt_us: u32| if rtt_us == 0 { "null".to_owned() } else { rtt_us.to_string() };
        let Told { rtt_us: [server, client], again: [from, to] } = talk.told;
        let (server, client) = (known(server), known(client));
        let _ = write!(
            text,
            r#","rtt_server_us":{server},"rtt_client_us":{client},"retransmitted":[{from},{to}]"#
        );
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::super::meter::Timeouts;
    use super::super::sight::Facts;
    use super::*;
    use flows::{V4Tuple, V6Tuple};
    use proptest::prelude::*;
    use std::time::Duration;

    fn meters() -> (Meter<V4Tuple>, Meter<V6Tuple>) {
        let timeouts = Timeouts { idle: Duration::from_secs(15), active_ms: 60_000 };
        (Meter::new(20_000, timeouts, 7), Meter::new(20_000, timeouts, 7))
    }

    /// A flow with so many octets, which two packets have, so that it is confirmed.
    fn see<K: Ends>(meter: &mut Meter<K>, key: K, octets: u32) {
        for octets in [octets / 2, octets - octets / 2] {
            meter.add_read((), key, Facts { octets, packets: 1, ..Facts::default() });
            meter.count(0, 0);
        }
    }

    fn v4(number: u16) -> V4Tuple {
        V4Tuple::new(([10, 0, 0, 1].into(), [10, 0, 0, 2].into()), (number, 53), 17, 0)
    }

    fn octets(lines: &str) -> Vec<u32> {
        lines.lines().map(|line| line.split_once('\t').unwrap().0.parse().unwrap()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        /// The largest of a sorted list, in its order, after as many steps as the larger table needs.
        #[test]
        fn as_a_sorted_list(sizes in prop::collection::vec(0u32..5000, 0..5000), of_v6 in 0usize..300, most in 1usize..1000) {
            let (mut meter4, mut meter6) = meters();
            for (number, &octets) in (0..).zip(&sizes) {
                let ends = (std::net::Ipv6Addr::LOCALHOST, std::net::Ipv6Addr::UNSPECIFIED);
                match usize::from(number) < of_v6 {
                    true => see(&mut meter6, V6Tuple::new(ends, (number, 53), 17, 0), octets),
                    false => see(&mut meter4, v4(number), octets),
                }
            }
            let mut sorted: Vec<u32> = sizes.iter().copied().filter(|&octets| octets > 0).collect();
            sorted.sort_unstable_by_key(|&octets| Reverse(octets));
            sorted.truncate(most);
            let (mut talkers, mut steps) = (Talkers::default(), 1);
            prop_assert!(talkers.begin());
            while talkers.step(&meter4, &meter6) {
                prop_assert!(!talkers.begin());
                steps += 1;
            }
            prop_assert_eq!(steps, meter4.len().max(meter6.len()).div_ceil(STRIDE).max(1));
            prop_assert_eq!(octets(&talkers.lines(most)), sorted);
        }
    }

    /// An answer is that of the walk before until the next one ends; of the first one, what it has seen.
    #[test]
    fn answers_do_not_wait_for_a_walk() {
        let (mut meter4, meter6) = meters();
        let more = STRIDE as u16 + 1;
        (0..more).for_each(|number| see(&mut meter4, v4(number), u32::from(number) + 1));
        let mut talkers = Talkers::default();
        assert!(talkers.begin() && talkers.step(&meter4, &meter6));
        assert_eq!(octets(&talkers.lines(1)), [STRIDE as u32]);
        assert!(!talkers.step(&meter4, &meter6));
        assert_eq!(octets(&talkers.lines(1)), [STRIDE as u32 + 1]);
        see(&mut meter4, v4(0), 90_000);
        assert!(talkers.begin() && talkers.step(&meter4, &meter6));
        assert_eq!(octets(&talkers.lines(1)), [STRIDE as u32 + 1]);
        assert!(!talkers.step(&meter4, &meter6));
        assert_eq!(octets(&talkers.lines(2)), [90_001, STRIDE as u32 + 1]);
    }

    #[test]
    fn what_is_asked_for_is_bounded() {
        assert_eq!((asked(""), asked(" 1000 ")), (Ok(10), Ok(1000)));
        assert!(["0", "1001", "x"].iter().all(|text| asked(text).is_err()));
    }
}
