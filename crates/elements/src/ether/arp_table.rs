//! Holds Ethernet addresses of IP neighbours.
//!
//! ```click
//! ARPTable([KEYWORDS])
//! ```
//!
//! An information element that ARPQueriers share: name it in their TABLE arguments. Look-ups take no lock, on any number
//! of workers. An ARPQuerier without TABLE has a table of its own.
//!
//! Packets that wait for an address stay with the ARPQuerier that has them, and leave by that ARPQuerier whoever learns
//! the address.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 2048): packets that wait at a time; 0 for no limit. When there are more, some of the
//!   packets that waited for the address wanted first are dropped.
//! - `ENTRY_CAPACITY` (integer, default 0): addresses; 0 for no limit. When there are more, the oldest are forgotten.
//! - `ENTRY_PACKET_CAPACITY` (integer, default 0): packets that wait for one address on one worker; 0 for no limit.
//! - `CAPACITY_SLIM_FACTOR` (integer, default 2): when too many packets wait, one out of this many is dropped.
//! - `TIMEOUT` (time, default 5 minutes): how long an address is believed; 0 for ever.
//!
//! # Handlers
//! - `table` (read): a line for each address, oldest first: IP address, 1 if it is valid and 0 if not, Ethernet address,
//!   seconds since the last news.
//! - `drops` (read): packets that waited in vain.
//! - `count` (read): addresses. `length` (read): packets that wait.
//! - `insert` (write, `IP ETH`): adds an address; packets that wait for it are sent.
//! - `delete` (write, `IP`): makes an address unknown.
//! - `clear` (write): forgets everything; packets that wait are dropped.
//!
//! # Example
//! ```click
//! t :: ARPTable(TIMEOUT 60);
//! q0 :: ARPQuerier(18.26.4.24, 00:00:C0:AE:67:EF, TABLE t);
//! ```
//!
//! # See also
//! ARPQuerier

use super::neighbours::{Address, Full, Limits, Neighbours, Waiter};
use router::{Args, Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Refused, Residency, Scope};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use wire::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPTable", create)
    .ports("0/0")
    .residency(Residency::Shared)
    .doc(include_str!("arp_table.rs"));

/// Keyword arguments about a table, which ARPQuerier has, too.
#[derive(Default)]
pub(super) struct TableArgs {
    timeout: Option<Duration>,
    capacity: Option<u32>,
    entry_capacity: Option<u32>,
    entry_packet_capacity: Option<u32>,
    slim_factor: Option<u32>,
}

impl TableArgs {
    /// Adds the keywords to a reader of arguments.
    pub(super) fn read<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.keyword("CAPACITY", &mut self.capacity)
            .keyword("ENTRY_CAPACITY", &mut self.entry_capacity)
            .keyword("ENTRY_PACKET_CAPACITY", &mut self.entry_packet_capacity)
            .keyword("CAPACITY_SLIM_FACTOR", &mut self.slim_factor)
            .keyword("TIMEOUT", &mut self.timeout)
    }

    /// The limits that they stand for.
    ///
    /// # Errors
    /// A slim factor of zero.
    pub(super) fn limits(&self) -> Result<Limits, ConfigError> {
        if self.slim_factor == Some(0) {
            return Err("CAPACITY_SLIM_FACTOR cannot be zero".into());
        }
        let default = Limits::default();
        let size = |given: Option<u32>, default| given.map_or(default, |given| given as usize);
        Ok(Limits {
            timeout_ns: self.timeout.map_or(default.timeout_ns, nanoseconds),
            packets: size(self.capacity, default.packets),
            entries: size(self.entry_capacity, default.entries),
            entry_packets: size(self.entry_packet_capacity, default.entry_packets),
            slim_factor: size(self.slim_factor, default.slim_factor),
        })
    }
}

/// A time span in nanoseconds; 0 for spans longer than a century, which are as good as no limit.
pub(super) fn nanoseconds(span: Duration) -> i64 {
    const CENTURY_NS: i64 = 100 * 366 * 86_400 * 1_000_000_000;
    i64::try_from(span.as_nanos()).ok().filter(|ns| *ns < CENTURY_NS).unwrap_or(0)
}

/// Wakes whoever waits for something that happened to a table.
pub(super) fn wake(cx: &Cx<'_>, waiters: Vec<Waiter>) {
    for Waiter { element, worker } in waiters {
        cx.schedule_element(element, worker);
    }
}

/// When to look for addresses that have expired, for the first time and afterwards.
pub(super) fn expiry_timer<A: Address>(cx: &mut Cx<'_>, table: &Neighbours<A>, first: bool) {
    if table.limits().timeout_ns > 0 {
        let whole_s = table.limits().timeout_ns as u64 / 1_000_000_000;
        cx.timer_after(0, Duration::from_secs(whole_s + u64::from(!first)));
    }
}

/// What is written to `insert`.
struct Pair(Ipv4Addr, MacAddr);

impl FromArg for Pair {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let (mut ip, mut mac) = (Ipv4Addr::UNSPECIFIED, MacAddr::ZERO);
        Args::new(lang::conf::split_spaces(text), scope)
            .required("IP", &mut ip)
            .required("ETH", &mut mac)
            .finish()
            .map_err(|error| error.to_string())?;
        Ok(Pair(ip, mac))
    }
}

/// Performs a write to `insert`.
pub(super) fn write_insert(table: &Neighbours, cx: &Cx<'_>, text: &str) -> Result<(), String> {
    let Pair(ip, mac) = router::value(cx, text)?;
    let woken = table.insert(cx.turn(), ip, mac, cx.now_ns()).map_err(|Full| Full::MESSAGE)?;
    wake(cx, woken);
    Ok(())
}

/// Performs a write to `delete`.
pub(super) fn write_delete(table: &Neighbours, cx: &Cx<'_>, text: &str) -> Result<(), String> {
    let ip = router::value(cx, text)?;
    table.insert(cx.turn(), ip, MacAddr::BROADCAST, cx.now_ns()).map_err(|Full| Full::MESSAGE)?;
    Ok(())
}

/// Performs a write to `clear`.
pub(super) fn write_clear(table: &Neighbours, cx: &Cx<'_>) -> Result<(), String> {
    let woken = table.clear(cx.turn()).map_err(|Full| Full::MESSAGE)?;
    wake(cx, woken);
    Ok(())
}

struct ARPTable {
    table: Arc<Neighbours>,
    first: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut args = TableArgs::default();
    args.read(config.args()).finish()?;
    let limits = args.limits()?;
    let table = config.shared(|| Ok(Neighbours::new(limits)))?;
    Ok(Box::new(ARPTable { table, first: config.workers().first() == Some(&config.worker()) }))
}

impl Element for ARPTable {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.first {
            expiry_timer(cx, &self.table, true);
        }
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        wake(cx, self.table.expire(cx.turn(), cx.now_ns()));
        expiry_timer(cx, &self.table, false);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.table.clone()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Some(old) = state.downcast_ref::<Arc<Neighbours>>() {
            let woken = self.table.adopt(old, cx.turn(), cx.now_ns());
            self.table.drops().fetch_max(old.drops().load(Relaxed), Relaxed);
            wake(cx, woken);
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = ARPTable;
        h.read("table", |e: &mut T, cx| e.table.list(cx.now_ns()));
        h.read("drops", |e: &mut T, _| e.table.drops().load(Relaxed));
        h.read("count", |e: &mut T, _| e.table.len());
        h.read("length", |e: &mut T, _| e.table.waiting().load(Relaxed));
        h.write("insert", |e: &mut T, cx, text| write_insert(&e.table, cx, text));
        h.write("delete", |e: &mut T, cx, text| write_delete(&e.table, cx, text));
        h.write("clear", |e: &mut T, cx, _| write_clear(&e.table, cx));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use router::Call;

    /// Handlers show and change the table in Click's formats.
    #[test]
    fn handlers() {
        let mut router =
            build("t :: ARPTable(TIMEOUT 60); InfiniteSource(ACTIVE false) -> Discard", 1, 1).unwrap();
        let mut call = |call| router.call(call);
        assert_eq!(call(Call::write("t.insert", "10.0.0.2 0:1:2:3:4:5")), Ok(String::new()));
        assert_eq!(call(Call::write("t.insert", "10.0.0.1 0:1:2:3:4:6")), Ok(String::new()));
        assert_eq!(call(Call::write("t.delete", "10.0.0.2")), Ok(String::new()));
        let table = "10.0.0.1 1 00-01-02-03-04-06 0.000000\n10.0.0.2 0 FF-FF-FF-FF-FF-FF 0.000000\n";
        assert_eq!(call(Call::read("t.table", "")), Ok(table.to_owned()));
        assert_eq!(call(Call::read("t.count", "")), Ok("2".to_owned()));
        assert!(call(Call::write("t.insert", "10.0.0.2")).unwrap_err().contains("ETH"));
        assert_eq!(call(Call::write("t.clear", "")), Ok(String::new()));
        assert_eq!(call(Call::read("t.table", "")), Ok(String::new()));
        assert_eq!(call(Call::read("t.drops", "")), Ok("0".to_owned()));
    }

    #[test]
    fn bad_arguments() {
        let text = errors("ARPTable(CAPACITY_SLIM_FACTOR 0)");
        assert!(text.contains("CAPACITY_SLIM_FACTOR cannot be zero"), "{text}");
    }
}
