//! Reassembles fragmented IP packets.
//!
//! ```click
//! IPReassembler([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IP header. Unfragmented packets pass. Fragments are kept until the datagram is
//! complete; it then leaves by output 0 with the header, the annotations and up to 68 bytes before the header of its
//! first fragment. Where fragments overlap, the later one wins. A datagram that has received no fragment for 30
//! seconds, by the packets' timestamps or by the clock, is given up when another fragment arrives: what was received
//! leaves by output 1 as one packet with zeros in the gaps if that output is connected and the first fragment is there, and is dropped
//! otherwise: an error about it would name no ports (RFC 792). (In Click it leaves without its beginning, too.)
//!
//! Memory is bounded: when fragments take more than HIMEM bytes, datagrams are given up until three quarters of HIMEM are
//! in use: those at least 10 seconds old first, then 5, then any. A datagram counts as much as its buffer takes, 2496 bytes
//! or, with more than about 1700 bytes of payload, 70,080. In Click it counts 40 bytes and those received so far, whatever
//! it takes.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated, each with its own fragments
//! and its own bound. All fragments of a datagram must reach the same worker: a device may distribute
//! packets over workers by addresses, but fragments not by ports.
//!
//! # Arguments
//! - `HIMEM` (integer, default 8388608; in Click 262144): bytes of memory beyond which datagrams are given up.
//! - `MAX_MTU_ANNO` (annotation of 2 bytes): set to the length of the largest fragment of a reassembled datagram.
//!
//! # Handlers
//! - `dump` (read): statistics, and the incomplete datagrams with the bytes received.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> r :: IPReassembler -> ...
//! r[1] -> ICMPError(18.26.4.24, timeexceeded, reassembly) -> ...
//! ```
//!
//! # See also
//! IPFragmenter, ICMPError

use super::partial::{FRONT, Fragment, Key, Partial};
use elements_shared::feeds::Feeds;
use elements_shared::ip_header::NO_HEADER;
use elements_shared::parked::Parked;
use packet::{Anno, Batch, Packet};
use router::{AnnoOf, Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Pull, Scope};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPReassembler", create)
    .ports("1/1-2")
    .processing("a/ah")
    .absorbs("fragments that were put together")
    .holds("incomplete datagrams")
    .keeps("bytes of fragments", "HIMEM", 8_388_608, 1)
    .doc(router::manual!("ip_reassembler.rs"));

const SECOND: i64 = 1_000_000_000;
/// How many seconds a datagram may lie dormant. Parts of seconds do not count, here and below.
const TIMEOUT: i64 = 30;
/// How often dormant ones are looked for.
const INTERVAL: i64 = 10;
const BUCKETS: usize = 256;
/// Why a datagram is dropped.
const MISSING: &str = "fragments missing";

struct IpReassembler {
    buckets: Vec<Vec<Partial>>,
    /// Datagrams that wait for the worker that sees their next fragment, since a hot swap.
    parked: Arc<Parked<Key, Partial>>,
    /// What they may take together.
    parked_most: usize,
    feeds: Feeds,
    worker: usize,
    high: usize,
    used: usize,
    next_reap_s: i64,
    mtu: Option<Anno>,
    outputs: usize,
    seen: u64,
    good: u64,
    failed: u64,
    bad: u64,
}

/// What goes to a new configuration.
struct Handover {
    buckets: Vec<Vec<Partial>>,
    used: usize,
    next_reap_s: i64,
    counts: [u64; 4],
    worker: usize,
    feeds: Feeds,
    parked: BTreeMap<Key, Partial>,
}

/// An annotation that may be absent.
struct OptionalAnno(Option<Anno>);

impl FromArg for OptionalAnno {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        AnnoOf::<2>::from_arg(text, scope).map(|anno| OptionalAnno(Some(anno.0)))
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut high, mut mtu) = (8u32 << 20, OptionalAnno(None));
    config.args().keyword("HIMEM", &mut high).keyword("MAX_MTU_ANNO", &mut mtu).finish()?;
    Ok(Box::new(IpReassembler {
        buckets: (0..BUCKETS).map(|_| Vec::new()).collect(),
        parked: config.shared(|| Ok(Parked::default()))?,
        parked_most: (high as usize).saturating_mul(config.workers().len()),
        feeds: Feeds::default(),
        worker: config.worker(),
        high: high as usize,
        used: 0,
        next_reap_s: 0,
        mtu: mtu.0,
        outputs: config.outputs(),
        seen: 0,
        good: 0,
        failed: 0,
        bad: 0,
    }))
}

/// Click's buckets, which decide in what order datagrams are listed and given up.
fn bucket(key: &Key) -> usize {
    usize::from(key.id.to_be_bytes()[0])
}

/// Whether a packet needs more than to be passed on.
fn is_special(packet: &Packet) -> bool {
    elements_shared::ip_header::header(packet).is_none_or(|ip| ip.is_fragment())
}

impl IpReassembler {
    /// What becomes of a packet: it passes, or is kept, or completes another, which passes.
    fn take(&mut self, cx: &mut Cx<'_>, mut packet: Packet) -> Option<Packet> {
        let Some(ip) = elements_shared::ip_header::header(&packet) else {
            cx.drop(packet, NO_HEADER);
            return None;
        };
        if !ip.is_fragment() {
            return Some(packet);
        }
        self.seen += 1;
        if packet.timestamp_ns() < SECOND {
            packet.set_timestamp_ns(cx.now_ns());
        }
        let now_ns = packet.timestamp_ns();
        self.reap(cx, now_ns / SECOND);
        let Some(fragment) = Fragment::of(&packet) else {
            self.bad += 1;
            cx.drop(packet, "bad fragment");
            return None;
        };
        if self.used > self.high {
            self.reap_overfull(cx, now_ns / SECOND);
        }
        self.keep(cx, &fragment, packet, now_ns)
    }

    /// Adds a fragment to its datagram, which is returned if it is complete.
    fn keep(&mut self, cx: &mut Cx<'_>, fragment: &Fragment, packet: Packet, now_ns: i64) -> Option<Packet> {
        let at = bucket(&fragment.key);
        let place = self.buckets[at].iter().position(|partial| partial.key == fragment.key);
        let found = match place {
            Some(place) => {
                let partial = self.buckets[at].remove(place);
                self.used -= partial.cost();
                Some(partial)
            }
            None => match self.parked.take(&fragment.key) {
                Some(partial) => Some(partial),
                None => Partial::new(cx.pool(), fragment, &packet),
            },
        };
        let Some(mut partial) = found else {
            cx.drop(packet, "no buffer to put fragments together");
            return None;
        };
        match partial.add(cx.pool(), fragment, &packet, self.mtu) {
            Ok(()) => cx.pool().free(packet),
            Err(reason) => cx.drop(packet, reason),
        }
        partial.seen_s = now_ns / SECOND;
        if partial.is_complete() {
            return self.finish(cx, partial, now_ns);
        }
        self.used += partial.cost();
        self.buckets[at].insert(place.unwrap_or(0), partial);
        None
    }

    /// A datagram that is complete, unless its fragments' congestion marks contradict each other.
    fn finish(&mut self, cx: &mut Cx<'_>, partial: Partial, now_ns: i64) -> Option<Packet> {
        let Some(mark) = partial.mark() else {
            self.failed += 1;
            if let Some(packet) = partial.into_datagram(now_ns, 0) {
                cx.drop(packet, "congestion, and fragments without ECN");
            }
            return None;
        };
        self.good += 1;
        partial.into_datagram(now_ns, mark)
    }

    /// Gives up what is dormant.
    fn reap(&mut self, cx: &mut Cx<'_>, now_s: i64) {
        if now_s < self.next_reap_s {
            return;
        }
        self.next_reap_s = now_s + INTERVAL;
        let failed = self.failed;
        let is_dormant = |partial: &Partial| partial.seen_s < now_s - TIMEOUT;
        self.give_up(cx, 0, is_dormant);
        if !self.parked.is_empty() {
            let dormant = |parked: &mut BTreeMap<Key, Partial>| {
                parked.extract_if(.., |_, partial| is_dormant(partial)).collect::<Vec<_>>()
            };
            self.parked.with(dormant).into_iter().for_each(|(_, partial)| self.abandon(cx, partial));
        }
        self.failed = failed; // as in Click, only those count that memory was short for
    }

    #[cold]
    fn reap_overfull(&mut self, cx: &mut Cx<'_>, now_s: i64) {
        let low = self.high / 4 * 3;
        for age in [Some(10), Some(5), None] {
            if self.used > low {
                self.give_up(cx, low, |partial| age.is_none_or(|age| partial.seen_s < now_s - age));
            }
        }
    }

    /// Gives up datagrams until memory is down to `low`.
    fn give_up(&mut self, cx: &mut Cx<'_>, low: usize, which: impl Fn(&Partial) -> bool) {
        for at in 0..BUCKETS {
            let mut place = 0;
            while place < self.buckets[at].len() {
                if self.used <= low {
                    return;
                }
                if !which(&self.buckets[at][place]) {
                    place += 1;
                    continue;
                }
                let partial = self.buckets[at].remove(place);
                self.used -= partial.cost();
                self.abandon(cx, partial);
            }
        }
    }

    fn abandon(&mut self, cx: &mut Cx<'_>, partial: Partial) {
        self.failed += 1;
        let tells = self.outputs > 1 && partial.begins();
        match partial.into_remains() {
            Some(packet) if tells => cx.emit_packet(1, packet),
            Some(packet) => cx.drop(packet, MISSING),
            None => {}
        }
    }

    /// Has a datagram wait for the worker that sees its next fragment. Of two halves that two workers had, one is given up.
    fn park(&mut self, cx: &mut Cx<'_>, partial: Partial) {
        if let Some(other) = self.parked.with(|parked| parked.insert(partial.key, partial)) {
            self.lose(cx, other);
        }
    }

    /// Gives up a datagram during a swap, when nothing can be emitted.
    fn lose(&mut self, cx: &mut Cx<'_>, partial: Partial) {
        self.failed += 1;
        partial.into_remains().into_iter().for_each(|packet| cx.drop(packet, MISSING));
    }

    fn dump(&self) -> String {
        let mut text = format!(
            "frags seen total:    {}\ngood reassemblies:   {}\nfailed reassemblies: {}\nbad fragments seen:  {}\n\
             cached chunk data:\n",
            self.seen, self.good, self.failed, self.bad
        );
        for partial in self.buckets.iter().flatten() {
            let _ = writeln!(text, " {partial}");
        }
        if !self.parked.is_empty() {
            self.parked.with(|parked| parked.values().for_each(|partial| _ = writeln!(text, " {partial}")));
        }
        text
    }
}

impl Element for IpReassembler {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.feeds = Feeds::of(cx.info(), cx.index());
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        if batch.iter().any(is_special) {
            batch.filter_map(|packet| self.take(cx, packet));
        }
        if batch.is_empty() { cx.consume(batch) } else { cx.emit(0, batch) }
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        batch.filter_map(|packet| self.take(cx, packet));
        Pull::Give(batch)
    }

    fn held(&self) -> usize {
        self.buckets.iter().map(Vec::len).sum()
    }

    fn held_together(&self) -> usize {
        self.parked.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            buckets: std::mem::take(&mut self.buckets),
            used: self.used,
            next_reap_s: self.next_reap_s,
            counts: [self.seen, self.good, self.failed, self.bad],
            worker: self.worker,
            feeds: std::mem::take(&mut self.feeds),
            parked: self.parked.take_all(),
        }))
    }

    /// Datagrams stay with their worker as long as fragments come to the same ones; otherwise they wait.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        self.next_reap_s = self.next_reap_s.max(state.next_reap_s);
        let counts = [&mut self.seen, &mut self.good, &mut self.failed, &mut self.bad];
        counts.into_iter().zip(state.counts).for_each(|(count, old)| *count += old);
        state.parked.into_values().for_each(|partial| self.park(cx, partial));
        if state.worker == self.worker && state.feeds == self.feeds {
            self.buckets.iter_mut().zip(state.buckets).for_each(|(bucket, old)| bucket.extend(old));
            self.used += state.used;
        } else {
            state.buckets.into_iter().flatten().for_each(|partial| self.park(cx, partial));
        }
    }

    /// Gives up those that have waited longest beyond the memory that there is.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        if self.parked.is_empty() {
            return;
        }
        let mut all: Vec<Partial> = self.parked.take_all().into_values().collect();
        all.sort_by_key(|partial| -partial.seen_s);
        let mut used = 0;
        for partial in all {
            used += partial.cost();
            if used > self.parked_most { self.lose(cx, partial) } else { self.park(cx, partial) }
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("dump", |e: &mut IpReassembler, _| e.dump());
    }
}

// What lies in front of the payload fits, with the longest header, into the room kept for it.
const _: () = assert!(FRONT >= wire::ipv4::MAX_HEADER_LEN);

#[cfg(test)]
mod tests {
    use super::MISSING;
    use crate::testing::send;
    use elements_testing::samples::{cut, edited, hostile, udp};
    use proptest::prelude::*;
    use wire::ipv4::{self, FLAG_MF, Header};

    const BOTH: &str = "Inject -> MarkIPHeader -> r :: IPReassembler -> Collect(0); r[1] -> Collect(1);";

    /// The part of a packet's payload from one byte to another.
    fn part(whole: &[u8], id: u16, from: usize, to: usize) -> Vec<u8> {
        let data = [&whole[..20], &whole[20 + from..20 + to]].concat();
        let len = data.len() as u16;
        edited(data, |ip| {
            ip.set_total_len(len);
            ip.set_id(id);
            ip.set_fragment_field((from / 8) as u16 | if 20 + to < whole.len() { FLAG_MF } else { 0 });
        })
    }

    #[test]
    fn in_any_order_with_overlaps_and_padding() {
        let whole = edited(udp(92), |ip| ip.set_id(7));
        let mut padded = part(&whole, 7, 0, 40);
        padded.extend([0xaa; 6]);
        let parts = [part(&whole, 7, 72, 100), part(&whole, 7, 16, 48), padded, part(&whole, 7, 40, 80)];
        let mut flow = send(BOTH, parts);
        assert_eq!(flow.data(0), [whole]);
        assert_eq!(flow.seen[0].1.transport_offset(), Some(20));
        assert!(flow.read("r.dump").starts_with("frags seen total:    4\ngood reassemblies:   1\n"));
        assert!(flow.read("r.dump").ends_with("cached chunk data:\n"));
    }

    #[test]
    fn two_datagrams_do_not_mix() {
        let (one, two) = (udp(60), edited(udp(60), |ip| ip.set_src([9, 9, 9, 9].into())));
        let parts =
            [part(&one, 5, 0, 32), part(&two, 5, 32, 68), part(&one, 5, 32, 68), part(&two, 5, 0, 32)];
        let flow = send(BOTH, parts);
        assert_eq!(flow.data(0), [one, two].map(|data| edited(data, |ip| ip.set_id(5))));
    }

    #[test]
    fn bad_fragments() {
        let whole = udp(100);
        let odd = part(&whole, 1, 0, 33);
        let far = edited(part(&whole, 1, 8, 108), |ip| ip.set_fragment_field(0x1fff));
        let empty = part(&whole, 1, 8, 8);
        let cut = part(&whole, 1, 0, 32)[..40].to_vec();
        let mut flow = send(BOTH, [odd, far, empty, cut]);
        assert_eq!(flow.drops(), [("bad fragment", 4)]);
        assert!(flow.read("r.dump").contains("bad fragments seen:  4\n"));
    }

    #[test]
    fn memory_is_bounded() {
        let whole = udp(192);
        let parts: Vec<_> = (0..100).map(|id| part(&whole, id, 0, 160)).collect();
        let config =
            "Inject -> MarkIPHeader -> r :: IPReassembler(HIMEM 25000) -> Collect(0); r[1] -> Collect(1);";
        let mut flow = send(config, parts);
        let waiting = flow.read("r.dump").lines().filter(|line| line.contains(" (0,160)")).count();
        assert!((7..=11).contains(&waiting), "{waiting}");
        assert_eq!(flow.data(1).len() + waiting, 100);
        assert!(flow.data(1).iter().all(|data| data.len() == 180 && ipv4::check(data, true).is_ok()));
    }

    /// Nobody hears of a datagram whose beginning has not come: it says nothing of who sent it.
    #[test]
    fn what_has_no_beginning_is_dropped() {
        let whole = udp(192);
        let config =
            "Inject -> MarkIPHeader -> r :: IPReassembler(HIMEM 0) -> Collect(0); r[1] -> Collect(1);";
        let flow = send(config, [part(&whole, 1, 8, 160), part(&whole, 2, 0, 160), part(&whole, 3, 8, 160)]);
        assert_eq!((flow.data(1).len(), flow.drops()), (1, vec![(MISSING, 1)]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// The datagram cut at random places, shuffled, some parts sent twice.
        #[test]
        fn cut_and_shuffled(
            payload in prop_oneof![8usize..300, 3000usize..5000, 60_000usize..65_000],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
            order in prop::collection::vec(any::<u32>(), 14),
        ) {
            let whole = udp(payload);
            let cuts = cut(whole.len() - 20, &cuts, order);
            prop_assume!(cuts.len() > 1);
            let parts: Vec<_> = cuts.into_iter().map(|(from, to)| part(&whole, 3, from, to)).collect();
            let again = parts[..parts.len() - 1].to_vec();
            let flow = send(BOTH, again.into_iter().chain(parts));
            prop_assert_eq!(flow.data(0), [edited(whole, |ip| ip.set_id(3))]);
        }

        #[test]
        fn whatever_comes(packets in hostile(), himem in 0u32..9_000, fields in prop::collection::vec(any::<u16>(), 40)) {
            let packets = packets.into_iter().zip(fields).map(|(mut data, field)| {
                if let Ok(mut ip) = Header::new_checked_mut(&mut data) {
                    ip.set_fragment_field(field & 0x2007);
                }
                data
            });
            send(&format!("Inject -> MarkIPHeader -> r :: IPReassembler(HIMEM {himem}) -> Collect(0); r[1] -> Collect(1);"), packets);
        }
    }
}
