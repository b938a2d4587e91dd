//! Arguments and handlers that all elements with a neighbour table have, and how they are carried out.

use super::state::{News, Timing};
use super::table::{Address, Effects, Limits, Neighbours, Refusal, Waiter};
use router::{Args, Config, ConfigError, Cx, FromArg, Handlers, Metric, Scope};
use std::any::Any;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use wire::MacAddr;

static NEIGHBOURS: Metric = Metric::gauge("clique_neighbour_entries", "Neighbours in the table.");
static NEIGHBOUR_WAITING: Metric =
    Metric::gauge("clique_neighbour_waiting_packets", "Packets that wait for a neighbour's address.");

const SECOND: i64 = 1_000_000_000;

/// Click's times: queries are sent because of packets only.
pub(crate) const CLICK: Timing = Timing {
    reachable_ns: 60 * SECOND,
    delay_ns: 0,
    retrans_ns: SECOND,
    probes: 0,
    timeout_ns: 300 * SECOND,
};

/// Those of RFC 4861, section 10.
pub(crate) const RFC_4861: Timing = Timing {
    reachable_ns: 30 * SECOND,
    delay_ns: 5 * SECOND,
    retrans_ns: SECOND,
    probes: 3,
    timeout_ns: 300 * SECOND,
};

/// Keyword arguments about a table.
#[derive(Default)]
pub(crate) struct TableArgs {
    timeout: Option<Duration>,
    reachable: Option<Duration>,
    delay: Option<Duration>,
    retrans: Option<Duration>,
    probes: Option<u32>,
    capacity: Option<u32>,
    entry_capacity: Option<u32>,
    unknown_capacity: Option<u32>,
    entry_packet_capacity: Option<u32>,
    slim_factor: Option<u32>,
    interface: Option<String>,
}

impl TableArgs {
    /// Adds the keywords to a reader of arguments.
    pub(crate) fn read<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.keyword("CAPACITY", &mut self.capacity)
            .keyword("ENTRY_CAPACITY", &mut self.entry_capacity)
            .keyword("UNKNOWN_CAPACITY", &mut self.unknown_capacity)
            .keyword("ENTRY_PACKET_CAPACITY", &mut self.entry_packet_capacity)
            .keyword("CAPACITY_SLIM_FACTOR", &mut self.slim_factor)
            .keyword("TIMEOUT", &mut self.timeout)
            .keyword("POLL_TIMEOUT", &mut self.reachable)
            .keyword("DELAY", &mut self.delay)
            .keyword("RETRANS", &mut self.retrans)
            .keyword("PROBES", &mut self.probes)
            .keyword("INTERFACE", &mut self.interface)
    }

    /// The limits that they stand for, with these times by default.
    ///
    /// # Errors
    /// A slim factor of zero.
    pub(crate) fn limits(&self, timing: Timing) -> Result<Limits, ConfigError> {
        let sizes = Limits {
            timing,
            packets: 2048,
            entries: 65_536,
            unknown: 1024,
            entry_packets: 0,
            slim_factor: 2,
        };
        self.limits_over(sizes)
    }

    /// These limits, but for what is given.
    ///
    /// # Errors
    /// A slim factor of zero.
    pub(crate) fn limits_over(&self, old: Limits) -> Result<Limits, ConfigError> {
        let defaults = old.timing;
        if self.slim_factor == Some(0) {
            return Err("CAPACITY_SLIM_FACTOR cannot be zero".into());
        }
        if self.retrans.is_some_and(|retrans| retrans.is_zero()) {
            return Err("RETRANS cannot be zero".into());
        }
        let time = |given: Option<Duration>, default| given.map_or(default, nanoseconds);
        let timing = Timing {
            reachable_ns: time(self.reachable, defaults.reachable_ns),
            delay_ns: time(self.delay, defaults.delay_ns),
            retrans_ns: time(self.retrans, defaults.retrans_ns),
            probes: self.probes.unwrap_or(defaults.probes),
            timeout_ns: time(self.timeout, defaults.timeout_ns),
        };
        let size = |given: Option<u32>, default| given.map_or(default, |given| given as usize);
        Ok(Limits {
            timing,
            packets: size(self.capacity, old.packets),
            entries: size(self.entry_capacity, old.entries),
            unknown: size(self.unknown_capacity, old.unknown),
            entry_packets: size(self.entry_packet_capacity, old.entry_packets),
            slim_factor: size(self.slim_factor, old.slim_factor),
        })
    }

    /// How long a neighbour counts as reachable, if that is said.
    pub(crate) fn reachable_ns(&self) -> Option<i64> {
        self.reachable.map(nanoseconds)
    }

    /// What events call the interface: the element's name, unless something else is said.
    pub(crate) fn interface(&self, config: &Config<'_>) -> String {
        self.interface.clone().unwrap_or_else(|| config.name().to_owned())
    }
}

/// A time span in nanoseconds; 0 for spans longer than a century, which are as good as no limit.
fn nanoseconds(span: Duration) -> i64 {
    const CENTURY_NS: i64 = 100 * 366 * 86_400 * SECOND;
    i64::try_from(span.as_nanos()).ok().filter(|ns| *ns < CENTURY_NS).unwrap_or(0)
}

/// Wakes the elements that wait for what happened to a table, and tells the listeners.
pub(crate) fn settle<A: Address>(cx: &mut Cx<'_>, effects: Effects<A>, interface: &str) {
    for Waiter { element, worker } in effects.wake {
        cx.tasks().schedule_element(element, worker);
    }
    if cx.info().events.is_heard() {
        effects
            .changes
            .iter()
            .for_each(|change| cx.info().events.publish(&format!("neighbour {change} {interface}")));
    }
}

/// How an administrator enters an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InsertState {
    /// As one that has just answered.
    Reachable,
    /// As one that was heard of.
    Stale,
    /// For good.
    Permanent,
}

/// What is written to `insert`.
struct Written<A> {
    ip: A,
    mac: MacAddr,
    state: InsertState,
}

impl<A: Address + FromArg> FromArg for Written<A> {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let mut words = lang::conf::split_spaces(text);
        let state = match words.get(2).map(String::as_str) {
            Some("permanent") => InsertState::Permanent,
            Some("stale") => InsertState::Stale,
            _ => InsertState::Reachable,
        };
        words.truncate(if state == InsertState::Reachable { 3 } else { 2 });
        let (mut ip, mut mac) = (None::<A>, MacAddr::ZERO);
        Args::new(words, scope)
            .required("IP", &mut ip)
            .required("ETH", &mut mac)
            .finish()
            .map_err(|error| error.to_string())?;
        Ok(Written { ip: ip.ok_or("expected IP address")?, mac, state })
    }
}

/// Forgets everything.
pub(crate) fn write_clear<A: Address>(
    table: &Neighbours<A>,
    cx: &mut Cx<'_>,
    interface: &str,
) -> Result<(), String> {
    let effects = table.clear(cx.turn()).map_err(Refusal::message)?;
    settle(cx, effects, interface);
    Ok(())
}

/// Declares the handlers of an element that shows its table, and what that calls its interface.
pub(crate) fn handlers<E: Any, A: Address + FromArg>(
    h: &mut Handlers,
    part: fn(&mut E) -> (&Neighbours<A>, &str),
) {
    h.read("table", move |e: &mut E, cx| part(e).0.list(cx.now_ns()));
    h.read("neighbours", move |e: &mut E, cx| part(e).0.states(cx.now_ns()));
    h.read("count", move |e: &mut E, _| part(e).0.len()).measures(&NEIGHBOURS);
    h.read("length", move |e: &mut E, _| part(e).0.waiting().load(Relaxed)).measures(&NEIGHBOUR_WAITING);
    h.read("refused", move |e: &mut E, _| part(e).0.refused().load(Relaxed));
    h.write("insert", move |e: &mut E, cx, text| {
        let (table, interface) = part(e);
        let Written { ip, mac, state } = router::value::<Written<A>>(cx, text)?;
        let heard = News { mac: Some(mac), solicited: false, overrides: true };
        let done = match state {
            // As Click has it: a neighbour whose address is the broadcast address is not there.
            _ if mac.is_broadcast() => table.delete(cx.turn(), ip, cx.now_ns()),
            InsertState::Stale => table.tell(cx.turn(), ip, heard, true, cx.now_ns()),
            state => table.insert(cx.turn(), ip, mac, state == InsertState::Permanent, cx.now_ns()),
        };
        settle(cx, done.map_err(Refusal::message)?, interface);
        Ok(())
    });
    h.write("delete", move |e: &mut E, cx, text| {
        let (table, interface) = part(e);
        let done = table.delete(cx.turn(), router::keyword_value(cx, "IP", text)?, cx.now_ns());
        settle(cx, done.map_err(Refusal::message)?, interface);
        Ok(())
    });
}
