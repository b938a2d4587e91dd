//! Stores Ethernet addresses of IP neighbours.
//!
//! ```click
//! ARPTable([KEYWORDS])
//! ```
//!
//! A table shared by several ARPQueriers: name it in their TABLE arguments. Lookups take no lock, on any number of
//! workers. An ARPQuerier without TABLE has a table of its own.
//!
//! Packets that wait for an address stay in the ARPQuerier at which they arrived and leave by it, no matter which
//! element learns the address.
//!
//! Ports: none. Workers: shared.
//!
//! # Arguments
//! - `CAPACITY` (integer, default 2048): the maximum number of waiting packets; 0 for no limit. When there are more,
//!   some of the packets waiting for the address requested longest ago are dropped.
//! - `ENTRY_CAPACITY` (integer, default 65,536): the maximum number of addresses; 0 for no limit. At the limit a new
//!   address replaces an unresolved one, or the oldest stale one. The oldest reachable one makes room for an address
//!   inserted by a handler, and for one that a packet needs while fewer than one in 16 are unresolved; never for what
//!   others announce.
//! - `UNKNOWN_CAPACITY` (integer, default 1024): the maximum number of unresolved addresses; 0 for no limit. At the
//!   limit a new one replaces the oldest if that was first requested at least 0.1 s ago; otherwise the packet is
//!   dropped.
//! - `ENTRY_PACKET_CAPACITY` (integer, default 0): the maximum number of packets waiting for one address on one
//!   worker; 0 for no limit.
//! - `CAPACITY_SLIM_FACTOR` (integer, default 2): when too many packets wait, one in this many is dropped.
//! - `TIMEOUT` (time, default 5 minutes): how long an address remains valid; 0 means forever.
//! - `POLL_TIMEOUT` (time, default 1 minute): how long a neighbour remains reachable after an answer, before it
//!   becomes stale. 0 means forever.
//! - `DELAY` (time, default 0): time from the first packet for a stale neighbour to the first query that verifies it.
//! - `PROBES` (integer, default 0): the number of unanswered queries after which a neighbour has failed. 0: it never
//!   fails, and queries are sent only when packets need an address.
//! - `RETRANS` (time, default 1 s): time between queries, with PROBES.
//! - `INTERFACE` (word, default the element's name): the name of the interface in events.
//!
//! # Handlers
//! - `table` (read): one line per address, oldest first: IP address, 1 if it is valid and 0 if not, Ethernet address,
//!   seconds since the last update.
//! - `neighbours` (read): one line per address, oldest first: IP address, Ethernet address or `-`, state (incomplete,
//!   reachable, stale, delay, probe, failed, permanent), seconds since the last update.
//! - `drops` (read): packets that were dropped while waiting.
//! - `count` (read): addresses. `length` (read): packets waiting.
//! - `refused` (read): neighbour information that was not believed.
//! - `insert` (write, `IP ETH [permanent | stale]`): adds an address: by default as reachable, as if it had just
//!   answered; or as permanent; or as stale, to be verified when it is used. Packets waiting for it are sent. A
//!   permanent address does not expire, and messages from neighbours do not change it. With `ff:ff:ff:ff:ff:ff` the
//!   address becomes unknown, as with `delete`.
//! - `delete` (write, `IP`): makes an address unknown.
//! - `clear` (write): forgets everything; waiting packets are dropped.
//!
//! # Events
//! `neighbour add|change|delete IP ETH STATE INTERFACE` (see ControlSocket): an address is requested or inserted; its
//! Ethernet address or its state has changed; it is forgotten. When a neighbour becomes stale while it is not in use,
//! the event follows within a quarter of POLL_TIMEOUT.
//!
//! # Example
//! ```click
//! t :: ARPTable(TIMEOUT 60, PROBES 3);
//! q0 :: ARPQuerier(18.26.4.24, 00:00:C0:AE:67:EF, TABLE t);
//! ```
//!
//! # See also
//! ARPQuerier

use crate::neighbour::arguments::{self, CLICK, TableArgs, settle};
use crate::neighbour::querier::{keep, keep_on};
use crate::neighbour::table::{Limits, Neighbours};
use router::{
    BadState, Class, Config, ConfigError, Cx, Element, Handlers, Residency, StateReader, StateWriter,
};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The class.
pub(crate) const CLASS: Class = Class::new("ARPTable", create)
    .ports("0/0")
    .residency(Residency::Shared)
    .live()
    .keeps("neighbours", "ENTRY_CAPACITY", 65_536, 600)
    .doc(router::manual!("arp_table.rs"));

/// The form of what is left to another process.
const FORM: u8 = 1;

struct ARPTable {
    table: Arc<Neighbours>,
    interface: String,
    first: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut args = TableArgs::default();
    args.read(config.args()).finish()?;
    let (limits, key) = (args.limits(CLICK)?, config.common_seed());
    let table = config.shared(|| Ok(Neighbours::new(limits, key)))?;
    let first = config.workers().first() == Some(&config.worker());
    Ok(Box::new(ARPTable { table, interface: args.interface(config), first }))
}

impl Element for ARPTable {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.first {
            keep(cx, &self.table, true);
        }
        Ok(())
    }

    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let mut args = TableArgs::default();
        let read = args.read(router::arguments(cx, config)).finish();
        let old = Limits { timing: CLICK, ..self.table.limits() };
        Some(read.and_then(|()| args.limits_over(old)).map(|limits| self.table.set_limits(limits)))
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        keep_on(cx, &self.table, &self.interface, key);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.table.clone()))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(old) = state.downcast_ref::<Arc<Neighbours>>() {
            let effects = self.table.adopt(old, cx.turn(), cx.now_ns());
            self.table.drops().fetch_max(old.drops().load(Relaxed), Relaxed);
            settle(cx, effects, &self.interface);
        }
    }

    /// The neighbours that are known; of all instances the first one writes.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        if self.first {
            out.form(FORM);
            out.u64(self.table.drops().load(Relaxed));
            self.table.write(out, cx.now_ns());
        }
        self.first
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        self.table.drops().fetch_add(state.u64()?, Relaxed);
        let interface = self.interface.clone();
        self.table.read(state, cx.turn(), cx.now_ns(), |effects| settle(cx, effects, &interface))
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = ARPTable;
        arguments::handlers(h, |e: &mut T| (&*e.table, e.interface.as_str()));
        h.read("drops", |e: &mut T, _| e.table.drops().load(Relaxed));
        h.write("clear", |e: &mut T, cx, _| arguments::write_clear(&e.table, cx, &e.interface));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use router::Call;

    /// Handlers show and change the table in Click's formats.
    #[test]
    fn handlers_show_and_change_the_table() {
        let mut router =
            build("t :: ARPTable(TIMEOUT 60); InfiniteSource(ACTIVE false) -> Discard", 1, 1).unwrap();
        let mut call = |call| router.call(call);
        assert_eq!(call(Call::write("t.insert", "10.0.0.2 0:1:2:3:4:5")), Ok(String::new()));
        assert_eq!(call(Call::write("t.insert", "10.0.0.1 0:1:2:3:4:6")), Ok(String::new()));
        assert_eq!(call(Call::write("t.delete", "10.0.0.2")), Ok(String::new()));
        let table = "10.0.0.1 1 00-01-02-03-04-06 0.000000\n10.0.0.2 0 FF-FF-FF-FF-FF-FF 0.000000\n";
        assert_eq!(call(Call::read("t.table", "")), Ok(table.to_owned()));
        assert_eq!(call(Call::read("t.count", "")), Ok("2".to_owned()));
        assert!(call(Call::write("t.insert", "10.0.0.2")).unwrap_err().message.contains("ETH"));
        for (how, state) in [("", "reachable"), (" stale", "reachable"), (" permanent", "permanent")] {
            assert_eq!(
                call(Call::write("t.insert", format!("10.0.0.3 0:1:2:3:4:7{how}"))),
                Ok(String::new())
            );
            let states = call(Call::read("t.neighbours", "")).unwrap();
            assert!(states.contains(&format!("10.0.0.3 00-01-02-03-04-07 {state}")), "{how}: {states}");
        }
        assert_eq!(call(Call::write("t.insert", "10.0.0.4 0:1:2:3:4:8 stale")), Ok(String::new()));
        assert!(call(Call::read("t.neighbours", "")).unwrap().contains("10.0.0.4 00-01-02-03-04-08 stale"));
        for (ip, how) in [("10.0.0.4", ""), ("10.0.0.3", " permanent"), ("10.0.0.1", " stale")] {
            assert_eq!(
                call(Call::write("t.insert", format!("{ip} ff:ff:ff:ff:ff:ff{how}"))),
                Ok(String::new())
            );
            let table = call(Call::read("t.table", "")).unwrap();
            assert!(table.contains(&format!("{ip} 0 FF-FF-FF-FF-FF-FF")), "{ip}: {table}");
        }
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
