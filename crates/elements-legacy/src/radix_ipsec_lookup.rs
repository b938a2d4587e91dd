//! Looks up IPv4 routes, some of which lead into IPsec tunnels (old).
//!
//! ```click
//! RadixIPsecLookup(ADDR/MASK [GATEWAY] OUTPUT [SPI ENCRYPT_KEY AUTH_KEY REPLAY OOSIZE], ...)
//! ```
//!
//! For configurations that use Click's IPsec elements. New ones should use RadixIPLookup, and an ESPEncap and ESPDecap for each tunnel: the DES
//! and SHA-1 that this table works with are weak, and its keys are written into the configuration and never change by themselves.
//!
//! A packet has to begin with its IP header. It leaves by the OUTPUT of the longest prefix that contains its destination annotation; if the route
//! has a GATEWAY, the annotation is set to it. The first outputs are for tunnels:
//!
//! - Output 1: packets that enter a tunnel. They are annotated with the route's association, for IPsecESPEncap, IPsecAuthHMACSHA1 and IPsecAES or
//!   IPsecDES. IPsecEncap then prepends a header for the gateway, and the packets come back here to be routed to it.
//! - Output 0: packets of a tunnel that ends at this router, with an ESP header after the IP header. They are annotated with the association of any
//!   route that has their SPI, for StripIPHeader, IPsecAES or IPsecDES, IPsecAuthHMACSHA1 and IPsecESPUnencap. Packets with an unknown SPI are dropped,
//!   and so are fragments: put an IPReassembler before this element. Packets of such a route without an ESP header are for this machine, and leave
//!   by output 2.
//!
//! As in Click, an association is for both directions. Routes with the same parameters share one. The annotation, IPSEC_SA_DATA_REFERENCE, is a
//! number by which the other elements find the association, whichever RadixIPsecLookup it belongs to. Packets whose association has been removed
//! are dropped.
//!
//! When the configuration is replaced while the router runs, associations with the same parameters keep their sequence numbers. Routes that were
//! added by handlers move to the table of the same name, unless its configuration has a route for the prefix.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: one shared table.
//!
//! # Arguments
//! - `ADDR/MASK [GATEWAY] OUTPUT`, any number: routes. If a prefix occurs more than once, the first route counts. Packets without a route are
//!   dropped, and the first few of them reported. A route into a tunnel continues with:
//! - `SPI` (integer, 1 or more): the number by which the receiver finds the association.
//! - `ENCRYPT_KEY`, `AUTH_KEY` (string): keys of 16 octets, which may be written as 32 hexadecimal digits. Users who can read the
//!   configuration's file can read them; handlers and messages do not show them.
//! - `REPLAY` (integer, 1 or more): the first sequence number.
//! - `OOSIZE` (integer, 0 to 255): the size of the replay window, in sequence numbers up to and including the greatest one received. Click itself
//!   remembers 32.
//!
//! # Handlers
//! - `add` (write, a route): add a route for a new prefix. `set`: add or replace a route; an association with the same parameters stays.
//! - `remove` (write, `ADDR/MASK [[GATEWAY] OUTPUT]`): remove a route.
//! - `ctrl` (write): one command (`add`, `set`, `remove`) per line; if one fails, none is carried out. Each write takes time in proportion to the
//!   number of routes.
//! - `table` (read): all routes; for associations the SPI, the number of packets sent and the last sequence number received, but no keys.
//! - `lookup` (read, with an address): the output and gateway for it, -1 if there is no route.
//!
//! # Example
//! ```click
//! Idle -> r :: RadixIPsecLookup(10.0.2.0/24 192.0.2.2 1 234 \<0183A947 1ABE01FF FA04103B B1020304> \<112233EE 55667788 88776655 44332211> 300 64);
//! r[0] -> StripIPHeader -> IPsecAES(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> CheckIPHeader -> Discard;
//! r[1] -> IPsecESPEncap -> IPsecAuthHMACSHA1(0) -> IPsecAES(1) -> IPsecEncap(esp) -> Discard;
//! ```
//!
//! # See also
//! RadixIPLookup, IPsecESPEncap, IPsecESPUnencap, IPsecAuthHMACSHA1, IPsecAES, IPsecDES, IPsecEncap, ESPEncap, ESPDecap

use super::table::{CLASS_NAME, Change, Refusal, Route, State, Table, name};
use super::words::{ROUTE, hidden, removed, route, shown, shown_gateway};
use elements_shared::route_text::line;
use lpm::Prefix;
use packet::{Anno, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Flags, Handlers, Level, Residency, Scope, Verdict};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::{esp, ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new(CLASS_NAME, create)
    .ports("1/-")
    .processing("h/h")
    .residency(Residency::Shared)
    .kinds(&["IPsecRouteTable"])
    .hides(hidden)
    .doc(router::manual!("radix_ipsec_lookup.rs"));

/// Where packets come out of tunnels.
const INBOUND: u32 = 0;
/// Where they go into them.
const OUTBOUND: u32 = 1;
/// Where packets go that are for this machine.
const LOCAL: usize = 2;
/// Messages about packets, each instance.
const COMPLAINTS: u32 = 5;

struct RadixIpsecLookup {
    table: Arc<Table>,
    outputs: usize,
    guide: Guide,
    /// Routes of another configuration that were not taken over, because their output is gone.
    lost: usize,
}

/// Sends packets where routes lead.
struct Guide {
    /// Where packets go that are for this machine, if it is in use.
    local: Option<usize>,
    complaints: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut texts, mut routes, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    config.args().rest(&mut texts).finish()?;
    let outputs = config.outputs();
    for (number, text) in (1..).zip(&texts).filter(|(_, text)| !text.is_empty()) {
        match route(text, config.scope()) {
            Ok(route) if (route.port as usize) < outputs => routes.push(route),
            Ok(_) => errors.push(format!("argument {number} bad OUTPUT")),
            Err(why) => errors.push(format!("argument {number} {why}")),
        }
    }
    if !errors.is_empty() {
        return Err(ConfigError::from(errors));
    }
    let seed = config.seed();
    let table = config.shared(|| Table::new(routes, seed).map_err(|refusal| explain(refusal).into()))?;
    let guide = Guide { local: (LOCAL < outputs).then_some(LOCAL), complaints: 0 };
    Ok(Box::new(RadixIpsecLookup { table, outputs, guide, lost: 0 }))
}

/// What a table says when it refuses a change, for the user.
fn explain(refusal: Refusal) -> String {
    match refusal {
        Refusal::Exists(old) => {
            let old = named(old.prefix, Some((old.gateway, old.port)));
            format!("conflict with existing route '{old}'")
        }
        Refusal::Missing(prefix, to) => format!("route '{}' not found", named(prefix, to)),
        Refusal::Full(why) => why,
    }
}

/// `ADDR/MASK GATEWAY OUTPUT`, as messages show a route.
fn named(prefix: Prefix<u32>, to: Option<(Ipv4Addr, u32)>) -> String {
    let (gateway, port) = to.unwrap_or((Ipv4Addr::UNSPECIFIED, 0));
    let port = to.map_or("-1".to_owned(), |_| port.to_string());
    format!("{} {} {port}", shown(prefix), shown_gateway(gateway))
}

/// The parameter index behind a packet's IP header; none if another header is there.
///
/// # Errors
/// Why there should be one, and is none.
fn spi(data: &[u8]) -> Result<Option<u32>, &'static str> {
    let ip = ipv4::Header::new_checked(data).map_err(|_| "no IP packet")?;
    if ip.protocol() != ip_proto::ESP {
        return Ok(None);
    }
    if !ip.begins(ip_proto::ESP) {
        return Err("fragment of an IPsec packet");
    }
    let header = data.get(ip.header_len()..).and_then(|rest| esp::Header::new_checked(rest).ok());
    header.map(|header| Some(header.spi())).ok_or("too short")
}

impl Guide {
    fn send(&mut self, cx: &Cx<'_>, table: &Table, packet: &mut Packet) -> Verdict {
        let (destination, state) = (packet.dst_ip(), table.state(cx.turn()));
        let Some(route) = state.route(destination, cx.turn()) else {
            self.complain(cx, || format!("IPsecRouteTable: no route for {destination}"));
            return Verdict::Drop("no route");
        };
        let output = match route.port {
            INBOUND => match self.receive(cx, state, packet) {
                Ok(output) => output,
                Err(reason) => return Verdict::Drop(reason),
            },
            OUTBOUND => {
                let association = route.association.as_deref();
                if association.is_none() {
                    self.complain(cx, || format!("No Ipsec tunnel for {destination}. Wrong tunnel setup"));
                }
                packet.set_anno(Anno::IPSEC_SPI, association.map_or(0, |found| found.terms.spi.into()));
                name(packet, association);
                route.port as usize
            }
            port => port as usize,
        };
        if route.gateway != Ipv4Addr::UNSPECIFIED {
            packet.set_dst_ip(route.gateway);
        }
        Verdict::Output(output)
    }

    /// The output for a packet that has come to this router.
    fn receive(&mut self, cx: &Cx<'_>, state: &State, packet: &mut Packet) -> Result<usize, &'static str> {
        let Some(spi) = spi(packet.data())? else {
            return self.local.ok_or("no IPsec packet, and output 2 is not in use");
        };
        let association = state.by_spi(spi);
        if association.is_none() {
            self.complain(cx, || format!("Invalid SPI {spi}, Dropping packet"));
            return Err("no association has its SPI");
        }
        name(packet, association);
        Ok(INBOUND as usize)
    }

    #[cold]
    fn complain(&mut self, cx: &Cx<'_>, message: impl FnOnce() -> String) {
        if self.complaints < COMPLAINTS {
            self.complaints += 1;
            cx.say(Level::Warning, message());
        }
    }
}

impl RadixIpsecLookup {
    /// What `add`, `set` or `remove` asks for.
    fn read_command(&self, command: &str, text: &str, scope: Scope<'_>) -> Result<Change, String> {
        if command == "remove" {
            let expected = || "expected 'ADDR/MASK [GATEWAY OUTPUT]".to_owned();
            let (prefix, to) = removed(text, scope).ok_or_else(expected)?;
            return Ok(Change::Remove(prefix, to));
        }
        let route = route(text, scope).map_err(|why| match why.strip_prefix("should be ") {
            Some(_) => format!("expected {ROUTE}"),
            None => why,
        })?;
        if route.port as usize >= self.outputs {
            return Err("bad OUTPUT".to_owned());
        }
        Ok(if command == "add" { Change::Add(route) } else { Change::Set(route) })
    }

    /// Carries out a command a line: all, or none.
    fn control(&self, text: &str, scope: Scope<'_>) -> Result<(), String> {
        let mut changes = Vec::new();
        for line in text.lines() {
            let mut rest = line.trim();
            match lang::conf::pop_space(&mut rest) {
                "" => continue,
                command @ ("add" | "set" | "remove") => {
                    changes.push(self.read_command(command, rest, scope)?);
                }
                other => return Err(format!("bad command '{other}'")),
            }
        }
        self.table.change(changes).map_err(explain)
    }

    fn look_up(&self, cx: &Cx<'_>, address: Ipv4Addr) -> String {
        match self.table.state(cx.turn()).route(address, cx.turn()) {
            Some(route) if route.gateway != Ipv4Addr::UNSPECIFIED => {
                format!("{} {}", route.port, route.gateway)
            }
            Some(route) => route.port.to_string(),
            None => "-1".to_owned(),
        }
    }
}

/// A route in the list of all.
fn listed(route: &Route) -> String {
    let tunnel = route.association.as_ref().map(|association| {
        let sent = association.last_sent() + 1 - u64::from(association.terms.first);
        format!("\tspi {} sent {sent} received {}", association.terms.spi, association.replay.greatest())
    });
    line(&shown(route.prefix), &shown_gateway(route.gateway), &route.port, &tunnel.unwrap_or_default())
}

impl Element for RadixIpsecLookup {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let (table, guide) = (&self.table, &mut self.guide);
        cx.scatter(batch, |cx, packet| guide.send(cx, table, packet));
    }

    fn handlers(&self, h: &mut Handlers) {
        for name in ["add", "set", "remove"] {
            h.write(name, move |e: &mut RadixIpsecLookup, cx, text| {
                let change = e.read_command(name, &lang::conf::uncomment(text), router::scope(cx))?;
                e.table.change(vec![change]).map_err(explain)
            });
        }
        h.write("ctrl", |e: &mut RadixIpsecLookup, cx, text| {
            e.control(&lang::conf::uncomment(text), router::scope(cx))
        });
        h.read("table", |e: &mut RadixIpsecLookup, _| {
            e.table.routes().iter().map(listed).collect::<String>()
        })
        .flagged(Flags::EXPENSIVE);
        h.read_with("lookup", |e: &mut RadixIpsecLookup, cx, text| {
            let address = router::value::<Ipv4Addr>(cx, text);
            address.map(|a| e.look_up(cx, a)).map_err(|_| "expected IP address".to_owned())
        });
    }

    /// Routes are copied, and associations shared: the old element goes on with both if the swap is refused.
    fn can_take_over(&mut self, _cx: &mut Cx<'_>, old: &dyn Any) -> Result<(), ConfigError> {
        if let Some(old) = old.downcast_ref::<RadixIpsecLookup>() {
            self.lost = self.table.take_over(&old.table, self.outputs).map_err(explain)?;
        }
        Ok(())
    }

    fn taken_over(&mut self, cx: &mut Cx<'_>) {
        if self.lost > 0 {
            cx.say(
                Level::Warning,
                format_args!("{}: {} routes lost (their output is gone)", cx.name(), self.lost),
            );
        }
    }
}
