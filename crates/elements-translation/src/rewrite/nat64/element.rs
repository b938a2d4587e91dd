//! Translates between IPv6 hosts and IPv4 hosts, with state: a NAT64.
//!
//! ```click
//! NAT64(POOL [, KEYWORDS])
//! ```
//!
//! IPv6 hosts reach IPv4 hosts as RFC 6146 has it. Input 0 is the side of IPv6: packets to an address that stands for an IPv4 address
//! (RFC 6052, behind PREFIX) leave by output 0 as IPv4 packets, from an address and port of the pool. Input 1 is the side of IPv4: answers to
//! these leave by output 1 as IPv6 packets. TCP, UDP and ICMP echoes are translated, and ICMP errors of both sides together with the packet
//! that they quote (RFC 7915, sections 4 and 5). A DNS64 resolver tells hosts the addresses.
//!
//! Packets begin with their IP header. Hop limits are kept: put DecIP6HLIM in front of input 0 and DecIPTTL in front of input 1, so that
//! errors about them tell of the packet as it came. Traffic class and type of service are copied, options and extension headers left out.
//! An IPv4 packet of up to 1260 bytes may be fragmented on its path, a longer one may not. Each has an identification of its own, so that an
//! IPFragmenter with HONOR_DF false and KEEP_ID true may fragment the longer ones, too. An IPv6 packet is 20 bytes longer than the IPv4 packet that
//! it is made from: where it does not fit, an ICMP6Error (packet too big) that returns to input 0 tells the IPv4 host, and an
//! IP6Fragmenter splits what may be fragmented. An error about a smaller MTU tells of one that is 20 bytes less, or more; never of less
//! than 1280 bytes in IPv6.
//!
//! Fragments have no ports and are dropped: put an IP6Reassembler and an IPReassembler in front. Payloads are not looked at (no FTP).
//!
//! Flows live in a table like those of IPRewriter: shared by all workers, read without locks, each worker with a part of the range of
//! ports, the flow closest to its timeout removed first where there are too many. An address and port inside becomes the same
//! outside wherever it sends (endpoint-independent mapping), and no other endpoint of the same protocol becomes that. Packets of TCP begin flows
//! whatever their flags are, as with IPRewriter. Hosts have numbers in the table; those without flows are forgotten every minute. When
//! the configuration is replaced, flows move to a NAT64 of the same name with the same POOL and PREFIX; with `clique upgrade` they go on in
//! the other program. FlowExporter tells collectors of flows and endpoints that are translated (EVENTS).
//!
//! Two IPv6 hosts that reach each other by their IPv4 addresses (hairpin) need output 0 sorted: what is for the pool goes back to input
//! 1, and FILTERING `endpoint-independent`, or `address-dependent` with an address that they have sent to.
//!
//! Ports: 2 inputs, 2 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `POOL`: an address and a range of ports, as in IPRewriter's `pattern` (`192.0.2.1 1024-65535`); or the name of such a pattern
//!   that IPRewriterPatterns defines; or a mapper, such as SourceIPHashMapper or RoundRobinIPMapper, for several addresses, whose patterns
//!   have the outputs 0 and 1.
//!
//! Keywords:
//! - `PREFIX` (IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits, default `64:ff9b::/96`): what addresses begin with that stand for IPv4 addresses.
//! - `FILTERING` (`endpoint-independent`, `address-dependent` or `address-and-port-dependent`, default `address-dependent`): who reaches a
//!   mapped endpoint from the IPv4 side: all hosts, hosts that it has sent to, or endpoints that it has sent to.
//! - `UDP_ZERO_CHECKSUM` (boolean, default true): whether IPv4 packets of UDP without a checksum get one; otherwise they are dropped. IPv6
//!   needs one (RFC 7915, section 4.5).
//! - `ICMP_TIMEOUT` (seconds, default 60): idle time after which a flow of echoes is removed.
//! - `TCP_TIMEOUT`, `TCP_DONE_TIMEOUT`, `TCP_NODATA_TIMEOUT`, `TCP_GUARANTEE`, `UDP_TIMEOUT`, `UDP_STREAMING_TIMEOUT`, `UDP_GUARANTEE`,
//!   `REAP_INTERVAL`: as for IPRewriter.
//! - `MAPPING_CAPACITY` (integer or element, default 1048576): the maximum number of flows, or a rewriter with which to share a capacity. Each endpoint
//!   counts as one more, and with `address-dependent` filtering each address that it sends to. There may be as many hosts, which take 50
//!   bytes each.
//! - `QUOTA` (integer, default 0): the maximum number of flows of the hosts of one prefix; 0 for no limit. Packets that begin more are dropped, and
//!   further hosts of the prefix take no room.
//! - `QUOTA_PREFIX6` (integer up to 64, default 64): how long prefixes are.
//!
//! # Handlers
//! - `table_size` (read): flows in the table.
//! - `hosts` (read): IPv6 hosts that are known.
//! - `mapping_failures` (read): packets dropped because no flow could be made.
//! - `made`, `evictions`, `expiries`, `quota_refusals`, `counters`, `counters_json` (read): as for IPRewriter.
//! - `size`, `capacity` (read): flows and mappings of endpoints in the table, and how many there may be.
//! - `table` (read): one line per direction of each flow, in the format of IPRewriter's `tcp_table`, of all protocols.
//! - `flows`, `flows_json`, `count` (read, a filter), `kill` (write, a filter), `flows_load` (write), `endpoints`, `endpoints_json` (read), `clear` (write): as for
//!   IPRewriter.
//!
//! # Events
//! As for IPRewriter.
//!
//! # Example
//! ```click
//! nat64 :: NAT64(192.0.2.1 1024-65535);
//! from_v6 -> [0]nat64[0] -> to_v4;
//! from_v4 -> [1]nat64[1] -> to_v6;
//! ```
//!
//! # Differences from Click
//! Click has no class of this name; ProtocolTranslator64 and AddressTranslator together do a part of it.
//!
//! # See also
//! IPRewriter, ProtocolTranslator64, ProtocolTranslator46, IP6Reassembler, IPReassembler, ICMP6Error, IP6Fragmenter

use super::ahead::Sight;
use super::hosts::{Sweep, is_number};
use super::six::Six;
use crate::metrics;
use crate::rewrite::apply::{tcp_flags, udp_flags};
use crate::rewrite::arguments;
use crate::rewrite::counters;
use crate::rewrite::flow_set::{FlowMatch, FlowSet};
use crate::rewrite::nat::{Circumstances, Miss, Nat, Wanted};
use crate::rewrite::record::{FORWARD, MAPPINGS, REPLY};
use crate::rewrite::rewriter::now_ms;
use elements_shared::flow_filter::Filter;
use elements_shared::flow_id::{FlowId, Key};
use elements_shared::header_translation::{
    Change, Head, Refusal, begin4, begin6, has_no_udp_checksum, quoted4, quoted6, to_ipv4, to_ipv6,
};
use elements_shared::identification::Identification;
use packet::{BATCH_MAX, Batch, Packet};
use rcu::Turn;
use router::{
    BadState, Class, Config, ConfigError, Cx, Decision, Element, HandlerError, Handlers, Level, Look,
    Outcome, Residency, StateReader, StateWriter, Then, Verdict, metric,
};
use std::any::Any;
use std::cell::Cell;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;
use wire::{icmpv4, icmpv6, ip_proto};

/// The class.
pub(in super::super) const CLASS: Class = Class::new("NAT64", create)
    .ports("2/2")
    .processing("h/h")
    .flow("x/x")
    .residency(Residency::Shared)
    .keeps("flows", "MAPPING_CAPACITY", 1_048_576, 256)
    .doc(router::manual!("element.rs"));

/// The form of what is left to another process.
const FORM: u8 = 2;

/// The timers: for flows whose time is over, to go on with them, and for hosts without flows.
const REAP: u32 = 0;
const GO_ON: u32 = 1;
const SWEEP: u32 = 2;
/// Flows that a timer looks at in one go, and how long packets have their turn before the next.
const AT_ONCE: u32 = 2048;
const PAUSE: Duration = Duration::from_millis(1);
/// How often it is looked which hosts have no flows.
const SWEEPS: Duration = Duration::from_secs(60);

/// The sides.
const V6: usize = 0;
const V4: usize = 1;

const FRAGMENT: Refusal = "fragment: reassemble in front";
const NO_PORTS: Refusal = "no TCP, UDP or ICMP message that can be translated";
const CUT: Refusal = "packet ends within its transport header";
const ELSEWHERE: Refusal = "destination not in the prefix";
const BEHIND_PREFIX: Refusal = "source in the prefix";
const NO_HOST: Refusal = "source that no host has";
const NO_ROOM: Refusal = "no room for another host";
const NO_FLOW: Refusal = "no mapping";
const NO_CHECKSUM: Refusal = "UDP without a checksum";
const ODD_ERROR: Refusal = "ICMP error about a packet of no flow";

struct Nat64 {
    nat: Arc<Nat>,
    set: Option<Arc<FlowSet>>,
    reap: Duration,
    /// Whether this instance looks for flows and hosts whose time is over.
    reaps: bool,
    sums: bool,
    /// Of the next IPv4 packet.
    id: Cell<Identification>,
    sweep: Sweep,
    /// The record that a sweep comes to next, while it is on.
    next: Option<u32>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let made = arguments::make_six(config)?;
    Ok(Box::new(Nat64 {
        nat: made.nat,
        set: None,
        reap: made.reap,
        reaps: config.workers().first() == Some(&config.worker()),
        sums: made.sums,
        id: Cell::new(Identification::from_anywhere(config, &[0])),
        sweep: Sweep::default(),
        next: None,
    }))
}

/// What tells flows between two hosts apart: ports, or the identifier of an echo.
#[derive(Clone, Copy)]
pub(super) struct Transport {
    protocol: u8,
    /// Source and destination port; the identifier twice.
    ports: [u16; 2],
}

/// Reads it. `is_v6` says whose ICMP it is.
#[inline]
pub(super) fn transport(protocol: u8, payload: &[u8], is_v6: bool) -> Result<Transport, Refusal> {
    let word = |at: usize| payload.get(at..at + 2).map(|word| u16::from_be_bytes([word[0], word[1]]));
    match protocol {
        ip_proto::TCP | ip_proto::UDP => {
            let ports = [word(0).ok_or(CUT)?, word(2).ok_or(CUT)?];
            Ok(Transport { protocol, ports })
        }
        ip_proto::ICMPV6 => {
            let echoes = match is_v6 {
                true => [icmpv6::kind::ECHO, icmpv6::kind::ECHO_REPLY],
                false => [icmpv4::kind::ECHO, icmpv4::kind::ECHO_REPLY],
            };
            let kind = payload.first().ok_or(CUT)?;
            let id = word(4).ok_or(CUT)?;
            let transport = Transport { protocol: ip_proto::ICMP, ports: [id; 2] };
            if echoes.contains(kind) { Ok(transport) } else { Err(NO_PORTS) }
        }
        _ => Err(NO_PORTS),
    }
}

/// Bytes of a transport header that a packet has to have.
fn least(protocol: u8) -> usize {
    match protocol {
        ip_proto::TCP => wire::tcp::HEADER_LEN,
        _ => wire::udp::HEADER_LEN,
    }
}

impl Transport {
    /// The identifier of a flow's packets, as they arrive. An echo's stands at the end that is translated: the host of IPv6, or the
    /// pool's address.
    #[inline]
    pub(super) fn id(self, source: u32, destination: u32, direction: usize) -> FlowId {
        let [mut sport, mut dport] = self.ports;
        if self.protocol == ip_proto::ICMP {
            (sport, dport) = if direction == FORWARD { (sport, 0) } else { (0, dport) };
        }
        FlowId { saddr: source, daddr: destination, sport, dport }
    }

    /// The ports of a flow's packets as they leave.
    #[inline]
    fn ports_of(self, to: FlowId, direction: usize) -> [u16; 2] {
        match (self.protocol, direction) {
            (ip_proto::ICMP, FORWARD) => [to.sport; 2],
            (ip_proto::ICMP, _) => [to.dport; 2],
            _ => [to.sport, to.dport],
        }
    }
}

/// A flow's flags after a packet. `payload` is that of IP.
#[inline]
fn flags_after(found: &FlowMatch<'_>, transport: Transport, payload: &[u8]) -> u16 {
    let (flags, direction) = (found.flow.flags(), found.direction);
    match transport.protocol {
        ip_proto::TCP => {
            let (offset, marks) = (payload.get(12), payload.get(13));
            let header_len = offset.map_or(0, |offset| usize::from(offset >> 4) * 4);
            tcp_flags(flags, marks.copied().unwrap_or(0), header_len < payload.len(), direction)
        }
        ip_proto::UDP => udp_flags(flags, direction),
        _ => flags,
    }
}

/// What both directions share.
#[derive(Clone, Copy)]
pub(super) struct Translator<'t> {
    nat: &'t Nat,
    pub(super) six: &'t Six,
    pub(super) set: &'t FlowSet,
    pub(super) turn: Turn<'t>,
}

/// How a packet is to be changed.
struct Plan<'t> {
    change: Change,
    quoted: Option<Change>,
    /// The packet's flow, and what it says of it; none of an error.
    flow: Option<(FlowMatch<'t>, Key, u16)>,
}

impl<'t> Translator<'t> {
    pub(super) fn key(&self, transport: Transport, id: FlowId) -> Key {
        Key::new(self.nat.map(transport.protocol), id)
    }

    /// The flow of a key, of which a look at the packet may have made the hash.
    #[inline]
    fn find(&self, key: Key, sight: &Sight<'_>) -> Option<FlowMatch<'t>> {
        let hash = sight.hash_of(key).unwrap_or_else(|| self.set.hash(key));
        self.set.find_hashed(self.turn, key, hash)
    }

    /// What becomes of a packet of IPv6. `host` has the number of a source, `make` the flow of a key that has none.
    fn plan6(
        &self,
        packet: &Packet,
        head: &Head<Ipv6Addr>,
        sight: &Sight<'_>,
        host: &mut dyn FnMut(Ipv6Addr) -> Result<u32, Refusal>,
        make: &mut dyn FnMut(Key, u8) -> Result<FlowMatch<'t>, Refusal>,
    ) -> Result<Plan<'t>, Refusal> {
        let [source, destination] = head.ends;
        let remote = self.six.prefix.extract(destination).ok_or(ELSEWHERE)?;
        if let Some((inner, payload)) = quoted6(packet, head)? {
            let (quoted, pool) = self.quoted6(&inner, payload)?;
            if inner.ends[0] != destination {
                return Err(ODD_ERROR);
            }
            let change = Change { v4: [pool, remote], v6: head.ends, ports: None };
            return Ok(Plan { change, quoted: Some(quoted), flow: None });
        }
        if head.is_part() {
            return Err(FRAGMENT);
        }
        if self.six.prefix.extract(source).is_some() {
            return Err(BEHIND_PREFIX);
        }
        if source.is_multicast() || source.is_unspecified() || is_odd(remote) {
            return Err(NO_HOST);
        }
        let payload = packet.data().get(head.header_len..).ok_or(CUT)?;
        let transport = transport(head.protocol, payload, true)?;
        if payload.len() < least(transport.protocol) {
            return Err(CUT);
        }
        let number = host(source)?;
        let key = self.key(transport, transport.id(number, remote.to_bits(), FORWARD));
        let known = self.find(key, sight);
        let found = known.map_or_else(|| make(key, transport.protocol), Ok)?;
        let to = found.rewritten();
        let ports = Some(transport.ports_of(to, FORWARD));
        let change = Change { v4: [to.source(), to.destination()], v6: head.ends, ports };
        Ok(Plan { change, quoted: None, flow: Some((found, key, flags_after(&found, transport, payload))) })
    }

    /// What becomes of a packet that was sent to a host of IPv6, and that an error from there quotes; and the flow's address in IPv4.
    fn quoted6(&self, inner: &Head<Ipv6Addr>, payload: &[u8]) -> Result<(Change, Ipv4Addr), Refusal> {
        let [source, host] = inner.ends;
        let remote = self.six.prefix.extract(source).ok_or(ODD_ERROR)?;
        let number = self.six.hosts().find(self.turn, host).ok_or(ODD_ERROR)?;
        let transport = transport(inner.protocol, payload, true).map_err(|_| ODD_ERROR)?;
        // What is found by is what the host has sent.
        let [sport, dport] = transport.ports;
        let sent = Transport { ports: [dport, sport], ..transport };
        let key = self.key(sent, sent.id(number, remote.to_bits(), FORWARD));
        let found = self.set.find(self.turn, key).filter(|found| found.direction == FORWARD);
        let to = found.ok_or(ODD_ERROR)?.rewritten();
        let ports = sent.ports_of(to, FORWARD);
        let pool = to.source();
        Ok((Change { v4: [remote, pool], v6: inner.ends, ports: Some([ports[1], ports[0]]) }, pool))
    }

    /// What becomes of a packet of IPv4.
    fn plan4(
        &self,
        packet: &Packet,
        head: &Head<Ipv4Addr>,
        sight: &Sight<'_>,
        make: &mut dyn FnMut(Key, u8) -> Result<FlowMatch<'t>, Refusal>,
    ) -> Result<Plan<'t>, Refusal> {
        let [source, pool] = head.ends;
        if is_odd(source) {
            return Err(NO_HOST);
        }
        let embedded = self.six.prefix.embed(source);
        if let Some((inner, payload)) = quoted4(packet, head)? {
            let quoted = self.quoted4(&inner, payload)?;
            if inner.ends[0] != pool {
                return Err(ODD_ERROR);
            }
            let change = Change { v4: head.ends, v6: [embedded, quoted.v6[0]], ports: None };
            return Ok(Plan { change, quoted: Some(quoted), flow: None });
        }
        if head.is_part() {
            return Err(FRAGMENT);
        }
        let payload = packet.data().get(head.header_len..).ok_or(CUT)?;
        let transport = transport(head.protocol, payload, false)?;
        if payload.len() < least(transport.protocol) {
            return Err(CUT);
        }
        let key = self.key(transport, transport.id(source.to_bits(), pool.to_bits(), REPLY));
        let known = self.find(key, sight);
        let found = known.map_or_else(|| make(key, transport.protocol), Ok)?;
        let to = found.rewritten();
        let host = self.six.host(to.daddr).ok_or(NO_FLOW)?;
        let ports = Some(transport.ports_of(to, REPLY));
        let change = Change { v4: head.ends, v6: [embedded, host], ports };
        Ok(Plan { change, quoted: None, flow: Some((found, key, flags_after(&found, transport, payload))) })
    }

    /// What becomes of a packet that was sent to a host of IPv4, and that an error from there quotes.
    fn quoted4(&self, inner: &Head<Ipv4Addr>, payload: &[u8]) -> Result<Change, Refusal> {
        let [pool, remote] = inner.ends;
        let transport = transport(inner.protocol, payload, false).map_err(|_| ODD_ERROR)?;
        let [sport, dport] = transport.ports;
        // What is found by is an answer.
        let answer = Transport { ports: [dport, sport], ..transport };
        let key = self.key(answer, answer.id(remote.to_bits(), pool.to_bits(), REPLY));
        let found = self.set.find(self.turn, key).filter(|found| found.direction == REPLY);
        let to = found.ok_or(ODD_ERROR)?.rewritten();
        let host = self.six.host(to.daddr).ok_or(ODD_ERROR)?;
        let ports = answer.ports_of(to, REPLY);
        let v6 = [host, self.six.prefix.embed(remote)];
        Ok(Change { v4: inner.ends, v6, ports: Some([ports[1], ports[0]]) })
    }
}

/// Whether no host of IPv4 has an address.
fn is_odd(address: Ipv4Addr) -> bool {
    is_number(address.to_bits())
        || address.octets()[0] == 0
        || address.is_multicast()
        || address.is_loopback()
}

impl Nat64 {
    fn translator<'t>(&'t self, turn: Turn<'t>) -> Option<Translator<'t>> {
        let (set, six) = (self.set.as_deref()?, self.nat.six.as_ref()?);
        Some(Translator { nat: &self.nat, six, set, turn })
    }

    /// The flow of a packet whose key leads to none.
    #[inline(never)]
    fn make<'f, 't: 'f>(
        &'f self,
        cx: &mut Cx<'t>,
        at: usize,
        key: Key,
        protocol: u8,
        now_ms: u64,
    ) -> Result<FlowMatch<'f>, Refusal> {
        self.nat.listen(cx);
        let (turn, worker) = (cx.turn(), cx.worker());
        let hash = self.set.as_deref().ok_or(NO_FLOW)?.hash(key);
        let mut random = |top: u32| cx.unguessable().up_to(top);
        let mut with = Circumstances { worker, now_ms, random: &mut random };
        match self.nat.miss(turn, Wanted { at, key, hash, protocol }, 0, &mut with) {
            Miss::Made(found) => Ok(found),
            Miss::Pass(_) => Err(NO_FLOW),
            Miss::Drop(reason) => Err(reason),
        }
    }

    fn process(
        &self,
        cx: &mut Cx<'_>,
        side: usize,
        packet: &mut Packet,
        sight: &Sight<'_>,
        now_ms: u64,
    ) -> Verdict {
        match self.translate(cx, side, packet, sight, now_ms) {
            Ok(()) => Verdict::Output(side),
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn translate(
        &self,
        cx: &mut Cx<'_>,
        side: usize,
        packet: &mut Packet,
        sight: &Sight<'_>,
        now_ms: u64,
    ) -> Result<(), Refusal> {
        let turn = cx.turn();
        let translator = self.translator(turn).ok_or(NO_FLOW)?;
        let Translator { six, .. } = translator;
        let flow = if side == V6 {
            let head = begin6(packet)?;
            let now_s = (now_ms / 1000) as u32;
            let worker = cx.worker();
            let mut host = |address| match sight.sender(six.hosts(), address) {
                Some(number) => {
                    six.hosts().meet_known(number, now_s);
                    Ok(number)
                }
                None => self.meet_host(&translator, address, worker, now_s),
            };
            let mut make = |key, protocol| self.make(cx, V6, key, protocol, now_ms);
            let plan = translator.plan6(packet, &head, sight, &mut host, &mut make)?;
            let id = self.identify(cx.unguessable().u16());
            to_ipv4(packet, &head, &plan.change, plan.quoted.as_ref(), id)?;
            plan.flow
        } else {
            let head = begin4(packet)?;
            if !self.sums && has_no_udp_checksum(packet, &head) {
                return Err(NO_CHECKSUM);
            }
            let mut make = |key, protocol| self.make(cx, V4, key, protocol, now_ms);
            let plan = translator.plan4(packet, &head, sight, &mut make)?;
            to_ipv6(packet, &head, &plan.change, plan.quoted.as_ref())?;
            plan.flow
        };
        // Errors keep no flow alive (RFC 5508, REQ-6).
        if let Some((found, key, flags)) = flow {
            found.flow.touch(now_ms);
            if flags != found.flow.flags() {
                self.nat.change_flags(translator.set, &found, key.map(), flags);
            }
        }
        Ok(())
    }

    /// The number of a host that sends a packet now. One that has none gets none either as long as its prefix has as many flows as it may: it could
    /// begin no flow, and a sender with many addresses would take the numbers of all hosts.
    fn meet_host(
        &self,
        translator: &Translator<'_>,
        address: Ipv6Addr,
        worker: usize,
        now_s: u32,
    ) -> Result<u32, Refusal> {
        let Translator { six, set, turn, .. } = *translator;
        let hosts = six.hosts();
        if set.quota.is_used(|| address.into()) && hosts.find(turn, address).is_none() {
            return Err(self.nat.refuse_over_quota(V6, worker));
        }
        hosts.meet(turn, address, now_s).ok_or(NO_ROOM)
    }

    /// The identification of an IPv4 packet, by a number left to chance.
    #[inline]
    fn identify(&self, chance: u16) -> u16 {
        let mut id = self.id.get();
        let taken = id.take_far(chance);
        self.id.set(id);
        taken.get()
    }

    fn shrink(&self, cx: &Cx<'_>) -> bool {
        self.nat.listen(cx);
        let now_ms = now_ms(cx);
        self.set.as_ref().is_some_and(|set| set.edit(cx.turn()).shrink(now_ms, AT_ONCE as usize))
    }

    /// Goes on with a sweep; whether there is more to do.
    fn sweep(&mut self, cx: &Cx<'_>) -> bool {
        let (Some(set), Some(six)) = (self.set.as_deref(), self.nat.six.as_ref()) else { return false };
        let (hosts, turn) = (six.hosts(), cx.turn());
        let Some(from) = self.next else { return !self.sweep.free(hosts, turn) };
        let maps = self.nat.maps();
        for record in from..from + AT_ONCE {
            let Some(flow) = set.slab.get(record) else {
                self.sweep.unlist(hosts, turn);
                self.next = None;
                return self.sweep.is_resting();
            };
            if flow.map().is_some_and(|map| maps.contains(&(map & !MAPPINGS))) {
                self.sweep.mark(flow.id(FORWARD).saddr);
            }
        }
        self.next = Some(from + AT_ONCE);
        true
    }

    fn begin_sweep(&mut self, cx: &Cx<'_>) {
        if let Some(six) = self.nat.six.as_ref().filter(|_| self.next.is_none() && !self.sweep.is_resting()) {
            self.sweep.begin(six.hosts(), (now_ms(cx) / 1000) as u32);
            self.next = Some(0);
        }
    }
}

impl Element for Nat64 {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.set = Some(self.nat.initialize(cx.info(), cx.turn()).map_err(ConfigError::from)?);
        if !self.nat.inputs()[V6].read(cx.turn()).maps_endpoints() {
            return Err("POOL must choose from a range of ports and leave destinations alone".into());
        }
        if self.reaps {
            cx.timers().after(SWEEP, SWEEPS);
            if !self.reap.is_zero() {
                cx.timers().after(REAP, self.reap);
            }
        }
        Ok(())
    }

    fn push_one(&mut self, cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        let now_ms = now_ms(cx);
        Some(self.process(cx, port, packet, &Sight::NOTHING, now_ms))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let this = &*self;
        let Some(translator) = this.translator(cx.turn()) else { return cx.drop_batch(batch, NO_FLOW) };
        let mut sights = [Sight::NOTHING; BATCH_MAX];
        match port {
            V6 => translator.look_ahead6(&batch, &mut sights),
            _ => translator.look_ahead4(&batch, &mut sights),
        }
        let now_ms = now_ms(cx);
        let mut sights = sights.iter();
        cx.scatter(batch, |cx, packet| {
            // There are as many as packets.
            let Some(sight) = sights.next() else { return Verdict::Drop(NO_FLOW) };
            this.process(cx, port, packet, sight, now_ms)
        });
    }

    fn timer(&mut self, cx: &mut Cx<'_>, key: u32) {
        match key {
            SWEEP => {
                self.begin_sweep(cx);
                let pause = if self.sweep(cx) { PAUSE } else { SWEEPS };
                cx.timers().after(SWEEP, pause);
            }
            _ => {
                if self.shrink(cx) {
                    cx.timers().after(GO_ON, PAUSE);
                }
                if key == REAP {
                    cx.timers().after(REAP, self.reap);
                }
            }
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.nat.clone(), self.id.get())))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some((old, id)) = state.downcast_ref::<(Arc<Nat>, Identification)>() {
            self.id.get_mut().go_on(*id);
            let lost = self.nat.adopt(old, cx.turn(), now_ms(cx));
            if lost > 0 && self.reaps {
                cx.say(
                    Level::Warning,
                    format_args!("{}: {lost} flows lost (another POOL or PREFIX)", cx.name()),
                );
            }
        }
    }

    /// Its identification; and hosts and flows, which all instances share, if it is the one that looks after their times.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        let Some(six) = self.nat.six.as_ref() else { return false };
        out.form(FORM);
        out.u64(self.id.get().to_bits());
        out.u32(u32::from(self.reaps));
        if self.reaps {
            six.write(out, cx.turn());
            self.nat.write(out, cx.turn());
        }
        true
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        self.id.get_mut().go_on(Identification::from_bits(state.u64()?));
        if state.u32()? == 0 {
            return Ok(());
        }
        let Some(six) = self.nat.six.as_ref() else { return Ok(()) };
        if !six.read(state, cx.turn())? {
            cx.say(Level::Warning, format_args!("{}: flows lost (another PREFIX)", cx.name()));
            return Ok(());
        }
        let lost = self.nat.read(state, cx.turn(), now_ms(cx))?;
        if lost > 0 {
            cx.say(Level::Warning, format_args!("{}: {lost} flows lost", cx.name()));
        }
        Ok(())
    }

    fn explain(&self, look: &Look<'_>, port: usize, packet: &mut Packet) -> Option<Decision> {
        let turn = look.turn();
        let translator = self.translator(turn)?;
        match self.look(&translator, port, packet) {
            Ok(text) => Some(Decision::new(Then::Output(port), text)),
            Err(NEW) => Some(Decision::new(Then::Stays, "it would begin a flow")),
            Err(reason) => Some(Decision::new(Then::Drop(reason), "")),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type N = Nat64;
        h.read("table_size", |e: &mut N, _| e.sum(|counts| counts.flows()));
        h.read("mapping_failures", |e: &mut N, _| e.sum(|counts| counts.failures()))
            .measures(&metrics::FAILURES);
        counters::handlers(h, |e: &N| &e.nat);
        h.read("hosts", |e: &mut N, _| e.nat.six.as_ref().map_or(0, |six| six.hosts().len()));
        h.read("size", |e: &mut N, _| e.set.as_ref().map_or(0, |set| set.size())).measures(&metric::FLOWS);
        h.read("capacity", |e: &mut N, _| e.set.as_ref().map_or(0, |set| set.capacity()))
            .measures(&metric::FLOW_CAPACITY);
        h.write("clear", |e: &mut N, cx, _| {
            e.nat.listen(cx);
            if let Some(set) = &e.set {
                set.edit(cx.turn()).clear();
            }
            Ok(())
        });
        h.read("table", |e: &mut N, cx| {
            e.nat.maps().map(|map| e.nat.list(cx.turn(), map, now_ms(cx))).collect::<String>()
        });
        h.read("endpoints", |e: &mut N, cx| e.nat.endpoint_lines(cx.turn()));
        h.read("endpoints_json", |e: &mut N, cx| e.nat.endpoint_json(cx.turn()));
        h.read_with("count", |e: &mut N, cx, text| {
            Ok(e.nat.count_flows(cx.turn(), &Filter::parse(text)?).to_string())
        });
        h.read_with("flows", |e: &mut N, cx, text| {
            Ok(e.nat.flow_lines(cx.turn(), &Filter::parse(text)?, now_ms(cx)))
        });
        h.read_with("flows_json", |e: &mut N, cx, text| {
            Ok(e.nat.flow_json(cx.turn(), &Filter::parse(text)?, now_ms(cx)))
        });
        h.write_outcome("flows_load", |e: &mut N, cx, text| {
            Outcome::Done(e.nat.load_flows(cx.turn(), text, now_ms(cx)).map_err(HandlerError::from))
        });
        h.write_outcome("kill", |e: &mut N, cx, text| {
            e.nat.listen(cx);
            let killed = Filter::parse(text).map(|filter| e.nat.kill_flows(cx.turn(), &filter).to_string());
            Outcome::Done(killed.map_err(HandlerError::from))
        });
    }
}

/// Of a packet that a user asks about: it has no flow yet.
const NEW: Refusal = "new";

impl Nat64 {
    fn sum(&self, of: impl Fn(&crate::rewrite::counts::InputCounts) -> u32) -> u32 {
        self.nat.counts().iter().map(of).fold(0, u32::wrapping_add)
    }

    /// Does what packets would have done, and changes nothing else. What becomes of the packet.
    fn look(&self, translator: &Translator<'_>, side: usize, packet: &mut Packet) -> Result<String, Refusal> {
        let Translator { six, set, turn, .. } = *translator;
        let plan = if side == V6 {
            let head = begin6(packet)?;
            // No flow has the number of a host that is not known.
            let mut host = |address| Ok(six.hosts().find(turn, address).unwrap_or(0));
            let plan = translator.plan6(packet, &head, &Sight::NOTHING, &mut host, &mut |_, _| Err(NEW));
            if let Ok(plan) = &plan {
                to_ipv4(packet, &head, &plan.change, plan.quoted.as_ref(), 0)?;
            }
            plan
        } else {
            let head = begin4(packet)?;
            if !self.sums && has_no_udp_checksum(packet, &head) {
                return Err(NO_CHECKSUM);
            }
            let plan = translator.plan4(packet, &head, &Sight::NOTHING, &mut |key, _| {
                Err(if self.nat.lets_in(set, turn, key) { NEW } else { NO_FLOW })
            });
            if let Ok(plan) = &plan {
                to_ipv6(packet, &head, &plan.change, plan.quoted.as_ref())?;
            }
            plan
        }?;
        let Change { v4, v6, ports } = plan.change;
        let side = match (&plan.flow, side) {
            (None, _) => "an error about a flow's packet",
            (_, V6) => "flow",
            _ => "reply of a flow",
        };
        let [from, to] = ports.unwrap_or_default();
        Ok(format!("{side}, {} > {} and {} > {}, ports {from} > {to}", v6[0], v6[1], v4[0], v4[1]))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
