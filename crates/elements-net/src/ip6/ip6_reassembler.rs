//! Reassembles fragmented IPv6 packets.
//!
//! ```click
//! IP6Reassembler([KEYWORDS])
//! ```
//!
//! Expects packets with a marked IPv6 header. It is meant for fragments addressed to this machine: routers do not
//! reassemble packets in transit. Unfragmented packets pass. Fragments are kept until the packet is complete; it then
//! leaves by output 0 with the headers and annotations of its first fragment, without the fragment header and without
//! the bytes before the IPv6 header (RFC 8200, section 4.5). A packet that has a fragment header but is complete is
//! processed alone (RFC 6946).
//!
//! A packet whose fragments overlap is given up, and later fragments of it are dropped (RFC 5722); if a fragment is
//! an exact duplicate, only the duplicate is dropped. A packet that is incomplete TIMEOUT after its first fragment
//! arrived is given up: if the fragment with its start has arrived, that fragment leaves by output 1, for ICMP6Error,
//! and is dropped if output 1 is not connected. Fragments with an invalid length or end leave by output 2 if it is
//! connected, with the position of the error in the parameter problem annotation, if it fits into that (255).
//!
//! Memory is bounded: when fragments take more than HIMEM bytes, counting a buffer for each, the oldest packets are
//! given up until three quarters of HIMEM are in use.
//!
//! Ports: 1 input, 1 to 3 outputs. Processing: push. Workers: replicated, each with its own fragments and its own bound. All fragments
//! of a packet must reach the same worker, as they do if packets are distributed by addresses.
//!
//! # Arguments
//! - `HIMEM` (integer, default 1048576): bytes of memory beyond which packets are given up.
//! - `TIMEOUT` (time, default 60 s): how long fragments are kept.
//!
//! # Handlers
//! - `stats` (read): lines of a number, a tab and a name: `fragments` received, packets reassembled (`whole`),
//!   packets `waiting`, packets given up because of an `overlap`, a timeout (`late`), or lack of `memory`; and
//!   fragments that belonged to no packet (`bad`).
//!
//! # Example
//! ```click
//! Idle -> MarkIP6Header -> r :: IP6Reassembler -> ICMP6PingResponder -> Discard;
//! r[1] -> ICMP6Error(2001:db8::1, 3, 1) -> Discard;
//! ```
//!
//! # See also
//! IP6Fragmenter, IPReassembler, ICMP6Error

use super::header::NO_HEADER;
use elements_shared::ecn::{self, FragmentMarks};
use elements_shared::feeds::Feeds;
use elements_shared::parked::Parked;
use packet::{Anno, Batch, DEFAULT_HEADROOM, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge};
use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::time::Duration;
use wire::ip_proto::{DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP, ROUTING};
use wire::ipv6::{self, FRAGMENT_HEADER_LEN, HEADER_LEN, Header, MAX_EXTENSION_HEADERS};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Reassembler", create)
    .ports("1/1-3")
    .processing("h/h")
    .absorbs("fragments that were put together")
    .holds("fragments of incomplete packets")
    .keeps("bytes of fragments", "HIMEM", 1_048_576, 1)
    .doc(router::manual!("ip6_reassembler.rs"));

/// Where the fixed header says how long the rest is, and what comes next.
const PAYLOAD_LEN_AT: usize = 4;
const NEXT_HEADER_AT: usize = 6;
/// The longest payload of a packet.
const LONGEST: usize = 0xffff;
/// What a fragment costs, whatever its length: it keeps its buffer.
const COST: usize = 2_112;
/// What a packet costs beside its fragments.
const OVERHEAD: usize = 384;
/// Timer: the oldest packet is due.
const DUE: u32 = 0;
/// Timer: the oldest one that waits for a worker is.
const PARKED_DUE: u32 = 1;
/// Why fragments are dropped.
const MISSING: &str = "fragments missing";
const TOO_MANY: &str = "too many fragments wait";

/// What the fragments of a packet have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    src: Ipv6Addr,
    dst: Ipv6Addr,
    id: u32,
}

/// What a fragment's headers say.
struct FragmentInfo {
    key: Key,
    /// Where its fragment header is, and the field in front of it that says so.
    header_at: usize,
    named_at: usize,
    /// The bytes of the packet's fragmentable part that it has.
    start: usize,
    end: usize,
    last: bool,
}

/// A fragment that waits.
struct Part {
    info: FragmentInfo,
    packet: Packet,
}

/// A packet of which some fragments are there.
struct Partial {
    /// Its number, in the order in which first fragments came.
    number: u64,
    since_ns: i64,
    /// Sorted by place, without overlaps; none once it was given up for one.
    parts: Vec<Part>,
    /// Bytes that are there, and that there must be once the last fragment has come.
    have: usize,
    end: Option<usize>,
    spoilt: bool,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    fragments: u64,
    whole: u64,
    overlap: u64,
    late: u64,
    memory: u64,
    bad: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.fragments += other.fragments;
        self.whole += other.whole;
        self.overlap += other.overlap;
        self.late += other.late;
        self.memory += other.memory;
        self.bad += other.bad;
    }
}

/// What goes to a new configuration.
struct Handover {
    partials: HashMap<Key, Partial>,
    by_age: BTreeMap<u64, Key>,
    counts: Counts,
    worker: usize,
    feeds: Feeds,
    parked: BTreeMap<Key, Partial>,
}

struct Ip6Reassembler {
    partials: HashMap<Key, Partial>,
    /// The same by age.
    by_age: BTreeMap<u64, Key>,
    /// Packets that wait for the worker that sees their next fragment, since a hot swap.
    parked: Arc<Parked<Key, Partial>>,
    /// What they may take together.
    parked_most: usize,
    feeds: Feeds,
    worker: usize,
    /// Whether this is the first worker's instance, which looks after them.
    is_first: bool,
    next_number: u64,
    used: usize,
    high: usize,
    timeout: Duration,
    outputs: usize,
    counts: Counts,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut high, mut timeout) = (1024 * 1024u32, Duration::from_secs(60));
    config.args().keyword("HIMEM", &mut high).keyword("TIMEOUT", &mut timeout).finish()?;
    if timeout.is_zero() {
        return Err("TIMEOUT must be positive".into());
    }
    Ok(Box::new(Ip6Reassembler {
        partials: HashMap::new(),
        by_age: BTreeMap::new(),
        parked: config.shared(|| Ok(Parked::default()))?,
        parked_most: (high as usize).saturating_mul(config.workers().len()),
        feeds: Feeds::default(),
        worker: config.worker(),
        is_first: config.workers().first() == Some(&config.worker()),
        next_number: 0,
        used: 0,
        high: high as usize,
        timeout,
        outputs: config.outputs(),
        counts: Counts::default(),
    }))
}

/// Where the fragment header is, if there is one, and the field that names it: behind headers for the way only.
#[inline]
fn fragment_header(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut named_at, mut at) = (NEXT_HEADER_AT, HEADER_LEN);
    for _ in 0..MAX_EXTENSION_HEADERS {
        match *bytes.get(named_at)? {
            FRAGMENT => return Some((at, named_at)),
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                (named_at, at) = (at, at + 8 + usize::from(*bytes.get(at + 1)?) * 8);
            }
            _ => return None,
        }
    }
    None
}

#[inline]
fn is_fragment(packet: &Packet) -> bool {
    packet.network().is_none_or(|bytes| fragment_header(bytes).is_some())
}

/// What a fragment is of; if it can't be of anything, where the fault is.
fn info(bytes: &[u8]) -> Result<FragmentInfo, Option<usize>> {
    let (header_at, named_at) = fragment_header(bytes).ok_or(None)?;
    let whole = ipv6::check(bytes).map_err(|_| None)?;
    let ip = Header::new_checked(bytes).map_err(|_| None)?;
    let fragment =
        bytes.get(header_at..).and_then(|rest| ipv6::Fragment::new_checked(rest).ok()).ok_or(None)?;
    let len = whole.checked_sub(header_at + FRAGMENT_HEADER_LEN).ok_or(None)?;
    let (start, last) = (fragment.offset(), !fragment.more_fragments());
    if !last && !len.is_multiple_of(8) {
        return Err(Some(PAYLOAD_LEN_AT));
    }
    if len == 0 && !(last && start == 0) {
        return Err(None);
    }
    if header_at - HEADER_LEN + start + len > LONGEST {
        return Err(Some(header_at + 2));
    }
    let key = Key { src: ip.src(), dst: ip.dst(), id: fragment.id() };
    Ok(FragmentInfo { key, header_at, named_at, start, end: start + len, last })
}

impl Part {
    /// What it has of the fragmentable part.
    fn body(&self) -> &[u8] {
        let from = self.info.header_at + FRAGMENT_HEADER_LEN;
        let bytes = self.packet.network().and_then(|bytes| bytes.get(from..)).unwrap_or_default();
        &bytes[..bytes.len().min(self.info.end - self.info.start)]
    }
}

/// What is wrong with a fragment.
enum Wrong {
    /// It is there already.
    Twice,
    Overlap,
}

impl Partial {
    /// Puts a fragment in its place.
    fn add(&mut self, part: Part) -> Result<(), (Wrong, Part)> {
        let FragmentInfo { start, end, last, .. } = part.info;
        let at = self.parts.partition_point(|other| other.info.start < start);
        if let Some(same) = self.parts.get(at)
            && (same.info.start, same.info.end, same.info.last) == (start, end, last)
            && same.body() == part.body()
        {
            return Err((Wrong::Twice, part));
        }
        let before = at.checked_sub(1).map_or(0, |before| self.parts[before].info.end);
        let after = self.parts.get(at).map_or(LONGEST, |after| after.info.start);
        // What lies behind the end, or a second end, contradicts as much as an overlap does.
        let beyond = self.end.is_some_and(|known| last || end > known);
        let cuts = last && self.parts.last().is_some_and(|part| part.info.end > end);
        if before > start || end > after || beyond || cuts {
            return Err((Wrong::Overlap, part));
        }
        self.have += end - start;
        if last {
            self.end = Some(end);
        }
        self.parts.insert(at, part);
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.end == Some(self.have)
    }

    fn cost(&self) -> usize {
        OVERHEAD + COST * self.parts.len()
    }

    /// The packet, complete. None without memory, or if it has more headers than it may.
    fn put_together(&self, cx: &mut Cx<'_>) -> Option<Packet> {
        let first = self.parts.first()?;
        let FragmentInfo { header_at, named_at, .. } = first.info;
        let lead = first.packet.network()?.get(..header_at + FRAGMENT_HEADER_LEN)?;
        let payload_len = u16::try_from(header_at - HEADER_LEN + self.have).ok()?;
        let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, header_at + self.have)?;
        packet.copy_annotations(&first.packet);
        let (head, mut rest) = packet.data_mut().split_at_mut(header_at);
        head.copy_from_slice(&lead[..header_at]);
        head[named_at] = lead[header_at];
        Header::new_checked_mut(head).ok()?.set_payload_len(payload_len);
        for part in &self.parts {
            let body = part.body();
            let (here, after) = rest.split_at_mut_checked(body.len())?;
            here.copy_from_slice(body);
            rest = after;
        }
        packet.set_network(0, HEADER_LEN);
        ecn::set_mark(packet.data_mut(), self.mark()?);
        Some(packet)
    }

    /// The congestion mark that it has as a whole; `None` if it is to be dropped.
    fn mark(&self) -> Option<u8> {
        let mut marks = FragmentMarks::default();
        self.parts.iter().for_each(|part| marks.add(part.packet.network().unwrap_or_default()));
        marks.of_whole(ecn::mark(self.parts.first()?.packet.network()?)?)
    }
}

impl Ip6Reassembler {
    /// What becomes of a packet: it passes, or is kept, or completes another, which passes.
    fn take(&mut self, cx: &mut Cx<'_>, packet: Packet) -> Option<Packet> {
        let Some(bytes) = packet.network() else {
            cx.drop(packet, NO_HEADER);
            return None;
        };
        if fragment_header(bytes).is_none() {
            return Some(packet);
        }
        self.counts.fragments += 1;
        match info(bytes) {
            Ok(info) => self.keep(cx, Part { info, packet }),
            Err(fault) => {
                self.counts.bad += 1;
                self.refuse(cx, packet, fault);
                None
            }
        }
    }

    fn refuse(&self, cx: &mut Cx<'_>, mut packet: Packet, fault: Option<usize>) {
        // The annotation has one byte: about a fault further behind no message is sent.
        match fault.and_then(|at| u8::try_from(at).ok()).filter(|_| self.outputs > 2) {
            Some(at) => {
                packet.set_anno(Anno::ICMP_PARAMPROB, at.into());
                cx.emit_packet(2, packet);
            }
            None => cx.drop(packet, "bad fragment"),
        }
    }

    fn keep(&mut self, cx: &mut Cx<'_>, part: Part) -> Option<Packet> {
        let key = part.info.key;
        if part.info.start == 0 && part.info.last {
            // No part of what others with its number are parts of.
            return self.alone(cx, part);
        }
        if !self.partials.contains_key(&key) && !self.resume(cx, key) {
            self.begin(cx, key);
        }
        let partial = self.partials.get_mut(&key)?;
        if partial.spoilt {
            cx.drop(part.packet, "fragments overlap");
            return None;
        }
        let before = partial.cost();
        match partial.add(part) {
            Ok(()) => {}
            Err((Wrong::Twice, part)) => {
                cx.drop(part.packet, "fragment came twice");
                return None;
            }
            Err((Wrong::Overlap, part)) => {
                self.counts.overlap += 1;
                self.used -= before - OVERHEAD;
                partial.spoilt = true;
                partial.parts.drain(..).for_each(|part| cx.drop(part.packet, "fragments overlap"));
                cx.drop(part.packet, "fragments overlap");
                return None;
            }
        }
        self.used += partial.cost() - before;
        if partial.is_complete() {
            return self.finish(cx, key);
        }
        if self.used > self.high {
            self.make_room(cx);
        }
        None
    }

    /// A packet that is its only fragment.
    fn alone(&mut self, cx: &mut Cx<'_>, part: Part) -> Option<Packet> {
        let have = part.info.end;
        let partial =
            Partial { number: 0, since_ns: 0, parts: vec![part], have, end: Some(have), spoilt: false };
        self.leave(cx, partial)
    }

    fn begin(&mut self, cx: &mut Cx<'_>, key: Key) {
        if self.by_age.is_empty() {
            cx.timers().after(DUE, self.timeout);
        }
        let (number, since_ns) = (self.next_number, cx.now_ns());
        self.next_number += 1;
        self.used += OVERHEAD;
        self.by_age.insert(number, key);
        let parts = Vec::new();
        self.partials.insert(key, Partial { number, since_ns, parts, have: 0, end: None, spoilt: false });
    }

    /// Goes on with a packet that waits for a worker: whether there is one.
    fn resume(&mut self, cx: &mut Cx<'_>, key: Key) -> bool {
        let Some(partial) = self.parked.take(&key) else { return false };
        if self.due_ns(&partial) <= cx.now_ns() {
            self.expire(cx, partial);
            return false;
        }
        self.merge(cx, vec![(key, partial)]);
        self.timer(cx, DUE);
        true
    }

    /// When a packet's time is over.
    fn due_ns(&self, partial: &Partial) -> i64 {
        partial.since_ns + self.timeout.as_nanos() as i64
    }

    /// Gives up those that wait for a worker and are due, and comes back when others are.
    fn expire_parked(&mut self, cx: &mut Cx<'_>) {
        let (now_ns, timeout_ns) = (cx.now_ns(), self.timeout.as_nanos() as i64);
        let (due, next) = self.parked.with(|parked| {
            let is_due = |_: &Key, partial: &mut Partial| partial.since_ns + timeout_ns <= now_ns;
            let due: BTreeMap<Key, Partial> = parked.extract_if(.., is_due).collect();
            (due, parked.values().map(|partial| partial.since_ns + timeout_ns).min())
        });
        due.into_values().for_each(|partial| self.expire(cx, partial));
        if let Some(next_ns) = next {
            cx.timers().after(PARKED_DUE, Duration::from_nanos((next_ns - now_ns) as u64));
        }
    }

    /// Has a packet wait for the worker that sees its next fragment. Of two halves that two workers had, one is given up.
    fn park(&mut self, cx: &mut Cx<'_>, key: Key, partial: Partial) {
        if let Some(other) = self.parked.with(|parked| parked.insert(key, partial)) {
            other.parts.into_iter().for_each(|part| cx.drop(part.packet, MISSING));
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Partial> {
        let partial = self.partials.remove(key)?;
        self.by_age.remove(&partial.number);
        self.used -= partial.cost();
        Some(partial)
    }

    fn finish(&mut self, cx: &mut Cx<'_>, key: Key) -> Option<Packet> {
        let partial = self.remove(&key)?;
        self.leave(cx, partial)
    }

    fn leave(&mut self, cx: &mut Cx<'_>, partial: Partial) -> Option<Packet> {
        let contradicts = partial.mark().is_none();
        let packet = if contradicts { None } else { partial.put_together(cx) };
        let parts = partial.parts.into_iter().map(|part| part.packet);
        match packet {
            Some(_) => {
                self.counts.whole += 1;
                parts.for_each(|packet| cx.pool().free(packet));
            }
            None if contradicts => {
                parts.for_each(|packet| cx.drop(packet, "congestion, and fragments without ECN"));
            }
            None => parts.for_each(|packet| cx.drop(packet, "no buffer to put fragments together")),
        }
        packet
    }

    /// Gives up the oldest packets.
    #[cold]
    fn make_room(&mut self, cx: &mut Cx<'_>) {
        while self.used > self.high / 4 * 3
            && let Some((_, &key)) = self.by_age.first_key_value()
            && let Some(partial) = self.remove(&key)
        {
            self.counts.memory += u64::from(!partial.spoilt);
            partial.parts.into_iter().for_each(|part| cx.drop(part.packet, TOO_MANY));
        }
    }

    /// Gives up a packet whose time is over.
    fn expire(&mut self, cx: &mut Cx<'_>, partial: Partial) {
        self.counts.late += u64::from(!partial.spoilt);
        for part in partial.parts {
            if part.info.start == 0 && self.outputs > 1 {
                cx.emit_packet(1, part.packet);
            } else {
                cx.drop(part.packet, MISSING);
            }
        }
    }

    /// Adds what another instance has, in the order of its age. The same packet's fragments on two workers are given up, since each has
    /// what the other lacks.
    fn merge(&mut self, cx: &mut Cx<'_>, olds: Vec<(Key, Partial)>) {
        let mine = std::mem::take(&mut self.by_age).into_values();
        let mine = mine.filter_map(|key| Some((key, self.partials.remove(&key)?))).collect::<Vec<_>>();
        let mut all: Vec<(Key, Partial)> = mine.into_iter().chain(olds).collect();
        all.sort_by_key(|(_, partial)| partial.since_ns); // stable
        self.used = 0;
        for (key, partial) in all {
            if self.partials.contains_key(&key) {
                partial.parts.into_iter().for_each(|part| cx.drop(part.packet, MISSING));
                continue;
            }
            let number = self.next_number;
            self.next_number += 1;
            self.used += partial.cost();
            self.by_age.insert(number, key);
            self.partials.insert(key, Partial { number, ..partial });
        }
    }

    fn stats(&self) -> String {
        let Counts { fragments, whole, overlap, late, memory, bad } = self.counts;
        let mut waiting = self.partials.values().filter(|partial| !partial.spoilt).count();
        if self.is_first {
            waiting += self.parked.len();
        }
        format!(
            "{fragments}\tfragments\n{whole}\twhole\n{waiting}\twaiting\n{overlap}\toverlap\n{late}\tlate\n{memory}\tmemory\n{bad}\tbad\n"
        )
    }
}

impl Element for Ip6Reassembler {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.feeds = Feeds::of(cx.info(), cx.index());
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        if batch.iter().any(is_fragment) {
            batch.filter_map(|packet| self.take(cx, packet));
        }
        if batch.is_empty() { cx.consume(batch) } else { cx.emit(0, batch) }
    }

    /// The oldest packets are due.
    fn timer(&mut self, cx: &mut Cx<'_>, timer: u32) {
        if timer == PARKED_DUE {
            return self.expire_parked(cx);
        }
        while let Some((_, key)) = self.by_age.first_key_value() {
            let (key, now_ns) = (*key, cx.now_ns());
            let due_ns = self.partials.get(&key).map_or(now_ns, |partial| self.due_ns(partial));
            if due_ns > now_ns {
                return cx.timers().after(DUE, Duration::from_nanos((due_ns - now_ns) as u64));
            }
            let Some(partial) = self.remove(&key) else { return };
            self.expire(cx, partial);
        }
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.by_age.clear();
        for (_, partial) in self.partials.drain().chain(self.parked.take_all()) {
            partial.parts.into_iter().for_each(|part| cx.drop(part.packet, "left over at the end"));
        }
    }

    fn held(&self) -> usize {
        self.partials.values().map(|partial| partial.parts.len()).sum()
    }

    fn held_together(&self) -> usize {
        if self.parked.is_empty() {
            return 0;
        }
        self.parked.with(|parked| parked.values().map(|partial| partial.parts.len()).sum())
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            partials: std::mem::take(&mut self.partials),
            by_age: std::mem::take(&mut self.by_age),
            counts: self.counts,
            worker: self.worker,
            feeds: std::mem::take(&mut self.feeds),
            parked: self.parked.take_all(),
        }))
    }

    /// Packets stay with their worker as long as fragments come to the same ones; otherwise they wait.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        let Handover { mut partials, by_age, counts, worker, feeds, parked } = *state;
        self.counts.add(counts);
        parked.into_iter().for_each(|(key, partial)| self.park(cx, key, partial));
        let olds = by_age.into_values().filter_map(|key| Some((key, partials.remove(&key)?)));
        let olds: Vec<_> = olds.collect();
        if worker == self.worker && feeds == self.feeds {
            self.merge(cx, olds);
            self.timer(cx, DUE);
        } else {
            olds.into_iter().for_each(|(key, partial)| self.park(cx, key, partial));
        }
    }

    /// Gives up the oldest of those that wait beyond the memory that there is, and looks when the others are due.
    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        if !self.is_first || self.parked.is_empty() {
            return;
        }
        let mut all: Vec<_> = self.parked.take_all().into_iter().collect();
        all.sort_by_key(|(_, partial)| -partial.since_ns);
        let mut used = 0;
        for (key, partial) in all {
            used += partial.cost();
            if used <= self.parked_most {
                self.park(cx, key, partial);
                continue;
            }
            self.counts.memory += u64::from(!partial.spoilt);
            partial.parts.into_iter().for_each(|part| cx.drop(part.packet, TOO_MANY));
        }
        cx.timers().after(PARKED_DUE, Duration::ZERO);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("stats", |e: &mut Ip6Reassembler, _| e.stats()).merged(Merge::Tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run_and_read;
    use crate::testing::{send, send_singly};
    use elements_testing::ip6_samples::{hostile, udp, with_body};
    use elements_testing::samples::cut;
    use proptest::prelude::*;

    const ALL: &str = "Inject -> MarkIP6Header -> r :: IP6Reassembler -> Collect(0); r[1] -> Collect(1); r[2] -> Collect(2);";

    /// A fragment with a part of what follows the fixed header.
    fn part(whole: &[u8], id: u8, from: usize, to: usize) -> Vec<u8> {
        let body = &whole[HEADER_LEN..];
        let field = (from as u16 | u16::from(to < body.len())).to_be_bytes();
        let header = [whole[NEXT_HEADER_AT], 0, field[0], field[1], 0, 0, 0, id];
        with_body(FRAGMENT, &[&header[..], &body[from..to]].concat())
    }

    #[test]
    fn in_any_order() {
        let whole = udp(92);
        let parts = [
            part(&whole, 7, 72, 100),
            part(&whole, 7, 16, 72),
            part(&whole, 7, 16, 72),
            part(&whole, 7, 0, 16),
        ];
        let mut flow = send(ALL, parts);
        assert_eq!((flow.data(0), flow.drops()), (vec![whole], vec![("fragment came twice", 1)]));
        assert_eq!(flow.seen[0].1.transport_offset(), Some(HEADER_LEN as isize));
        assert!(flow.read("r.stats").starts_with("4\tfragments\n1\twhole\n0\twaiting\n"));
    }

    #[test]
    fn packets_do_not_mix() {
        let (one, two) = (udp(60), udp(61));
        let parts =
            [part(&one, 5, 0, 32), part(&two, 6, 32, 69), part(&one, 5, 32, 68), part(&two, 6, 0, 32)];
        assert_eq!(send(ALL, parts).data(0), [one, two]);
    }

    /// Headers for the way stay in front; what was behind the fragment header follows them.
    #[test]
    fn headers_for_the_way() {
        let routing = [FRAGMENT, 0, 1, 4, 0, 0, 0, 0];
        let fragment = |field: u8, rest: &[u8]| {
            with_body(ROUTING, &[&routing[..], &[60, 0, 0, field, 0, 0, 0, 1], rest].concat())
        };
        let flow = send(ALL, [fragment(8, &[9; 20]), fragment(1, &[17, 0, 1, 4, 0, 0, 0, 0])]);
        let whole = [&[60, 0, 1, 4, 0, 0, 0, 0][..], &[17, 0, 1, 4, 0, 0, 0, 0], &[9; 20]].concat();
        assert_eq!(flow.data(0), [with_body(ROUTING, &whole)]);
    }

    /// RFC 6946: by itself, whatever else has the same number.
    #[test]
    fn a_fragment_that_is_all() {
        let whole = udp(60);
        let flow = send(ALL, [part(&whole, 1, 0, 32), part(&whole, 1, 0, 68), part(&whole, 1, 32, 68)]);
        assert_eq!(flow.data(0), [whole.clone(), whole]);
    }

    /// RFC 5722: nothing of such a packet is used, nor what comes later.
    #[test]
    fn overlapping_fragments_drop_the_whole_packet() {
        let whole = udp(92);
        let mut altered = part(&whole, 1, 0, 16);
        *altered.last_mut().unwrap() ^= 1;
        for second in [part(&whole, 1, 8, 24), altered, part(&whole, 1, 8, 100)] {
            let rest = [part(&whole, 1, 0, 16), second, part(&whole, 1, 0, 16), part(&whole, 1, 16, 100)];
            let mut flow = send(ALL, rest);
            assert_eq!((flow.seen.len(), flow.drops()), (0, vec![("fragments overlap", 4)]));
            assert!(flow.read("r.stats").contains("0\twaiting\n1\toverlap\n"));
        }
        // Two ends, and what lies behind the end.
        let shorter = udp(84);
        for parts in [
            [part(&shorter, 1, 80, 92), part(&whole, 1, 88, 100)],
            [part(&whole, 1, 88, 96), part(&shorter, 1, 80, 92)],
        ] {
            assert_eq!(send(ALL, parts).drops(), [("fragments overlap", 2)]);
        }
    }

    #[test]
    fn what_no_packet_has() {
        let whole = udp(100);
        let odd = part(&whole, 1, 0, 33);
        let far = {
            let mut far = part(&whole, 1, 8, 108);
            far[42..44].copy_from_slice(&[0xff, 0xf8]);
            far
        };
        let mut flow = send(ALL, [odd.clone(), far.clone(), part(&whole, 1, 8, 8)]);
        assert_eq!((flow.data(2), flow.drops()), (vec![odd.clone(), far.clone()], vec![("bad fragment", 1)]));
        let at: Vec<_> = flow.seen.iter().map(|(_, packet)| packet.anno(Anno::ICMP_PARAMPROB)).collect();
        assert_eq!(at, [4, 42]);
        assert!(flow.read("r.stats").ends_with("3\tbad\n"));
        let alone = "Inject -> MarkIP6Header -> r :: IP6Reassembler -> Collect(0);";
        assert_eq!(send(alone, [odd, far]).drops(), [("bad fragment", 2)]);
        // A place that the annotation cannot name.
        let behind = [&[44, 32][..], &[0; 262], &[17, 0, 0xff, 0xf8, 0, 0, 0, 1], &[0; 24]].concat();
        let flow = send(ALL, [with_body(60, &behind)]);
        assert_eq!((flow.data(2).len(), flow.drops()), (0, vec![("bad fragment", 1)]));
    }

    #[test]
    fn memory_is_bounded() {
        let whole = udp(192);
        let parts = (0..100).map(|id| part(&whole, id, 0, 160));
        let config = ALL.replace("IP6Reassembler", "IP6Reassembler(HIMEM 20000)");
        let mut flow = send_singly(&config, parts);
        let stats = flow.read("r.stats");
        let number = |name: &str| -> u64 {
            let line = stats.lines().find(|line| line.ends_with(name)).expect("a line of that name");
            line.split('\t').next().unwrap().parse().unwrap()
        };
        assert!((5..=9).contains(&number("waiting")), "{stats}");
        assert_eq!(number("waiting") + number("memory"), 100);
    }

    /// The first fragment is reported when its time is over, a later one is not, and nothing before.
    #[test]
    fn the_time_is_over() {
        let config = |until: &str| {
            format!(
                "InfiniteSource(LENGTH 100, LIMIT 1) -> IP6Encap(udp, 2001:db8::1, 2001:db8::2) -> IP6Fragmenter(96)
                 -> part :: Classifier(42/0001, 42/0031, -); part[2] -> Discard;
                 part[0] -> early :: IP6Reassembler(TIMEOUT 2s) -> Discard;
                 early[1] -> ICMP6Error(2001:db8::9, 3, 1) -> told :: Counter -> Discard;
                 part[1] -> late :: IP6Reassembler(TIMEOUT 2s) -> Discard; late[1] -> never :: Counter -> Discard;
                 Script(wait {until}, stop)"
            )
        };
        let read = ["told.count", "never.count", "late.drop_reasons", "early.stats"];
        let before = run_and_read(&config("1.9"), &read);
        assert_eq!(before[..3], ["0", "0", ""]);
        assert!(before[3].contains("1\twaiting\n"), "{}", before[3]);
        let after = run_and_read(&config("2.1"), &read);
        assert_eq!(after[..3], ["1", "0", "1\tfragments missing\n"]);
        assert!(after[3].contains("0\twaiting\n0\toverlap\n1\tlate\n"), "{}", after[3]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// A packet cut at random places, shuffled.
        #[test]
        fn cut_and_shuffled(
            payload in prop_oneof![8usize..300, 3000usize..5000, 60_000usize..65_000],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
            order in prop::collection::vec(any::<u32>(), 14),
        ) {
            let whole = udp(payload);
            let cuts = cut(whole.len() - HEADER_LEN, &cuts, order);
            prop_assume!(cuts.len() > 1);
            let parts: Vec<_> = cuts.into_iter().map(|(from, to)| part(&whole, 3, from, to)).collect();
            prop_assert_eq!(send(ALL, parts).data(0), [whole]);
        }

        #[test]
        fn whatever_comes(packets in hostile(), himem in 0u32..9_000) {
            send(&ALL.replace("IP6Reassembler", &format!("IP6Reassembler(HIMEM {himem})")), packets);
        }
    }
}
