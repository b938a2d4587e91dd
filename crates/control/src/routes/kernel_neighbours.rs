//! Takes neighbours from the kernel.
//!
//! ```click
//! KernelNeighbours(INTERFACE TABLE [TABLE6], ...)
//! ```
//!
//! Keeps neighbour tables in step with the kernel's. Of the neighbours on INTERFACE, those of IPv4 go to the element
//! TABLE, an ARPQuerier or ARPTable, and those of IPv6 to TABLE6, an IP6NDSolicitor; either may be a hyphen. Changes
//! are applied as they happen (rtnetlink).
//!
//! Neighbours entered by an administrator (`ip neighbour replace ... nud permanent`) are permanent until they are
//! removed. A neighbour that has answered the kernel is reachable; one that the kernel has only heard of is stale,
//! and is verified when packets are sent to it. Neighbours that the kernel does not know, or has forgotten, change
//! nothing: the tables resolve addresses themselves.
//!
//! If the kernel reports that messages were lost because the socket's buffer was full, all neighbours are read again.
//! If a program error occurs in the thread that reads them, it starts over.
//!
//! Ports: none. Workers: exclusive. Neighbours are read by a separate thread.
//!
//! # Arguments
//! - `INTERFACE TABLE [TABLE6]`: an interface and its tables, as in `eth0 arp0 nd0`; one argument for each.
//!
//! # Handlers
//! - `stats` (read): one number per line: `messages` about neighbours, `changes` sent to tables, changes that they
//!   `refused`, `overruns` (how often messages were lost), and `restarts` (program errors survived).
//! - `panic` (write, button): makes the thread fail, to test the recovery.
//!
//! # Example
//! ```click
//! arp :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1); nd :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1);
//! KernelNeighbours(eth0 arp nd);
//! ```
//!
//! # See also
//! ARPQuerier, ARPTable, IP6NDSolicitor, KernelRoutes

use super::arguments::Tables;
use super::fib::Ports;
use super::install::{Shared, Target};
use super::links;
use super::listening;
use super::netlink::{Message, Neighbour, RTM_GETNEIGH, Standing};
use crate::feed::{Feed, Priority, Waiter, Wake};
use crate::kernel::{Ear, End, Event, List};
use router::{Call, Class, Config, ConfigError, Cx, Element, ElementName, FromArg, Handlers, Residency};
use std::any::Any;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelNeighbours", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("kernel_neighbours.rs"));

/// What the kernel reports: neighbours (`RTMGRP_NEIGH`).
const GROUPS: u32 = 4;
/// What is read of them.
const LISTS: &[List] = &[List::of(RTM_GETNEIGH)];

/// An interface, and the names of its tables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InterfaceTables {
    interface: String,
    v4: Option<String>,
    v6: Option<String>,
}

/// Timer: the router runs.
const START: u32 = 0;

struct KernelNeighbours {
    tables: Vec<InterfaceTables>,
    /// What the thread will listen to.
    ear: Option<Ear<Message>>,
    feed: Option<Feed<Shared>>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut arguments = Vec::<String>::new();
    config.args().rest(&mut arguments).finish()?;
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for argument in &arguments {
        let words: Vec<&str> = argument.split_whitespace().collect();
        let element = |word: &str| match word {
            "-" => Ok(None),
            word => ElementName::from_arg(word, config.scope()).map(|element| Some(element.name)),
        };
        let tables = match words[..] {
            [interface, v4] => {
                element(v4).map(|v4| InterfaceTables { interface: interface.to_owned(), v4, v6: None })
            }
            [interface, v4, v6] => element(v4)
                .and_then(|v4| Ok(InterfaceTables { interface: interface.to_owned(), v4, v6: element(v6)? })),
            _ => Err(format!("expected 'INTERFACE TABLE [TABLE6]', as in 'eth0 arp0 nd0', not '{argument}'")),
        };
        match tables {
            Ok(tables) => all.push(tables),
            Err(error) => errors.push(error),
        }
    }
    if arguments.is_empty() {
        errors.push("no interface: give 'INTERFACE TABLE [TABLE6]' for each".to_owned());
    }
    if !errors.is_empty() {
        return Err(ConfigError::from(errors));
    }
    Ok(Box::new(KernelNeighbours { tables: all, ear: None, feed: None }))
}

impl Element for KernelNeighbours {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.ear = Some(listening::ear(GROUPS, LISTS)?);
        cx.timers().after(START, Duration::ZERO);
        Ok(())
    }

    /// The router runs.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let Some(ear) = self.ear.take() else { return };
        let tables = Tables { v4: None, v6: None, ports: Ports::default() };
        let shared = Arc::new(Shared::new(Target {
            handle: cx.handle(),
            name: cx.name().to_owned(),
            element: cx.index(),
            tables,
            routes: [None, None],
        }));
        let tables = self.tables.clone();
        let mut mirror = Mirror { ear, tables, names: Vec::new(), permanent: HashSet::new() };
        match Feed::start_lasting(
            "routes",
            Priority::BehindPackets,
            shared,
            Shared::panicked,
            move |shared, waiter| mirror.listen(shared, waiter),
        ) {
            Ok(feed) => self.feed = Some(feed),
            Err(error) => cx.error(format_args!("{}: {error}", cx.name())),
        }
    }

    /// The new element asks the kernel itself; but from now on only one of them may speak to the tables.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.feed.take().map(|feed| Box::new(feed) as Box<dyn Any + Send>)
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(feed) = state.downcast::<Feed<Shared>>() {
            feed.let_go();
        }
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        self.feed = None;
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("stats", |e: &mut KernelNeighbours, _| {
            let Some(feed) = &e.feed else { return String::new() };
            let counters = &feed.shared.counters;
            let numbers = [
                ("messages", &counters.messages),
                ("changes", &counters.changes),
                ("refused", &counters.refused),
                ("overruns", &counters.overruns),
                ("restarts", &counters.restarts),
            ];
            numbers.map(|(name, count)| format!("{name} {}\n", count.load(Relaxed))).concat()
        });
        h.write("panic", |e: &mut KernelNeighbours, _, _| {
            e.feed.iter().for_each(Shared::panic);
            Ok(())
        })
        .as_button();
    }
}

/// The thread's part.
struct Mirror {
    ear: Ear<Message>,
    tables: Vec<InterfaceTables>,
    /// Numbers and names of interfaces, as they were when last looked at.
    names: Vec<(u32, String)>,
    /// Those that tables were told are permanent.
    permanent: HashSet<(u32, IpAddr)>,
}

impl Mirror {
    /// Listens until the end. Called again after a panic.
    fn listen(&mut self, shared: &Shared, waiter: &Waiter) {
        self.ear.spoil();
        loop {
            if let Wake::Stop = waiter.wait(&[self.ear.descriptor()], self.ear.next()) {
                return;
            }
            for event in self.ear.hear() {
                self.take(event, shared);
            }
            assert!(!shared.panic.swap(false, Relaxed), "as asked for");
        }
    }

    /// Nothing follows from the end of a reading: what the kernel does not know changes nothing.
    fn take(&mut self, event: Event<Message>, shared: &Shared) {
        match event {
            Event::Message(Message::Neighbour(neighbour)) => self.take_neighbour(&neighbour, shared),
            Event::Lost => drop(shared.counters.overruns.fetch_add(1, Relaxed)),
            Event::Ended(End::Failed(Some(error))) => {
                shared.log(&format!("the kernel does not list its neighbours: {error}"));
            }
            Event::Begun | Event::Ended(_) | Event::Message(_) => {}
        }
    }

    fn take_neighbour(&mut self, neighbour: &Neighbour, shared: &Shared) {
        shared.counters.messages.fetch_add(1, Relaxed);
        let Some(table) = self.table(neighbour) else { return };
        for (handler, text) in words(neighbour, &mut self.permanent) {
            tell(shared, &format!("{table}.{handler}"), &text);
        }
    }

    /// The table that a neighbour belongs to.
    fn table(&mut self, neighbour: &Neighbour) -> Option<String> {
        if !self.names.iter().any(|(number, _)| *number == neighbour.interface) {
            self.names = links::all();
        }
        let (_, name) = self.names.iter().find(|(number, _)| *number == neighbour.interface)?;
        let tables = self.tables.iter().find(|tables| tables.interface == *name)?;
        if neighbour.address.is_ipv4() { tables.v4.clone() } else { tables.v6.clone() }
    }
}

/// What a table is told of a neighbour: handlers, and what is written to them. `permanent` holds those that it knows to be permanent.
fn words(of: &Neighbour, permanent: &mut HashSet<(u32, IpAddr)>) -> Vec<(&'static str, String)> {
    let (key, address) = ((of.interface, of.address), of.address);
    let mut told = Vec::new();
    let was = permanent.contains(&key);
    if was && of.standing != Standing::Permanent {
        permanent.remove(&key);
        told.push(("delete", address.to_string()));
    }
    let how = match of.standing {
        Standing::Permanent => " permanent",
        Standing::Reachable => "",
        Standing::Heard => " stale",
        Standing::Unknown => return told,
    };
    // Neither groups nor what is on no Ethernet.
    let Some(mac) = of.mac.filter(|mac| mac[0] & 1 == 0 && *mac != [0; 6]) else { return told };
    if of.standing == Standing::Permanent {
        permanent.insert(key);
    }
    let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
    told.push(("insert", format!("{address} {mac}{how}")));
    told
}

fn tell(shared: &Shared, path: &str, text: &str) {
    match shared.target().handle.call(Call::write(path, text)) {
        Ok(_) => drop(shared.counters.changes.fetch_add(1, Relaxed)),
        Err(error) => {
            if shared.counters.refused.fetch_add(1, Relaxed) == 0 {
                shared.log(&format!("{path} refuses '{text}': {error} (said once; see 'refused')"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tables_are_told() {
        let mut permanent = HashSet::new();
        let mut said = |standing, mac: u8| {
            let address = "10.0.0.9".parse().expect("an address");
            let of = Neighbour { address, interface: 2, mac: Some([mac, 0, 0, 0, 0, 9]), standing };
            let told = words(&of, &mut permanent);
            told.into_iter().map(|(handler, text)| format!("{handler} {text}")).collect::<Vec<_>>().join("; ")
        };
        assert_eq!(said(Standing::Reachable, 2), "insert 10.0.0.9 02:00:00:00:00:09");
        assert_eq!(said(Standing::Heard, 2), "insert 10.0.0.9 02:00:00:00:00:09 stale");
        assert_eq!(said(Standing::Unknown, 2), "");
        assert_eq!(said(Standing::Permanent, 4), "insert 10.0.0.9 04:00:00:00:00:09 permanent");
        assert_eq!(said(Standing::Heard, 2), "delete 10.0.0.9; insert 10.0.0.9 02:00:00:00:00:09 stale");
        assert_eq!(said(Standing::Permanent, 4), "insert 10.0.0.9 04:00:00:00:00:09 permanent");
        assert_eq!(
            (said(Standing::Unknown, 4), said(Standing::Unknown, 4)),
            ("delete 10.0.0.9".into(), String::new())
        );
        assert_eq!(said(Standing::Reachable, 1), "", "a group's address");
    }
}
