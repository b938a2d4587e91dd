//! Answers IP packets with ICMP errors.
//!
//! ```click
//! ICMPError(SRC, TYPE [, CODE, BADADDRS, KEYWORDS])
//! ```
//!
//! Expects IP packets with a marked header, and emits an ICMP error message about each of them, addressed to its
//! sender (RFC 792; RFC 1812, section 4.3.2). The message quotes as much of the packet as fits in MTU bytes. Its
//! destination annotation is set, and its other annotations are cleared, except for the VLAN, and that the "fix IP source" annotation
//! is set, so that FixIPSrc gives the message the address of the interface through which it leaves.
//!
//! No error is sent, and the packet is dropped, where RFC 1812, section 4.3.2.7 forbids it: in answer to another ICMP
//! error, to an ICMP message of less than 4 bytes (which may have been one), to a fragment other than the first, to
//! IP or link-layer broadcasts and multicasts, or to a source that is not a single host. No redirect is sent for a
//! packet with a source route, and with LINK none unless sender and gateway are on one network (section 5.2.7.2). If the packet has a source route, the message uses it in reverse. All ICMPErrors on a
//! worker share one counter, from 1, for the IP identification of their messages; each worker has its own.
//!
//! `clique drops` lists the packets that are answered, but with redirects, under what TYPE and CODE mean, and says that their
//! senders were told.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `SRC` (address): source address of the messages.
//! - `TYPE` (integer or name): `unreachable`, `sourcequench`, `redirect`, `timeexceeded` or `parameterproblem`.
//! - `CODE` (integer or name, default 0). For unreachable: `net`, `host`, `protocol`, `port`, `needfrag`, `srcroutefail`,
//!   `netunknown`, `hostunknown`, `isolated`, `netprohibited`, `hostprohibited`, `tosnet`, `toshost`, `filterprohibited`,
//!   `hostprecedence`, `precedencecutoff`; for redirect: `net`, `host`, `tosnet`, `toshost`; for timeexceeded: `transit`,
//!   `reassembly`; for parameterproblem: `erroratptr`, `missingopt`, `length`.
//! - `BADADDRS` (addresses): additional broadcast addresses.
//! - `MTU` (integer, default 576): the largest message, in bytes.
//! - `PMTU` (integer, default 0): the next hop's MTU, sent with unreachable/needfrag (RFC 1191).
//! - `SET_FIX_ANNO` (boolean, default true): whether to set the "fix IP source" annotation.
//! - `RATE` (integer, default 0): messages per second, on each worker; packets beyond it are dropped (RFC 1812,
//!   section 4.3.2.8). 0 means no limit.
//! - `BURST` (integer, default 100): the largest burst of messages, if there is a RATE.
//! - `LINK` (`ADDR/MASK` separated by spaces): for redirects, the networks of the link where packets arrive. A sender in
//!   none of them, or in another than the gateway, is sent none.
//! - `DEVICE` (interface): for redirects: they are sent only if the kernel's `send_redirects` is on, for this interface or
//!   for all, which is looked at once a second while there is something to redirect. Where the kernel has no such
//!   setting they are sent.
//!
//! The pointer of parameterproblem/erroratptr comes from the parameter problem annotation, and the gateway of a
//! redirect from the destination annotation.
//!
//! # Handlers
//! - `src`, `mtu`, `pmtu` (read, write): the arguments.
//! - `send_redirects` (read): whether redirects are sent.
//!
//! # Example
//! ```click
//! ttl[1] -> ICMPError(18.26.4.24, timeexceeded, transit) -> rt;
//! ```
//!
//! # See also
//! FixIPSrc, DecIPTTL, IPFragmenter, IPGWOptions, ICMP6Error

use super::arguments::{Addresses, Prefix, Prefixes};
use super::error_limit::{ErrorLimit, TOO_MANY};
use super::error_reasons::reason;
use elements_shared::ip_header::NO_HEADER;
use elements_shared::ip_numbers::{IcmpType, icmp_code};
use elements_shared::vlan::keep_vlan_only;
use packet::{Anno, Kind, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Node, PerPacket, Simple, Then, Verdict,
};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;
use wire::icmpv4::{self, kind, parameter_problem, unreachable};
use wire::ip_proto;
use wire::ipv4::{self, HEADER_LEN, Header, IpOption, MAX_HEADER_LEN, option};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMPError", create).doc(router::manual!("icmp_error.rs"));

/// Time to live of the messages.
const TTL: u8 = 200;

/// The identification of the last message, by worker. Each counts by itself, in steps that leave the others theirs.
struct Ids(Box<[AtomicU16]>);

impl Ids {
    fn new(workers: &[usize]) -> Ids {
        let places = workers.iter().max().map_or(0, |last| last + 1);
        Ids((0..places as u16).map(AtomicU16::new).collect())
    }

    /// Those of the first element of the class on this worker. All others count with it, since they send for the same router.
    fn common(cx: &Cx<'_>) -> Option<Arc<Ids>> {
        let (info, worker) = (cx.info(), cx.worker());
        let is_here = |node: &Node| node.class.name == CLASS.name && node.workers.contains(&worker);
        info.shared(info.nodes.iter().position(is_here)?)
    }

    fn next(&self, worker: usize) -> u16 {
        let Some(last) = self.0.get(worker) else { return 0 };
        let id = last.load(Relaxed).wrapping_add(self.0.len().next_power_of_two() as u16);
        last.store(id, Relaxed);
        id
    }
}

struct IcmpError {
    source: Ipv4Addr,
    kind: u8,
    code: u8,
    bad_addresses: Vec<Ipv4Addr>,
    mtu: u32,
    path_mtu: u32,
    set_fix_anno: bool,
    ids: Arc<Ids>,
    limit: ErrorLimit,
    redirects: Redirects,
}

/// To whom redirects are sent.
struct Redirects {
    /// Networks of the link that they are about; `None` if any sender may be on it.
    link: Option<Prefixes>,
    /// The interface whose setting in the kernel counts; empty if none.
    device: String,
    on: bool,
    /// When the setting is looked at again.
    look_ns: i64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut code) = (IcmpType::default(), "0".to_owned());
    let (mut bad, ids) = (Addresses::default(), Ids::new(config.workers()));
    let mut e = IcmpError {
        source: Ipv4Addr::UNSPECIFIED,
        kind: 0,
        code: 0,
        bad_addresses: Vec::new(),
        mtu: 576,
        path_mtu: 0,
        set_fix_anno: true,
        ids: config.shared(|| Ok(ids))?,
        limit: ErrorLimit::default(),
        redirects: Redirects { link: None, device: String::new(), on: true, look_ns: i64::MIN },
    };
    let (mut rate, mut burst) = (0, 100);
    config
        .args()
        .required("SRC", &mut e.source)
        .required("TYPE", &mut kind)
        .positional("CODE", &mut code)
        .positional("BADADDRS", &mut bad)
        .keyword("MTU", &mut e.mtu)
        .keyword("PMTU", &mut e.path_mtu)
        .keyword("SET_FIX_ANNO", &mut e.set_fix_anno)
        .keyword("RATE", &mut rate)
        .keyword("BURST", &mut burst)
        .keyword("LINK", &mut e.redirects.link)
        .keyword("DEVICE", &mut e.redirects.device)
        .finish()?;
    e.bad_addresses = bad.0;
    e.limit = ErrorLimit::new(rate, burst);
    e.kind = kind.octet().ok_or("ICMP type must be between 0 and 255")?;
    if !icmpv4::is_error(e.kind) {
        return Err(format!("ICMP type {} is not an error type", e.kind).into());
    }
    let code = icmp_code(e.kind, &code);
    e.code = code.ok_or("argument 2 takes ICMP code (integer between 0 and 255)")?;
    Ok(Box::new(PerPacket(e)))
}

/// The headers of a message.
struct Head {
    bytes: [u8; MAX_HEADER_LEN + icmpv4::HEADER_LEN],
    ip_len: usize,
}

impl IcmpError {
    /// Whether an address may be a single host's.
    fn unicast(&self, address: Ipv4Addr) -> bool {
        !address.is_broadcast() && !address.is_multicast() && !self.bad_addresses.contains(&address)
    }

    /// Whether an address may send (RFC 1812, section 5.3.7).
    fn valid_source(&self, address: Ipv4Addr) -> bool {
        self.unicast(address) && !matches!(address.octets()[0], 0 | 127 | 240..)
    }

    /// Makes the packet an error message about itself, or says why not.
    fn answer(&mut self, cx: &Cx<'_>, packet: &mut Packet) -> Result<(), &'static str> {
        self.allowed(cx.now_ns(), packet)?;
        let mut head = self.head(packet)?;
        if !self.limit.admits(cx.now_ns()) {
            return Err(TOO_MANY);
        }
        if let Ok(mut ip) = Header::new_checked_mut(&mut head.bytes) {
            ip.set_id(self.ids.next(cx.worker()));
        }
        let head_len = head.ip_len + icmpv4::HEADER_LEN;
        reduce_to_network(packet)?;
        let room = (self.mtu as usize).min(usize::from(u16::MAX)).saturating_sub(head_len);
        let _ = packet.take(packet.len().saturating_sub(room));
        if !packet.prepend(head_len) {
            return Err("no room for an ICMP error");
        }
        finish(packet.data_mut(), &head);
        let destination = Header::new_checked(&head.bytes).map_or(Ipv4Addr::UNSPECIFIED, |ip| ip.dst());
        keep_vlan_only(packet);
        packet.set_dst_ip(destination);
        packet.set_anno(Anno::FIX_IP_SRC, u64::from(self.set_fix_anno));
        packet.set_timestamp_ns(cx.now_ns());
        packet.set_kind(Kind::Host);
        packet.set_device(0);
        packet.clear_mac();
        packet.set_network(0, head.ip_len);
        Ok(())
    }

    /// Whether an error may be sent about a packet (RFC 1812, section 4.3.2.7).
    fn allowed(&mut self, now_ns: i64, packet: &Packet) -> Result<(), &'static str> {
        let bytes = packet.network().ok_or(NO_HEADER)?;
        let ip = Header::new_checked(bytes).map_err(|_| NO_HEADER)?;
        if matches!(packet.kind(), Kind::Broadcast | Kind::Multicast) || !self.unicast(ip.dst()) {
            return Err("no ICMP error about a broadcast or multicast");
        }
        if !self.valid_source(ip.src()) {
            return Err("no ICMP error to an invalid source");
        }
        if !ip.is_first_fragment() {
            return Err("no ICMP error about a later fragment");
        }
        if self.kind == kind::REDIRECT {
            self.redirects.allow(now_ns, ip.src(), packet.dst_ip())?;
        }
        if ip.protocol() == ip_proto::ICMP {
            // As in Click, its first four bytes are needed: what has fewer may have been an error.
            let message = bytes.get(ip.header_len()..).and_then(|message| message.first_chunk::<4>());
            if message.is_none_or(|&[kind, ..]| icmpv4::is_error(kind)) {
                return Err("no ICMP error about an ICMP error");
            }
        }
        Ok(())
    }

    /// The headers of the message about a packet, lengths and checksums still missing.
    fn head(&self, packet: &Packet) -> Result<Head, &'static str> {
        let bytes = packet.network().ok_or(NO_HEADER)?;
        let old = Header::new_checked(bytes).map_err(|_| NO_HEADER)?;
        let pointer = packet.anno(Anno::ICMP_PARAMPROB) as u8;
        let points = (self.kind, self.code) == (kind::PARAMETER_PROBLEM, parameter_problem::POINTER);
        let mut head = Head { bytes: [0; MAX_HEADER_LEN + icmpv4::HEADER_LEN], ip_len: HEADER_LEN };
        if let Some(route) = source_route(bytes) {
            if self.kind == kind::REDIRECT {
                return Err("no redirect of a source-routed packet");
            }
            // A route that is itself the problem is not used (RFC 1812, section 4.3.2.6).
            let extent = route.offset..route.offset + route.bytes.len();
            if !(points && extent.contains(&usize::from(pointer))) {
                head.ip_len += reverse_route(route.bytes, &mut head.bytes[HEADER_LEN..MAX_HEADER_LEN]);
            }
        }
        let (ip_bytes, icmp_bytes) = head.bytes.split_at_mut(head.ip_len);
        if let Ok(mut ip) = Header::new_checked_mut(ip_bytes) {
            ip.set_version_and_header_len(head.ip_len);
            ip.set_ttl(TTL);
            ip.set_protocol(ip_proto::ICMP);
            ip.set_src(self.source);
            ip.set_dst(old.src());
        }
        if let Ok(mut icmp) = icmpv4::Header::new_checked_mut(icmp_bytes) {
            icmp.set_kind(self.kind);
            icmp.set_code(self.code);
            match (self.kind, self.code) {
                (kind::REDIRECT, _) => icmp.set_gateway(packet.dst_ip()),
                (kind::UNREACHABLE, unreachable::FRAGMENTATION_NEEDED) => {
                    icmp.set_next_hop_mtu(u16::try_from(self.path_mtu).unwrap_or(u16::MAX));
                }
                _ if points => icmp.set_pointer(pointer),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// How long what the kernel's setting was is believed.
const LOOK_NS: i64 = 1_000_000_000;

impl Redirects {
    /// Whether a sender may be told of a better gateway (RFC 1812, section 5.2.7.2).
    fn allow(&mut self, now_ns: i64, sender: Ipv4Addr, gateway: Ipv4Addr) -> Result<(), &'static str> {
        let both = |network: &Prefix| network.contains(sender) && network.contains(gateway);
        if self.link.as_ref().is_some_and(|networks| !networks.0.iter().any(both)) {
            return Err("no redirect to a sender that is not on the link");
        }
        // A file is read, but once a second only, and for traffic that should not come here.
        if !self.device.is_empty() && now_ns >= self.look_ns {
            self.on = kernel_redirects(&self.device).unwrap_or(true);
            self.look_ns = now_ns + LOOK_NS;
        }
        if self.on { Ok(()) } else { Err("redirects are off") }
    }
}

/// Whether the kernel sends redirects by an interface, which is so if they are on for the interface or for all; `None` if it does not say.
fn kernel_redirects(device: &str) -> Option<bool> {
    let on = |of: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/conf/{of}/send_redirects")).ok();
    let own = Some(device).filter(|name| !name.contains('/')).and_then(on)?;
    Some([on("all").unwrap_or_default(), own].iter().any(|text| text.trim() == "1"))
}

/// Cuts off what lies in front of the network header, or brings it back where it was stripped.
fn reduce_to_network(packet: &mut Packet) -> Result<(), &'static str> {
    let offset = packet.network_offset().ok_or(NO_HEADER)?;
    let done =
        if offset < 0 { packet.push(offset.unsigned_abs()) } else { packet.pull(offset.unsigned_abs()) };
    if done { Ok(()) } else { Err(NO_HEADER) }
}

/// Puts the headers in front of the message and completes them.
fn finish(data: &mut [u8], head: &Head) {
    let head_len = head.ip_len + icmpv4::HEADER_LEN;
    data[..head_len].copy_from_slice(&head.bytes[..head_len]);
    let len = data.len() as u16;
    // Neither can fail: both headers were written just now.
    let _ = icmpv4::fill_checksum(&mut data[head.ip_len..]);
    if let Ok(mut ip) = Header::new_checked_mut(data) {
        ip.set_total_len(len);
    }
    let _ = ipv4::fill_checksum(data);
}

/// The packet's source route option, if its pointer makes sense.
fn source_route(bytes: &[u8]) -> Option<IpOption<'_>> {
    let options = ipv4::options(bytes).ok()?.map_while(Result::ok);
    let mut routes =
        options.filter(|o| matches!(o.kind, option::LOOSE_SOURCE_ROUTE | option::STRICT_SOURCE_ROUTE));
    routes.find(|route| match route.bytes {
        &[_, _, pointer, ..] => {
            pointer >= 4 && pointer % 4 == 0 && usize::from(pointer) <= route.bytes.len() + 1
        }
        _ => false,
    })
}

/// Writes a route of the addresses that the packet has visited, last to first. Returns its length, a multiple of four.
fn reverse_route(route: &[u8], out: &mut [u8]) -> usize {
    let visited = &route[3..usize::from(route[2]) - 1];
    let len = 3 + visited.len();
    out[..3].copy_from_slice(&[route[0], len as u8, 4]);
    let (addresses, _) = visited.as_chunks::<4>();
    for (place, address) in out[3..len].chunks_exact_mut(4).zip(addresses.iter().rev()) {
        place.copy_from_slice(address);
    }
    out[len] = option::END;
    len + 1
}

impl Simple for IcmpError {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(ids) = Ids::common(cx) {
            self.ids = ids;
        }
        Ok(())
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        let _ = packet;
        let because = format!("the sender is told by ICMP type {} code {}", self.kind, self.code);
        Some(Decision::new(Then::Stays, because))
    }

    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let told = reason(self.kind, self.code);
        let example = told.and_then(|reason| cx.told_example(packet, reason));
        match self.answer(cx, packet) {
            Ok(()) => {
                if let Some(reason) = told {
                    cx.count_told(reason, example);
                }
                Verdict::Pass
            }
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("src", |e: &mut IcmpError, _| e.source);
        h.write("src", |e: &mut IcmpError, cx, text| {
            e.source = router::value(cx, text)?;
            Ok(())
        });
        h.read("mtu", |e: &mut IcmpError, _| e.mtu);
        h.write("mtu", |e: &mut IcmpError, cx, text| {
            e.mtu = router::value(cx, text)?;
            Ok(())
        });
        h.read("pmtu", |e: &mut IcmpError, _| e.path_mtu);
        h.write("pmtu", |e: &mut IcmpError, cx, text| {
            e.path_mtu = router::value(cx, text)?;
            Ok(())
        });
        h.read("send_redirects", |e: &mut IcmpError, _| e.redirects.on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{Flow, Sent, send, send_one};
    use elements_testing::samples::{DST, SRC, edited, hostile, udp, with_addresses, with_options};
    use proptest::prelude::*;

    const ME: Ipv4Addr = Ipv4Addr::new(1, 2, 3, 4);

    fn config(arguments: &str) -> String {
        format!("Inject -> MarkIPHeader -> e :: ICMPError(1.2.3.4, {arguments}) -> Collect(0)")
    }

    /// Checks what every message must be, and returns its type, code and rest, and what it quotes.
    fn parse(packet: &Packet) -> ((u8, u8, u32), Vec<u8>) {
        let data = packet.data();
        let extent = ipv4::check(data, true).unwrap();
        let ip = Header::new_checked(data).unwrap();
        assert_eq!((extent.total_len, ip.src(), ip.ttl(), ip.protocol()), (data.len(), ME, 200, 1));
        assert_eq!(packet.dst_ip(), ip.dst());
        assert_eq!(packet.network_offset(), Some(0));
        assert_eq!(packet.transport_offset(), Some(extent.header_len as isize));
        let message = ipv4::payload(data).unwrap();
        assert!(wire::checksum::verify(message));
        let icmp = icmpv4::Header::new_checked(message).unwrap();
        ((icmp.kind(), icmp.code(), icmp.rest()), message[8..].to_vec())
    }

    #[test]
    fn types_and_codes() {
        let sent = Sent {
            data: udp(9),
            annotations: vec![
                (Anno::ICMP_PARAMPROB, 9),
                (Anno::DST_IP, u32::from_ne_bytes([10, 0, 0, 1]).into()),
                (Anno::VLAN_TCI, 0x500),
            ],
            ..Sent::default()
        };
        for (arguments, message) in [
            ("timeexceeded", (11, 0, 0)),
            ("timeexceeded, reassembly", (11, 1, 0)),
            ("unreachable, host", (3, 1, 0)),
            ("unreachable, needfrag, PMTU 1400", (3, 4, 1400)),
            ("3, 13", (3, 13, 0)),
            ("sourcequench", (4, 0, 0)),
            ("redirect, host", (5, 1, 0x0a00_0001)),
            ("parameterproblem", (12, 0, 9 << 24)),
            ("TYPE parameterproblem, CODE missingopt", (12, 1, 0)),
        ] {
            let flow = send_one(&config(arguments), sent.clone());
            assert_eq!(parse(flow.only(0)), (message, udp(9)), "{arguments}");
            assert_eq!((flow.only(0).dst_ip(), flow.only(0).anno(Anno::VLAN_TCI)), (SRC, 0x500));
            assert_eq!(
                (flow.only(0).anno(Anno::FIX_IP_SRC), flow.only(0).anno(Anno::ICMP_PARAMPROB)),
                (1, 0)
            );
        }
    }

    /// RFC 1812, section 5.2.7.2.
    #[test]
    fn redirects_go_to_senders_on_the_gateways_network() {
        let from_to = |source: [u8; 4], gateway: [u8; 4]| Sent {
            data: with_addresses(udp(9), source.into(), DST),
            annotations: vec![(Anno::DST_IP, u32::from_ne_bytes(gateway).into())],
            ..Sent::default()
        };
        let config = config("redirect, host, LINK 10.0.1.1/24 10.0.2.1/24");
        for (source, gateway, told) in [
            ([10, 0, 1, 2], [10, 0, 1, 3], true),
            ([10, 0, 2, 2], [10, 0, 2, 3], true),
            ([10, 0, 1, 2], [10, 0, 2, 3], false),
            ([172, 16, 9, 9], [10, 0, 1, 3], false),
        ] {
            assert_eq!(
                send_one(&config, from_to(source, gateway)).seen.len(),
                usize::from(told),
                "{source:?}"
            );
        }
        let mut flow = send_one(&config, udp(9));
        assert_eq!(flow.read("e.send_redirects"), "true");
        assert_eq!(kernel_redirects("no-such-one"), None);
        assert_eq!(kernel_redirects("../all"), None);
    }

    #[test]
    fn wrong_types_and_codes_are_refused() {
        for (arguments, message) in [
            ("echo", "ICMP type 8 is not an error type"),
            ("-1", "ICMP type must be between 0 and 255"),
            ("unreachable, 256", "argument 2 takes ICMP code"),
            ("256", "ICMP type must be between 0 and 255"),
            ("timeexceeded, host", "argument 2 takes ICMP code"),
            ("oops", "TYPE"),
        ] {
            let text = errors(&format!("Idle -> ICMPError(1.2.3.4, {arguments}) -> Discard"));
            assert!(text.contains(message), "{text}");
        }
        let mut flow = send_one(&config("3, SET_FIX_ANNO false, MTU 100"), udp(500));
        assert_eq!((flow.only(0).anno(Anno::FIX_IP_SRC), flow.only(0).len()), (0, 100));
        assert_eq!(
            (flow.read("e.mtu"), flow.read("e.src"), flow.read("e.pmtu")),
            ("100".into(), "1.2.3.4".into(), "0".into())
        );
    }

    #[test]
    fn no_more_than_its_rate() {
        let flow = send(&config("3, RATE 10, BURST 3"), vec![udp(9); 50]);
        assert_eq!((flow.seen.len(), flow.drops()), (3, vec![(TOO_MANY, 47)]));
        // What is not answered in any case does not count.
        let mut packets = vec![with_addresses(udp(9), SRC, Ipv4Addr::BROADCAST); 50];
        packets.push(udp(9));
        assert_eq!(send(&config("3, RATE 10, BURST 1"), packets).seen.len(), 1);
    }

    #[test]
    fn quotes_what_fits() {
        let (_, quoted) = parse(send_one(&config("timeexceeded"), udp(900)).only(0));
        assert_eq!(quoted, udp(900)[..548]);
        // A link-layer header in front is not quoted; a stripped IP header is.
        let framed: Vec<u8> = [&[0xee; 14], &udp(20)[..]].concat();
        let flow = send_one("Inject -> MarkIPHeader(14) -> ICMPError(1.2.3.4, 3) -> Collect(0)", framed);
        assert_eq!(parse(flow.only(0)).1, udp(20));
        let stripped = "Inject -> MarkIPHeader -> StripIPHeader -> ICMPError(1.2.3.4, 3) -> Collect(0)";
        assert_eq!(parse(send_one(stripped, udp(20)).only(0)).1, udp(20));
    }

    #[test]
    fn no_errors_where_forbidden() {
        let reason = |sent: Sent| -> Option<&'static str> {
            let flow: Flow = send_one(&config("3, 1, 18.26.4.255 18.26.7.255"), sent);
            flow.drops().first().map(|(reason, _)| *reason)
        };
        let to = |dst: [u8; 4]| reason(with_addresses(udp(9), SRC, dst.into()).into());
        let from = |src: [u8; 4]| reason(with_addresses(udp(9), src.into(), DST).into());
        for group in [[255; 4], [224, 0, 0, 5], [18, 26, 4, 255]] {
            assert!(to(group).is_some_and(|reason| reason.ends_with("a broadcast or multicast")));
        }
        for bad in [[0, 0, 0, 1], [127, 0, 0, 1], [240, 0, 0, 1], [255; 4], [224, 0, 0, 5], [18, 26, 7, 255]]
        {
            assert_eq!(from(bad), Some("no ICMP error to an invalid source"), "{bad:?}");
        }
        assert_eq!((to([18, 26, 4, 254]), from([223, 255, 255, 254])), (None, None));
        for kind in [Kind::Broadcast, Kind::Multicast] {
            assert!(reason(Sent { data: udp(9), kind, ..Sent::default() }).is_some());
        }
        let fragment = |field| reason(edited(udp(9), |ip| ip.set_fragment_field(field)).into());
        assert_eq!(fragment(ipv4::FLAG_MF), None);
        assert_eq!(fragment(1), Some("no ICMP error about a later fragment"));
        let icmp = |kind| {
            let mut data = edited(udp(9), |ip| ip.set_protocol(1));
            data[20] = kind;
            reason(data.into())
        };
        for kind in [3, 4, 5, 11, 12] {
            assert_eq!(icmp(kind), Some("no ICMP error about an ICMP error"));
        }
        assert_eq!((icmp(0), icmp(8)), (None, None));
        // The type can be told by four bytes; what has fewer may have been an error.
        let cut = |kind, len: usize| {
            let mut data = edited(udp(9), |ip| ip.set_protocol(1));
            data[20] = kind;
            data.truncate(20 + len);
            reason(data.into())
        };
        for len in 4..8 {
            assert_eq!((cut(8, len), cut(3, len).is_some()), (None, true), "{len}");
        }
        assert_eq!(cut(8, 3), Some("no ICMP error about an ICMP error"));
        assert_eq!(
            send_one("Inject -> ICMPError(1.2.3.4, 3) -> Collect(0)", udp(9)).drops(),
            [("no IP header", 1)]
        );
    }

    #[test]
    fn source_routes() {
        let options = [1, 131, 15, 12, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3];
        let flow = send_one(&config("3"), with_options(&options, 4));
        parse(flow.only(0));
        assert_eq!(flow.only(0).data()[20..32], [131, 11, 4, 2, 2, 2, 2, 1, 1, 1, 1, 0]);
        let flow = send_one(&config("redirect"), with_options(&options, 4));
        assert_eq!(flow.drops(), [("no redirect of a source-routed packet", 1)]);
        for (pointer, header_len) in [(20, 32), (21, 20), (35, 20), (36, 32)] {
            let annotations = vec![(Anno::ICMP_PARAMPROB, pointer)];
            let flow = send_one(
                &config("12"),
                Sent { data: with_options(&options, 4), annotations, ..Sent::default() },
            );
            assert_eq!(flow.only(0).transport_offset(), Some(header_len), "{pointer}");
        }
        let unusable = [137, 7, 9, 1, 1, 1, 1, 0];
        assert_eq!(send_one(&config("3"), with_options(&unusable, 4)).only(0).transport_offset(), Some(20));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile(), kind in prop::sample::select(vec![3, 4, 5, 11, 12]), mtu in 0u32..700) {
            let n = packets.len() as u64;
            let flow = send(&config(&format!("{kind}, MTU {mtu}")), packets);
            prop_assert_eq!(flow.seen.len() as u64 + flow.drops().iter().map(|(_, n)| n).sum::<u64>(), n);
            for (_, packet) in &flow.seen {
                let ((found, ..), _) = parse(packet);
                prop_assert_eq!(found, kind);
                prop_assert!(packet.len() <= (mtu as usize).max(68));
            }
        }
    }
}
