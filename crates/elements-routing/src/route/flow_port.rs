//! Remembered flows as entries, for a copy at another node of a cluster that goes on with them.
//!
//! An entry is a flow, its next hop, and when it is known to have gone there. Each worker's flows are entries of their own, as they are tables of
//! their own: one that goes on with another worker is there twice until the former one forgets it, and goes on as at the later one. What another node adopts waits for the workers that see the flows'
//! next packets.

use super::family::{Family, Parts};
use super::target::Hop;
use super::waiting::Shared;
use super::watch::{Note, PARKED, Went};
use elements_shared::state_port::{Adopted, Entry, Overrun, StatePort};
use router::Cx;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Where a look at everything is: at the flows that wait, or where workers show theirs.
const GOES_ON: u32 = 1;
const WORKERS: u32 = 2;

/// Bytes of a key beside the addresses: lane, ports, protocol, label.
const REST: usize = 11;

/// The flows of an element.
pub(super) struct FlowPort<F: Family> {
    shared: Arc<Shared<F>>,
    outputs: usize,
    /// Flows that may wait.
    room: usize,
    timeout_ns: i64,
    /// The last one that was looked at of those that wait.
    last: Mutex<Option<F::Tuple>>,
}

/// A flow's bytes.
fn key_bytes<F: Family>(lane: u16, key: F::Tuple) -> Vec<u8> {
    let Parts { ends, ports, protocol, label } = F::parts(key);
    let mut bytes = lane.to_be_bytes().to_vec();
    for end in [ends.0, ends.1] {
        match end.into() {
            IpAddr::V4(address) => bytes.extend(address.octets()),
            IpAddr::V6(address) => bytes.extend(address.octets()),
        }
    }
    [ports.0, ports.1].into_iter().for_each(|port| bytes.extend(port.to_be_bytes()));
    bytes.push(protocol);
    bytes.extend(label.to_be_bytes());
    bytes
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let short = || <[u8; 4]>::try_from(bytes).ok().map(|octets| Ipv4Addr::from(octets).into());
    let long = || <[u8; 16]>::try_from(bytes).ok().map(|octets| Ipv6Addr::from(octets).into());
    short().or_else(long)
}

/// The inverse, without the lane.
fn key_of<F: Family>(bytes: &[u8]) -> Option<F::Tuple> {
    let len = bytes.len().checked_sub(REST)? / 2;
    let (source, rest) = bytes.get(2..)?.split_at_checked(len)?;
    let (destination, rest) = rest.split_at_checked(len)?;
    let &[s0, s1, d0, d1, protocol, l0, l1, l2, l3] = rest else { return None };
    let ends = (F::own(address(source)?)?, F::own(address(destination)?)?);
    let ports = (u16::from_be_bytes([s0, s1]), u16::from_be_bytes([d0, d1]));
    Some(F::whole(Parts { ends, ports, protocol, label: u32::from_be_bytes([l0, l1, l2, l3]) }))
}

/// The bytes of a next hop and a time: the time, the output, and the gateway as words, if there is one.
fn went_bytes<F: Family>((hop, at_ns): Went<F>) -> Vec<u8> {
    let mut bytes = at_ns.to_be_bytes().to_vec();
    bytes.extend(hop.port.to_be_bytes());
    if hop.gateway != F::DIRECT {
        bytes.extend(hop.gateway.to_string().into_bytes());
    }
    bytes
}

fn went_of<F: Family>(bytes: &[u8], outputs: usize) -> Option<Went<F>> {
    let (at_ns, rest) = bytes.split_first_chunk()?;
    let (port, words) = rest.split_first_chunk()?;
    let port = u32::from_be_bytes(*port);
    let words = std::str::from_utf8(words).ok()?;
    let gateway = if words.is_empty() { F::DIRECT } else { F::gateway(words.parse().ok()?)? };
    ((port as usize) < outputs).then_some((Hop { gateway, port }, i64::from_be_bytes(*at_ns)))
}

impl<F: Family> FlowPort<F> {
    /// A port to flows of an element with so many outputs, of which `room` may wait for workers.
    pub(super) fn new(shared: Arc<Shared<F>>, outputs: usize, room: usize, timeout: Duration) -> Self {
        let timeout_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        FlowPort { shared, outputs, room, timeout_ns, last: Mutex::default() }
    }

    fn tell(lane: u16, key: F::Tuple, went: Option<Went<F>>, tell: &mut dyn FnMut(Entry<'_>)) {
        let key = key_bytes::<F>(lane, key);
        match went {
            Some(went) => tell(Entry::Put { key: &key, value: &went_bytes::<F>(went) }),
            None => tell(Entry::Gone { key: &key }),
        }
    }

    /// See [`StatePort::changes`].
    pub(super) fn changes_now(&self, most: usize, tell: &mut dyn FnMut(Entry<'_>)) -> Result<bool, Overrun> {
        self.shared.watch.take(most, |lane, Note { key, went }| Self::tell(lane, key, went, tell))
    }

    /// See [`StatePort::scan`].
    pub(super) fn scan_now(
        &self,
        from: u32,
        most: usize,
        now_ns: i64,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32> {
        if from < WORKERS && self.scan_parked(from == 0, most, now_ns, tell) {
            return Some(GOES_ON);
        }
        // Whatever workers have shown by now is among what they have noted by now.
        let is_shown = self.shared.watch.is_shown();
        let more = self.changes_now(most, tell).unwrap_or_else(|Overrun| {
            self.shared.watch.lose();
            true
        });
        (more || !is_shown).then_some(WORKERS)
    }

    /// Tells of some flows that wait. Whether there are more.
    fn scan_parked(&self, is_first: bool, most: usize, now_ns: i64, tell: &mut dyn FnMut(Entry<'_>)) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if is_first {
            *last = None;
        }
        let looked_at;
        (looked_at, *last) = self.shared.some(*last, most, |key, way, seen_ns| {
            if !self.is_over(seen_ns, now_ns) {
                Self::tell(PARKED, key, way.map(|hop| (hop, seen_ns)), tell);
            }
        });
        looked_at == most && most > 0
    }

    fn is_over(&self, seen_ns: i64, now_ns: i64) -> bool {
        self.timeout_ns > 0 && now_ns.saturating_sub(seen_ns) > self.timeout_ns
    }

    /// See [`StatePort::adopt`].
    pub(super) fn adopt_now(
        &self,
        now_ns: i64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    ) {
        let read = |(key, value)| Some((key_of::<F>(key)?, went_of::<F>(value, self.outputs)?));
        self.shared.adopt(entries.map(read), (self.room, self.timeout_ns), now_ns, |is_taken| {
            became(if is_taken { Adopted::Taken } else { Adopted::Refused });
        });
    }
}

impl<F: Family> StatePort for FlowPort<F> {
    fn expect(&self) {
        self.shared.watch.expect();
    }

    fn watch(&self, is_wanted: bool) -> Result<(), String> {
        let is_done = self.shared.watch.want(is_wanted);
        if is_done { Ok(()) } else { Err("its flows are watched already".to_owned()) }
    }

    fn changes(&self, _cx: &Cx<'_>, most: usize, tell: &mut dyn FnMut(Entry<'_>)) -> Result<bool, Overrun> {
        self.changes_now(most, tell)
    }

    /// Flows that had one packet only do not move.
    fn scan(
        &self,
        cx: &Cx<'_>,
        is_confirmed: bool,
        from: u32,
        most: usize,
        tell: &mut dyn FnMut(Entry<'_>),
    ) -> Option<u32> {
        if is_confirmed { self.scan_now(from, most, cx.now_ns(), tell) } else { None }
    }

    fn adopt(
        &self,
        cx: &Cx<'_>,
        _now_ms: u64,
        entries: &mut dyn Iterator<Item = (&[u8], &[u8])>,
        became: &mut dyn FnMut(Adopted),
    ) {
        self.adopt_now(cx.now_ns(), entries, became);
    }
}
