//! Sets the aggregate annotation to the number of the packet's pair of addresses.
//!
//! ```click
//! AggregateIPAddrPair([KEYWORDS])
//! ```
//!
//! Numbers pairs of source and destination address, from 1 on; both directions have the same number. The paint
//! annotation is set to the direction: 0 for that of the pair's first packet, 1 for the other. Packets must have a
//! marked IP header and should have timestamps, which are used to age the pairs. Other packets leave by output 1 or,
//! if there is none, are dropped.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `TIMEOUT` (seconds, default 0): how long a pair without packets is remembered; 0 means forever.
//! - `REAP` (seconds, default 20 minutes): how often expired pairs are removed.
//! - `CAPACITY` (integer, default 1000000): the maximum number of pairs; packets of any more are treated like those
//!   without addresses. Click has no limit.
//!
//! # Handlers
//! - `pairs` (read): current number of pairs.
//! - `clear` (write, button): forgets all pairs.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> AggregateIPAddrPair -> c :: AggregateCounter -> Discard
//! ```
//!
//! # See also
//! AggregateIPFlows, AggregateIP, AggregateCounter

use super::notifier::Notifier;
use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Residency, Simple, Verdict};
use std::any::Any;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("AggregateIPAddrPair", create)
    .ports("1/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .keeps("pairs of addresses", "CAPACITY", 1_000_000, 64)
    .doc(router::manual!("aggregate_ip_addr_pair.rs"));

const NS_PER_S: i64 = 1_000_000_000;

/// A pair: when it was seen last, its number, and whether its first packet was from the greater address.
struct Pair {
    last_s: i64,
    aggregate: u32,
    reverse: bool,
}

struct AggregateIpAddrPair {
    notifier: Arc<Notifier>,
    pairs: HashMap<(Ipv4Addr, Ipv4Addr), Pair>,
    next: u32,
    timeout_s: Option<i64>,
    reap_s: i64,
    next_reap_s: Option<i64>,
    capacity: usize,
    outputs: usize,
    /// Whether a packet without timestamp was met.
    warned: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut timeout, mut reap, mut capacity) = (Duration::ZERO, Duration::from_secs(1200), 1_000_000usize);
    config
        .args()
        .keyword("TIMEOUT", &mut timeout)
        .keyword("REAP", &mut reap)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    let whole = |time: Duration| i64::try_from(time.as_secs()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Ok(Box::new(PerPacket(AggregateIpAddrPair {
        notifier: config.shared(|| Ok(Notifier::default()))?,
        pairs: HashMap::new(),
        next: 1,
        timeout_s: Some(whole(timeout)).filter(|&timeout| timeout > 0),
        reap_s: whole(reap),
        next_reap_s: None,
        capacity,
        outputs: config.outputs(),
        warned: false,
    })))
}

impl AggregateIpAddrPair {
    /// The number of a packet's pair, and its direction; none if there are too many pairs.
    fn find(&mut self, src: Ipv4Addr, dst: Ipv4Addr, now_s: i64) -> Option<(u32, bool)> {
        let flipped = src > dst;
        let key = if flipped { (dst, src) } else { (src, dst) };
        let timeout_s = self.timeout_s;
        let live = |pair: &&mut Pair| timeout_s.is_none_or(|timeout| now_s - pair.last_s <= timeout);
        if let Some(pair) = self.pairs.get_mut(&key).filter(live) {
            pair.last_s = now_s;
            return Some((pair.aggregate, flipped != pair.reverse));
        }
        if self.pairs.len() >= self.capacity && !self.pairs.contains_key(&key) {
            return None;
        }
        let aggregate = self.next;
        self.next = self.next.wrapping_add(1).max(1);
        if let Some(old) = self.pairs.insert(key, Pair { last_s: now_s, aggregate, reverse: flipped }) {
            self.notifier.over(old.aggregate);
        }
        Some((aggregate, false))
    }

    /// Clears away what is over, once in a while.
    fn reap(&mut self, now_s: i64) {
        let Some(timeout_s) = self.timeout_s else { return };
        match self.next_reap_s {
            Some(at) if now_s < at => return,
            Some(_) => self.pairs.retain(|_, pair| {
                let live = now_s - pair.last_s <= timeout_s;
                if !live {
                    self.notifier.over(pair.aggregate);
                }
                live
            }),
            None => {}
        }
        self.next_reap_s = Some(now_s + self.reap_s);
    }
}

impl Simple for AggregateIpAddrPair {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let ends = packet
            .network()
            .and_then(|bytes| ipv4::Header::new_checked(bytes).ok())
            .map(|ip| (ip.src(), ip.dst()));
        let Some((src, dst)) = ends else {
            return elements_shared::verdict::fail(self.outputs, super::NO_IP);
        };
        if packet.timestamp_ns() == 0 && self.timeout_s.is_some() {
            if !self.warned {
                cx.warn("packet received without timestamp");
                self.warned = true;
            }
            packet.set_timestamp_ns(cx.now_ns());
        }
        let now_s = packet.timestamp_ns() / NS_PER_S;
        let Some((aggregate, backward)) = self.find(src, dst, now_s) else {
            return elements_shared::verdict::fail(self.outputs, "too many pairs");
        };
        packet.set_anno(Anno::AGGREGATE, u64::from(aggregate));
        packet.set_paint(u8::from(backward));
        self.reap(now_s);
        Verdict::Pass
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((std::mem::take(&mut self.pairs), self.next, self.next_reap_s)))
    }

    /// Pairs keep their numbers.
    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(HashMap<(Ipv4Addr, Ipv4Addr), Pair>, u32, Option<i64>)>() {
            (self.pairs, self.next, self.next_reap_s) = *state;
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type A = AggregateIpAddrPair;
        h.read("pairs", |e: &mut A, _| e.pairs.len());
        h.write("clear", |e: &mut A, _, _| {
            let mut over: Vec<u32> = e.pairs.drain().map(|(_, pair)| pair.aggregate).collect();
            over.sort_unstable();
            over.into_iter().for_each(|aggregate| e.notifier.over(aggregate));
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;
    use crate::testing::send;
    use elements_testing::flow_samples::udp;
    use packet::Anno;

    #[test]
    fn both_directions_of_a_pair_have_one_number() {
        let (a, b, c) = (([10, 0, 0, 1], 1), ([10, 0, 0, 2], 2), ([10, 0, 0, 3], 3));
        let packets = vec![
            udp(b, a, b""),
            udp(a, b, b""),
            udp(a, c, b""),
            udp(b, a, b""),
            udp(c, a, b""),
            vec![1],
            udp(b, c, b""),
        ];
        let config = "Inject -> MarkIPHeader(0) -> p :: AggregateIPAddrPair(CAPACITY 2) -> Collect(0); p[1] -> Collect(1)";
        let mut flow = send(config, packets);
        let marks = |(at, packet): &(usize, packet::Packet)| {
            (*at == 0).then(|| (packet.anno(Anno::AGGREGATE), packet.paint()))
        };
        let marks: Vec<_> = flow.seen.iter().filter_map(marks).collect();
        assert_eq!((marks, flow.data(1).len()), (vec![(1, 0), (1, 1), (2, 0), (1, 0), (2, 1)], 2));
        assert!(
            flow.seen.iter().all(|(_, packet)| packet.timestamp_ns() == 0),
            "nothing ages, so nothing is stamped"
        );
        assert_eq!((flow.write("p.clear", ""), flow.read("p.pairs")), (String::new(), "0".into()));
    }

    /// A pair that was silent for longer than the timeout gets a new number.
    #[test]
    fn pairs_age() {
        let source = |at: u32| {
            format!(
                "InfiniteSource(LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> SetTimestamp({at}) -> p;"
            )
        };
        let numbers = |keywords: &str| {
            let config = format!(
                "p :: AggregateIPAddrPair({keywords}) -> AggregateFilter(allow 1, allow 2, drop all) -> Print(PRINTANNO true, CONTENTS NONE)
                 -> Discard; {} {} {} Script(wait 1, print p.pairs, stop)", source(1000), source(1010), source(1021)
            );
            let said = run(&config);
            let number = |line: &str| {
                line.split_once("| ").map_or(line.to_owned(), |(_, dump)| dump[40..48].replace('0', ""))
            };
            said.lines().map(number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(""), ["1", "1", "1", "1"]);
        assert_eq!(numbers("TIMEOUT 10"), ["1", "1", "2", "1"]);
    }
}
