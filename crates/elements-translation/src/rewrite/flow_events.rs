//! What happens to flows, for an element that tells collectors of it.
//!
//! A table has a log in each of its lanes, and writes to it where flows are made or end, with the lane's lock in hand. Packets of known
//! flows write nothing. Nothing is written either as long as no element asks for it.

use elements_shared::flow_filter::protocol_name;
use elements_shared::flow_id::FlowId;
use router::Info;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Events that wait in a log, at most.
pub(crate) const WAITING: usize = 8192;
/// How long after a shortage the next one is told.
const APART_MS: u64 = 1000;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A translator has a new flow.
    SessionMade,
    SessionEnded,
    /// A translator maps another endpoint, wherever that sends.
    MappingMade,
    MappingEnded,
    /// A flow could not be made: no port was left, or no address.
    NoPorts,
    NoAddresses,
    /// A flow could not be made: there are as many already as there may be.
    Full(u32),
    /// A connection is remembered.
    Begun,
    Over,
    /// A connection could not be remembered, and its packet was dropped.
    Denied,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Milliseconds since the epoch.
    pub(crate) at_ms: u64,
    pub(crate) what: What,
    /// 0 if it does not matter.
    pub(crate) protocol: u8,
    /// Address and port (or ICMP's identifier) of the one that sent the first packet, and of the other.
    pub(crate) ends: [(IpAddr, u16); 2],
    /// What a translator makes of them.
    pub(crate) translated: [(Ipv4Addr, u16); 2],
}

/// A translator's flow: `udp 10.0.0.1 4000 192.0.2.1 53 > 203.0.113.2 4000 192.0.2.1 53`.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(source, sport), (destination, dport)] = self.ends;
        write!(f, "{} {source} {sport} {destination} {dport}", protocol_name(self.protocol))?;
        let [(source, sport), (destination, dport)] = self.translated;
        write!(f, " > {source} {sport} {destination} {dport}")
    }
}

impl Event {
    /// An event of which nothing else is known.
    pub(crate) fn new(what: What) -> Event {
        let nowhere = Ipv4Addr::UNSPECIFIED;
        Event { at_ms: 0, what, protocol: 0, ends: [(nowhere.into(), 0); 2], translated: [(nowhere, 0); 2] }
    }
}

/// Who hears of flows that begin and end, as text: who watches the router's events.
#[derive(Default)]
pub(crate) struct Listener {
    /// Whether there are listeners, as far as is known, and at which router.
    is_heard: AtomicBool,
    at: AtomicUsize,
    to: Mutex<(Weak<Info>, String)>,
}

impl Listener {
    /// Looks whether there are listeners to what the element with a name tells. To be called now and then, where flows come and go.
    #[inline]
    pub(crate) fn listen(&self, info: &Arc<Info>, element: &str) {
        let is_heard = info.events.is_heard();
        // The reference that is kept of a router that is gone keeps its place from others.
        let is_known = self.at.load(Relaxed) == Arc::as_ptr(info).addr();
        if is_heard != self.is_heard.load(Relaxed) || is_heard && !is_known {
            self.turn_to(info, element, is_heard);
        }
    }

    #[cold]
    fn turn_to(&self, info: &Arc<Info>, element: &str, is_heard: bool) {
        *self.to.lock().unwrap_or_else(PoisonError::into_inner) = (Arc::downgrade(info), element.to_owned());
        self.at.store(Arc::as_ptr(info).addr(), Relaxed);
        self.is_heard.store(is_heard, Relaxed);
    }

    /// Tells what happens to a flow, and to which, if there are listeners.
    #[inline]
    pub(crate) fn tell(&self, what: &str, flow: impl FnOnce() -> String) {
        if self.is_heard.load(Relaxed) {
            self.publish(what, &flow());
        }
    }

    #[cold]
    fn publish(&self, what: &str, flow: &str) {
        let to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(info) = to.0.upgrade() {
            info.events.publish(&format!("flow {what} {} {flow}", to.1));
        }
    }
}

/// Says who the source and destination of a flow's first packets are, where the flow's identifier has numbers for them.
pub(crate) trait Ends: Send + Sync {
    /// Addresses and ports.
    fn ends(&self, id: FlowId) -> [(IpAddr, u16); 2];
}

/// A lane's events that have not been taken yet.
#[derive(Default)]
pub(crate) struct Log {
    is_wanted: bool,
    is_paused: bool,
    now_ms: u64,
    /// When a shortage was told.
    short_ms: Option<u64>,
    events: Vec<Event>,
    lost: u64,
}

impl Log {
    /// Says whether an element asks for events. Those that wait for one that does not are forgotten.
    pub(crate) fn want(&mut self, is_wanted: bool) {
        self.is_wanted = is_wanted;
        if is_wanted {
            self.events.reserve_exact(WAITING.saturating_sub(self.events.capacity()));
        } else {
            (self.events, self.lost) = (Vec::new(), 0);
        }
    }

    /// Writes nothing for a while: flows come from one configuration to the next.
    pub(crate) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Tells the time of the events that follow.
    #[inline]
    pub(crate) fn set_now(&mut self, now_ms: u64) {
        self.now_ms = now_ms;
    }

    /// Adds an event, if there is one. Counts it as lost if too many wait.
    #[inline]
    pub(crate) fn add(&mut self, event: impl FnOnce() -> Option<Event>) {
        if self.is_wanted && !self.is_paused {
            event().into_iter().for_each(|event| self.write(event));
        }
    }

    /// Adds a shortage, if none was told in the last second.
    pub(crate) fn add_shortage(&mut self, event: impl FnOnce() -> Event) {
        let now_ms = self.now_ms;
        if self.short_ms.is_none_or(|told_ms| now_ms.abs_diff(told_ms) >= APART_MS) {
            self.short_ms = Some(now_ms);
            self.add(|| Some(event()));
        }
    }

    #[cold]
    fn write(&mut self, event: Event) {
        if self.events.len() < WAITING {
            self.events.push(Event { at_ms: self.now_ms, ..event });
        } else {
            self.lost += 1;
        }
    }

    /// Exchanges the events for an empty list with room. Returns how many others were lost. The time, if it is known, is that of what comes
    /// next, too.
    pub(crate) fn take(&mut self, now_ms: Option<u64>, list: &mut Vec<Event>) -> u64 {
        self.now_ms = now_ms.unwrap_or(self.now_ms);
        std::mem::swap(&mut self.events, list);
        std::mem::take(&mut self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what is asked for is kept, up to the bound; the rest is counted. Shortages are told once a second.
    #[test]
    fn a_log_is_bounded() {
        let mut log = Log::default();
        let begun = || Some(Event::new(What::Begun));
        log.add(begun);
        let mut list = Vec::with_capacity(WAITING);
        assert_eq!((log.take(Some(5), &mut list), list.len()), (0, 0));
        log.want(true);
        log.set_now(7);
        (0..WAITING + 3).for_each(|_| log.add(begun));
        log.pause(true);
        log.add(begun);
        log.pause(false);
        assert_eq!((log.take(None, &mut list), list.len(), list[0].at_ms), (3, WAITING, 7));
        list.clear();
        let short = || Event::new(What::NoPorts);
        for now_ms in [2000, 2999, 3000, 3001, 100] {
            log.set_now(now_ms);
            log.add_shortage(short);
        }
        assert_eq!(log.take(None, &mut list), 0);
        assert_eq!(list.iter().map(|event| event.at_ms).collect::<Vec<_>>(), [2000, 3000, 100]);
        log.add(begun);
        log.want(false);
        list.clear();
        assert_eq!((log.take(None, &mut list), list.len()), (0, 0));
    }
}
