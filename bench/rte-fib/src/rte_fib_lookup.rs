//! Looks up IPv4 routes in DPDK's rte_fib.
//!
//! ```click
//! RteFibLookup(ADDR/MASK [GATEWAY] OUTPUT, ...)
//! ```
//!
//! Does to each packet what IPLookup does, for measurements beside it. The table is DIR24_8 with next hops of 4 octets, and
//! the addresses of a batch are looked up together.
//!
//! Ports: 1 input, any number of outputs. Processing: push. Workers: one.
//!
//! # Arguments
//! - `ADDR/MASK [GATEWAY] OUTPUT`, any number: routes. A packet whose destination annotation matches the prefix leaves by
//!   OUTPUT; the longest matching prefix decides. If there is a GATEWAY (other than `-`), the annotation is set to it. Packets
//!   without a route are dropped.
//! - `ROUTES` (integer, default 1100000): room for so many routes.
//! - `AVX512` (boolean, default false): whether lookups use AVX-512.
//!
//! # Handlers
//! - `load` (write, FILE): adds the routes of a file: one per line, as above or as `ip route` prints them, optionally compressed. Its worker
//!   forwards nothing meanwhile.
//! - `avx512` (read/write, boolean): whether lookups use AVX-512.
//! - `lookup` (read, with an address): the output and the gateway for it; -1 if there is no route.
//!
//! # Example
//! ```click
//! Idle -> r :: RteFibLookup(18.26.4.0/24 0, 0/0 18.26.4.1 1); r[0] -> Discard; r[1] -> Discard
//! ```
//!
//! # See also
//! IPLookup

use crate::fib::Fib;
use crate::hops::{Hop, send};
use lpm::import::{self, NextHops};
use packet::{BATCH_MAX, Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Handlers, NetOrHost, Residency, Scope, Verdict,
};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use wire::Ipv4Net;

/// The class.
pub(crate) const CLASS: Class = Class::new("RteFibLookup", create)
    .ports("1/-")
    .processing("h/h")
    .residency(Residency::Exclusive)
    .doc(router::manual!("rte_fib_lookup.rs"));

struct RteFibLookup {
    fib: Fib,
    avx512: bool,
    /// By the numbers that the table has for them.
    hops: Vec<Hop>,
    numbers: HashMap<Hop, u32>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut words, mut room, mut avx512) = (Vec::new(), 1_100_000, false);
    config.args().keyword("ROUTES", &mut room).keyword("AVX512", &mut avx512).rest(&mut words).finish()?;
    let fib = Fib::new(room).map_err(|error| error.to_string())?;
    let outputs = config.outputs();
    let mut e = RteFibLookup { fib, avx512: false, hops: Vec::new(), numbers: HashMap::new(), outputs };
    e.use_avx512(avx512)?;
    for word in words.iter().filter(|word| !word.is_empty()) {
        let (prefix, hop) = route(word, config.scope())
            .ok_or_else(|| format!("expected 'ADDR/MASK [GATEWAY] OUTPUT', not '{word}'"))?;
        e.add(prefix.addr().into(), prefix.len(), hop)?;
    }
    Ok(Box::new(e))
}

/// Reads `ADDR/MASK [GATEWAY] OUTPUT`.
fn route(text: &str, scope: Scope<'_>) -> Option<(Ipv4Net, Hop)> {
    let words = lang::conf::split_spaces(text);
    let (prefix, gateway, port) = match &words[..] {
        [prefix, port] => (prefix, None, port),
        [prefix, gateway, port] => (prefix, Some(gateway).filter(|gateway| *gateway != "-"), port),
        _ => return None,
    };
    let NetOrHost(prefix) = NetOrHost::<Ipv4Net>::from_arg(prefix, scope).ok()?;
    let gateway = gateway.map(|gateway| Ipv4Addr::from_arg(gateway, scope)).transpose().ok()?;
    let gateway = gateway.unwrap_or(Ipv4Addr::UNSPECIFIED);
    Some((prefix, Hop { gateway, port: u32::from_arg(port, scope).ok()? }))
}

impl RteFibLookup {
    fn add(&mut self, address: u32, len: u8, hop: Hop) -> Result<(), String> {
        if hop.port as usize >= self.outputs {
            return Err(format!("output {} does not exist; there are {}", hop.port, self.outputs));
        }
        let number = *self.numbers.entry(hop).or_insert_with(|| {
            self.hops.push(hop);
            self.hops.len() as u32 - 1
        });
        self.fib.add(address, len, number).map_err(|error| error.to_string())
    }

    fn load(&mut self, file: &str) -> Result<(), String> {
        let list = import::read_file(Path::new(file), import::Options::default());
        let list = list.and_then(import::List::strict).map_err(|error| format!("{file}: {error}"))?;
        for &(prefix, next_hops) in &list.v4 {
            let NextHops::Hop(import::Hop { gateway, port, .. }) = next_hops else {
                return Err(format!("{file}: {prefix} does not lead to one next hop"));
            };
            let gateway = match gateway {
                None => Ipv4Addr::UNSPECIFIED,
                Some(IpAddr::V4(gateway)) => gateway,
                Some(IpAddr::V6(gateway)) => return Err(format!("{file}: {prefix} leads to {gateway}")),
            };
            self.add(prefix.addr(), prefix.len(), Hop { gateway, port: port.unwrap_or(0) })?;
        }
        Ok(())
    }

    fn use_avx512(&mut self, avx512: bool) -> Result<(), String> {
        self.fib.use_avx512(avx512).map_err(|error| error.to_string())?;
        self.avx512 = avx512;
        Ok(())
    }

    #[inline]
    fn find(&self, address: Ipv4Addr) -> Option<&Hop> {
        let mut found = [0];
        self.fib.lookup(&mut [address.into()], &mut found);
        self.hops.get(found[0] as usize)
    }
}

impl Element for RteFibLookup {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        Some(send(packet, self.find(packet.dst_ip())))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let (mut addresses, mut found) = ([0; BATCH_MAX], [0; BATCH_MAX]);
        for (address, packet) in addresses.iter_mut().zip(batch.iter()) {
            *address = packet.dst_ip().into();
        }
        self.fib.lookup(&mut addresses[..batch.len()], &mut found);
        let (hops, mut found) = (&self.hops, found.iter());
        cx.scatter(batch, |_, packet| {
            let number = found.next().map_or(usize::MAX, |&number| number as usize);
            send(packet, hops.get(number))
        });
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("load", |e: &mut RteFibLookup, _, text| e.load(text.trim()));
        h.read("avx512", |e: &mut RteFibLookup, _| e.avx512);
        h.write("avx512", |e: &mut RteFibLookup, cx, text| e.use_avx512(router::value(cx, text)?));
        h.read_with("lookup", |e: &mut RteFibLookup, cx, text| {
            Ok(match e.find(router::value(cx, text)?) {
                None => "-1".to_owned(),
                Some(Hop { gateway: Ipv4Addr::UNSPECIFIED, port }) => port.to_string(),
                Some(Hop { gateway, port }) => format!("{port} {gateway}"),
            })
        });
    }
}
