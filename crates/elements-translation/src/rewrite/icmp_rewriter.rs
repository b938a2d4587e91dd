//! Translates ICMP errors about packets that other rewriters have rewritten.
//!
//! ```click
//! ICMPRewriter(MAPS [, KEYWORDS])
//! ```
//!
//! An ICMP error quotes the beginning of the packet that it is about. If that packet was rewritten by one of the
//! elements in MAPS, the error is turned into one about the original packet, for the original sender: addresses,
//! ports and identifiers in the quoted packet are restored, all checksums are updated, and the destination address of
//! the error itself is changed too. It handles errors of the types destination unreachable, time exceeded, parameter
//! problem, source quench and redirect. They keep no mapping alive (RFC 5508, REQ-6).
//!
//! Errors go both ways. One that a host or router inside sends, about a packet that was let in, quotes the packet with
//! its inside address. With TRANSLATE_SRC it leaves as one of the public address (RFC 5508, REQ-5); without, as in
//! Click, it shows who sent it.
//!
//! Unlike Click, it leaves quoted ports, identifiers and destinations unchanged if the mapping does not contain them,
//! as with IPAddrRewriter and IPAddrPairRewriter.
//!
//! Rewritten errors leave by output 0, or by the output given in MAPS. Other packets are dropped.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `MAPS` (elements, separated by spaces): the rewriters whose mappings to search, in this order: IPRewriter,
//!   TCPRewriter, UDPRewriter, ICMPPingRewriter, IPAddrRewriter, IPAddrPairRewriter. With `NAME:N`, errors leave by
//!   the output that the rewriter would use for them, plus N.
//! - `DST_ANNO` (boolean, default true): whether to set the destination annotation to the new destination address.
//! - `REPLY_ANNO` (annotation of one byte): as for IPRewriter.
//! - `CHECKSUM` (boolean, default false): whether an error is dropped whose checksum is wrong, or that of the IP header that it quotes
//!   (RFC 5508, REQ-3). Transport checksums of quoted packets are not looked at.
//! - `TRANSLATE_SRC` (boolean, default false): whether an error gets the address that the quoted packet's destination
//!   becomes as its source, where that is another, whichever host inside has sent it.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! rw :: IPRewriter(pattern 18.26.4.24 50000-65535 - - 0 1, drop);
//! c :: IPClassifier(icmp type echo-reply, icmp, -);
//! c[1] -> ICMPRewriter(rw) -> inside;
//! ```
//!
//! Errors of both directions, where the rewriter's output 0 leads outside and output 1 inside:
//! ```click
//! from_outside -> e :: ICMPRewriter(rw:0) -> Discard; e[1] -> inside;
//! from_inside -> f :: ICMPRewriter(rw:0, TRANSLATE_SRC true) -> outside; f[1] -> Discard;
//! ```
//!
//! # See also
//! IPRewriter, ICMPPingRewriter

use super::apply::{
    self, ICMP_ID, address_words, adjust_icmp, adjust_transport, adjusted, difference, set_addresses,
    set_ports, set_word, split, split_mut, word,
};
use super::arguments::{Annotations, REWRITERS};
use super::flow_set::FlowMatch;
use super::nat::{Circumstances, Nat, Purpose};
use super::record::REPLY;
use elements_shared::flow_id::FlowId;
use packet::{Batch, Packet};
use router::{AnnoOf, Class, Config, ConfigError, Cx, Element, Raw, Verdict, parse_integer};
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::{icmpv4, ip_proto};

/// The class.
pub(crate) const CLASS: Class = Class::new("ICMPRewriter", create)
    .ports("1/1-")
    .processing("h/h")
    .flow("x/x")
    .doc(router::manual!("icmp_rewriter.rs"));

/// A rewriter to look at, and where its errors leave.
struct Map {
    element: usize,
    nat: Option<Arc<Nat>>,
    /// What is added to the rewriter's output; `None` for output 0 always.
    offset: Option<usize>,
}

struct ICMPRewriter {
    maps: Vec<Map>,
    annotations: Annotations,
    translates_source: bool,
    checks: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut maps, mut dst, mut reply) = (Raw::default(), true, None::<AnnoOf<1>>);
    let (mut translates_source, mut checks) = (false, false);
    config
        .args()
        .required("MAPS", &mut maps)
        .keyword("DST_ANNO", &mut dst)
        .keyword("REPLY_ANNO", &mut reply)
        .keyword("TRANSLATE_SRC", &mut translates_source)
        .keyword("CHECKSUM", &mut checks)
        .finish()?;
    let mut error = ConfigError::default();
    let mut list = Vec::new();
    for word in lang::conf::split_spaces(&maps.0) {
        match parse_map(config, &word) {
            Ok(map) => list.push(map),
            Err(message) => error.messages.push(message),
        }
    }
    if list.is_empty() {
        error.messages.push("no IP rewriters supplied".to_owned());
    }
    if !error.messages.is_empty() {
        return Err(error);
    }
    let annotations = Annotations { dst, reply: reply.map(|AnnoOf(anno)| anno) };
    Ok(Box::new(ICMPRewriter { maps: list, annotations, translates_source, checks }))
}

/// Reads `NAME` or `NAME:OFFSET`.
fn parse_map(config: &Config<'_>, word: &str) -> Result<Map, String> {
    let (name, offset) = match word.split_once(':') {
        Some((name, offset)) => (name, Some(parse_integer(offset).and_then(|n| usize::try_from(n).ok()))),
        None => (word, None),
    };
    let element = config.find(name).filter(|&element| REWRITERS.contains(&config.class_of(element)));
    match (element, offset) {
        (None, _) | (_, Some(None)) => Err(format!("{word} not an IP rewriter")),
        (Some(element), offset) => Ok(Map { element, nat: None, offset: offset.flatten() }),
    }
}

/// The packet that an ICMP error is about, as far as it is contained in it.
struct Inner {
    protocol: u8,
    /// What a reply to it would have; for an echo, the identifier as the source port.
    search: FlowId,
    /// Whether ports, or an identifier, are there.
    transport: bool,
    /// That a reply is looked for, or what an answer to an echo answers.
    purpose: Purpose,
}

/// Finds the packet that an ICMP error is about.
fn inner(icmp: &[u8]) -> Option<Inner> {
    if !icmpv4::Header::new_checked(icmp).ok()?.is_error() {
        return None;
    }
    let packet = icmp.get(icmpv4::HEADER_LEN..)?;
    let header = wire::ipv4::Header::new_checked(packet).ok()?;
    if header.version() != 4 || header.header_len() < wire::ipv4::HEADER_LEN {
        return None;
    }
    let rest = packet.get(header.header_len()..).unwrap_or(&[]);
    let mut search = FlowId::new(header.dst(), 0, header.src(), 0);
    let (mut transport, mut purpose) = (false, Purpose::Reply);
    if header.is_first_fragment() {
        match header.protocol() {
            ip_proto::TCP | ip_proto::UDP | ip_proto::DCCP => {
                if let (8.., Some(source), Some(destination)) = (rest.len(), word(rest, 0), word(rest, 2)) {
                    (search.sport, search.dport, transport) = (destination, source, true);
                }
            }
            ip_proto::ICMP => {
                let kind = rest.first().copied();
                if let (Some(icmpv4::kind::ECHO | icmpv4::kind::ECHO_REPLY), Some(identifier)) =
                    (kind, word(rest, ICMP_ID))
                {
                    (search.sport, transport) = (identifier, true);
                }
                if kind == Some(icmpv4::kind::ECHO_REPLY) {
                    purpose = Purpose::Check;
                }
            }
            _ => {}
        }
    }
    Some(Inner { protocol: header.protocol(), search, transport, purpose })
}

/// Whether an error's checksum is right, and that of the IP header that it quotes.
fn is_sound(icmp: &[u8]) -> bool {
    let quoted = icmp.get(icmpv4::HEADER_LEN..).unwrap_or(&[]);
    let header_len = quoted.first().map_or(0, |first| usize::from(first & 15) * 4);
    let is_right = |bytes: &[u8]| wire::checksum::checksum(bytes) == 0;
    is_right(icmp) && quoted.get(..header_len).is_some_and(is_right)
}

/// The words of an ICMP error that may change, apart from its own checksum.
fn changing_words(inner: &[u8], protocol: u8) -> [u16; 8] {
    let Some((header, rest)) = split(inner) else { return [0; 8] };
    let [a, b, c, d] = address_words(FlowId::new(header.src(), 0, header.dst(), 0));
    let at = |offset| word(rest, offset).unwrap_or(0);
    let [e, f, g] = match protocol {
        ip_proto::TCP => [at(0), at(2), at(16)],
        ip_proto::UDP | ip_proto::DCCP => [at(0), at(2), at(6)],
        ip_proto::ICMP => [at(2), at(ICMP_ID), 0],
        _ => [0; 3],
    };
    [header.checksum(), a, b, c, d, e, f, g]
}

/// Rewrites the packet that an error is about, and the error's checksum.
fn rewrite_inner(icmp: &mut [u8], inner: &Inner, new: FlowId) {
    let Some((header, packet)) = icmp.split_at_mut_checked(icmpv4::HEADER_LEN) else { return };
    let before = changing_words(packet, inner.protocol);
    if let Some((mut ip, rest)) = split_mut(packet) {
        let sent = new.reversed();
        let old = FlowId { saddr: ip.src().to_bits(), daddr: ip.dst().to_bits(), ..FlowId::default() };
        let mut change = difference(address_words(old), address_words(sent));
        set_addresses(&mut ip, sent, change);
        if inner.transport && inner.protocol == ip_proto::ICMP {
            let identifier = if inner.purpose == Purpose::Reply { new.dport } else { new.sport };
            let change = difference([inner.search.sport], [identifier]);
            set_word(rest, ICMP_ID, identifier);
            adjust_icmp(&ip, rest, change);
        } else if inner.transport {
            let ports = inner.search.reversed();
            change = difference(apply::words(ports), apply::words(sent));
            set_ports(rest, sent);
            adjust_transport(inner.protocol, rest, change);
        }
    }
    let change = difference(before, changing_words(packet, inner.protocol));
    if let Some(old) = word(header, 2) {
        set_word(header, 2, adjusted(old, change));
    }
}

impl ICMPRewriter {
    fn process(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let icmp = || packet.network().and_then(split).map(|(_, icmp)| icmp);
        if self.checks && !icmp().is_some_and(is_sound) {
            return Verdict::Drop("ICMP error with a wrong checksum");
        }
        match self.rewrite(cx, packet) {
            Some(output) => Verdict::Output(output),
            None => Verdict::Drop("no ICMP error with a mapping"),
        }
    }

    /// Rewrites an error. The output by which it leaves; `None` if it has no mapping.
    fn rewrite(&self, cx: &mut Cx<'_>, packet: &mut Packet) -> Option<usize> {
        let (ip, icmp) = split(packet.network()?)?;
        if ip.protocol() != ip_proto::ICMP {
            return None;
        }
        let (inner, to_sender) = (inner(icmp)?, ip.dst());
        let turn = cx.turn();
        let mut with = Circumstances { worker: cx.worker(), now_ms: 0, random: &mut |_| 0 };
        let (found, map) = self.maps.iter().find_map(|map| {
            let nat = map.nat.as_deref()?;
            let found = nat.entry(turn, inner.protocol, inner.search, inner.purpose, &mut with)?;
            Some((found, map))
        })?;
        let new = self.complete(&found, &inner);
        let (mut ip, icmp) = split_mut(packet.network_mut()?)?;
        let is_sender = to_sender == inner.search.destination();
        if is_sender {
            ip.update_dst(new.destination());
        }
        if self.translates_source && new.saddr != inner.search.saddr {
            ip.update_src(new.source());
        }
        rewrite_inner(icmp, &inner, new);
        if is_sender && self.annotations.dst {
            packet.set_dst_ip(Ipv4Addr::from_bits(new.daddr));
        }
        if let Some(anno) = self.annotations.reply
            && found.direction == REPLY
        {
            packet.set_anno(anno, u64::from(found.flow.reply_anno()));
        }
        Some(map.offset.map_or(0, |offset| offset + found.output()))
    }

    /// What the reply's identifier becomes. A mapping that knows addresses only, or just one of them, leaves the rest as
    /// it is.
    fn complete(&self, found: &FlowMatch<'_>, inner: &Inner) -> FlowId {
        let (new, old) = (found.rewritten(), inner.search);
        if found.flow.protocol() != 0 {
            return new;
        }
        let or = |new: u32, old: u32| if new == 0 { old } else { new };
        let dport = if inner.protocol == ip_proto::ICMP { old.sport } else { old.dport };
        FlowId { saddr: or(new.saddr, old.saddr), daddr: or(new.daddr, old.daddr), sport: old.sport, dport }
    }
}

impl Element for ICMPRewriter {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        for map in &mut self.maps {
            map.nat = cx.info().shared(map.element);
            let (outputs, rewriter) =
                (cx.info().nodes[cx.index()].outputs.len(), &cx.info().nodes[map.element]);
            let all = rewriter.outputs.len();
            let of_flows = map.nat.as_ref().map_or(all, |nat| nat.outputs_of_flows(cx.info()));
            if let Some(offset) = map.offset
                && offset + of_flows > outputs
            {
                let s = if outputs == 1 { "" } else { "s" };
                let name = &rewriter.name;
                return Err(
                    format!("{name}:{offset} port offset requires more than {outputs} output{s}").into()
                );
            }
        }
        Ok(())
    }

    fn push_one(&mut self, cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        Some(self.process(cx, packet))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.scatter(batch, |cx, packet| self.process(cx, packet));
    }
}

#[cfg(test)]
mod tests {
    use crate::rewrite::samples::{icmp, tcp, udp};
    use crate::testing::errors;
    use crate::testing::{Flow, send};
    use wire::tcp::flag::SYN;

    /// All ICMP errors go to the ICMPRewriter, everything else to the rewriter under test.
    fn run(rewriter: &str, maps: &str, packets: Vec<Vec<u8>>) -> Flow {
        let config = format!(
            "Inject -> MarkIPHeader -> c :: Classifier(9/01 20/03, 9/01 20/0b, -); rw :: {rewriter} -> Collect(0);
             c[0] -> e :: ICMPRewriter({maps}); c[1] -> e; c[2] -> rw; e[0] -> Collect(1); e[1] -> Collect(2);"
        );
        send(&config, packets)
    }

    fn error(kind: u8, dst: &str, about: &[u8]) -> Vec<u8> {
        icmp(kind, [0; 4], "7.7.7.7", dst, about)
    }

    /// The error about a rewritten packet becomes the error about the original one, with every checksum that would be
    /// there without translation.
    #[test]
    fn about_rewritten_packets() {
        let nat = "IPRewriter(pattern 1.2.3.4 40-50# - - 0 0)";
        for (kind, original, rewritten) in [
            (3, udp("10.0.0.1:1", "5.6.7.8:80"), udp("1.2.3.4:40", "5.6.7.8:80")),
            (
                11,
                tcp("10.0.0.1:1", "5.6.7.8:80", SYN, (5, 6), b"data"),
                tcp("1.2.3.4:40", "5.6.7.8:80", SYN, (5, 6), b"data"),
            ),
        ] {
            let packets = vec![original.clone(), error(kind, "1.2.3.4", &rewritten)];
            let flow = run(nat, "rw", packets);
            assert_eq!(flow.data(1), [error(kind, "10.0.0.1", &original)]);
            assert_eq!(flow.seen.last().unwrap().1.dst_ip().to_string(), "10.0.0.1");
            // Eight bytes of the transport header are enough.
            let packets = vec![original.clone(), error(kind, "1.2.3.4", &rewritten[..28])];
            assert_eq!(run(nat, "rw", packets).data(1), [error(kind, "10.0.0.1", &original[..28])]);
        }
    }

    #[test]
    fn about_pings() {
        let ping = |id, src| icmp(8, [0, id, 0, 1], src, "5.6.7.8", b"ping");
        let packets = vec![ping(7, "10.0.0.1"), error(11, "1.2.3.4", &ping(100, "1.2.3.4"))];
        let flow = run("ICMPPingRewriter(pattern 1.2.3.4 100-110# - - 0 0)", "rw", packets);
        assert_eq!(flow.data(1), [error(11, "10.0.0.1", &ping(7, "10.0.0.1"))]);
    }

    /// Rewriters of addresses leave ports and destinations alone, also inside errors.
    #[test]
    fn about_packets_with_other_addresses() {
        let packets =
            || vec![udp("10.0.0.1:1", "5.6.7.8:80"), error(3, "1.2.3.4", &udp("1.2.3.4:1", "5.6.7.8:80"))];
        for nat in ["IPAddrRewriter(pattern 1.2.3.4 - 0 0)", "IPAddrPairRewriter(pattern 1.2.3.4 - 0 0)"] {
            let flow = run(nat, "rw", packets());
            assert_eq!(flow.data(1), [error(3, "10.0.0.1", &udp("10.0.0.1:1", "5.6.7.8:80"))]);
        }
    }

    /// An error that a host inside sends, or a router on the way to it, leaves as one of the public address about the packet as it came; it keeps
    /// no mapping alive. Without TRANSLATE_SRC its source stays. One from outside shows who sent it in either case.
    #[test]
    fn from_inside() {
        let nat = "IPRewriter(pattern 1.2.3.4 40-50# - - 0 0)";
        let (sent, came) = (udp("10.0.0.1:1", "5.6.7.8:80"), udp("5.6.7.8:80", "10.0.0.1:1"));
        let told = |src, dst, about: &[u8]| icmp(3, [0; 4], src, dst, about);
        for router in ["10.0.0.1", "10.0.0.254"] {
            let packets = vec![sent.clone(), told(router, "5.6.7.8", &came)];
            let flow = run(nat, "rw, TRANSLATE_SRC true", packets.clone());
            let outside = udp("5.6.7.8:80", "1.2.3.4:40");
            assert_eq!(flow.data(1), [told("1.2.3.4", "5.6.7.8", &outside)]);
            assert_eq!(flow.seen.last().unwrap().1.dst_ip().to_string(), "5.6.7.8");
            assert_eq!(run(nat, "rw", packets).data(1), [told(router, "5.6.7.8", &outside)]);
        }
        let back = [sent.clone(), error(3, "1.2.3.4", &udp("1.2.3.4:40", "5.6.7.8:80"))];
        assert_eq!(run(nat, "rw, TRANSLATE_SRC true", back.into()).data(1), [error(3, "10.0.0.1", &sent)]);
        // A server behind the translator.
        let server = "IPRewriter(pattern - - 10.0.0.80 8080 0 0)";
        let (sent, came) = (udp("5.6.7.8:9", "1.2.3.4:80"), udp("5.6.7.8:9", "10.0.0.80:8080"));
        let flow =
            run(server, "rw, TRANSLATE_SRC true", vec![sent.clone(), told("10.0.0.80", "5.6.7.8", &came)]);
        assert_eq!(flow.data(1), [told("1.2.3.4", "5.6.7.8", &sent)]);
    }

    /// Errors about answers to pings: from inside, about one that the translator let in, and from outside, about one that it let out.
    #[test]
    fn about_answers_to_pings() {
        let ping = |kind, id, src, dst| icmp(kind, [0, id, 0, 1], src, dst, b"ping");
        let nat = "ICMPPingRewriter(pattern 1.2.3.4 100-110# - - 0 0)";
        let asked = ping(8, 7, "10.0.0.1", "5.6.7.8");
        let told = |src, about: &[u8]| icmp(11, [0; 4], src, "5.6.7.8", about);
        let packets = vec![asked, told("10.0.0.1", &ping(0, 7, "5.6.7.8", "10.0.0.1"))];
        let flow = run(nat, "rw, TRANSLATE_SRC true", packets);
        assert_eq!(flow.data(1), [told("1.2.3.4", &ping(0, 100, "5.6.7.8", "1.2.3.4"))]);
        // The server's answer to a ping from outside.
        let asked = ping(8, 7, "5.6.7.8", "1.2.3.4");
        let packets = vec![asked, error(11, "1.2.3.4", &ping(0, 7, "1.2.3.4", "5.6.7.8"))];
        let flow = run("ICMPPingRewriter(pattern - - 10.0.0.80 - 0 0)", "rw", packets);
        assert_eq!(flow.data(1), [error(11, "10.0.0.80", &ping(0, 7, "10.0.0.80", "5.6.7.8"))]);
    }

    /// With CHECKSUM an error is dropped whose checksum is wrong, or that of the quoted header, but not if that of the quoted datagram is, or
    /// options, extensions or padding are there (RFC 5508, REQ-3); without, none is.
    #[test]
    fn wrong_checksums() {
        let nat = "IPRewriter(pattern 1.2.3.4 40-50# - - 0 0)";
        let (sent, about) = (udp("10.0.0.1:1", "5.6.7.8:80"), udp("1.2.3.4:40", "5.6.7.8:80"));
        let flipped = |at: usize, from: &[u8]| {
            let mut bytes = from.to_vec();
            bytes[at] ^= 1;
            bytes
        };
        let mut with_options = about[..20].to_vec();
        with_options[0] = 0x46;
        with_options[10..12].fill(0);
        with_options.extend([1; 4]);
        let sum = elements_testing::transport_samples::naive_checksum(&with_options).to_be_bytes();
        with_options[10..12].copy_from_slice(&sum);
        with_options.extend(&about[20..]);
        let whole = error(3, "1.2.3.4", &about);
        for (packet, is_right) in [
            (whole.clone(), true),
            (flipped(20 + 2, &whole), false),
            (error(3, "1.2.3.4", &flipped(11, &about)), false),
            (error(3, "1.2.3.4", &flipped(26, &about)), true),
            (error(3, "1.2.3.4", &with_options), true),
            (error(3, "1.2.3.4", &[&about[..], &[0; 100], &[0x20, 0, 0xff, 0xff]].concat()), true),
            (error(3, "1.2.3.4", &about[..15]), false),
        ] {
            for checks in [false, true] {
                let flow = run(nat, &format!("rw, CHECKSUM {checks}"), vec![sent.clone(), packet.clone()]);
                let goes_on = packet.len() > 43 && (is_right || !checks);
                assert_eq!(flow.data(1).len(), usize::from(goes_on), "{packet:?}");
                if goes_on && is_right {
                    let told = &flow.data(1)[0];
                    let header_len = usize::from(told[28] & 15) * 4;
                    assert_eq!(told[28 + 12..28 + 16], [10, 0, 0, 1]);
                    assert_eq!(told[28 + header_len..][..4], [0, 1, 0, 80]);
                    assert!(super::is_sound(&told[20..]));
                }
            }
        }
    }

    /// Errors about a ping and about its answer, from both sides, keep the flow neither alive nor make it go (RFC 5508, REQ-6), and it
    /// outlives a minute of silence (REQ-2).
    #[test]
    fn errors_change_no_timeout() {
        let ping = |kind, id, src, dst| icmp(kind, [0, id, 0, 1], src, dst, b"ping");
        let source = |packet: &[u8], at_s: &str, to: &str| {
            let hex: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("TimedSource({at_s}, \\<{hex}>, LIMIT 1) -> MarkIPHeader -> {to};")
        };
        let errors = [
            error(3, "1.2.3.4", &ping(8, 100, "1.2.3.4", "5.6.7.8")),
            icmp(11, [0; 4], "10.0.0.1", "5.6.7.8", &ping(0, 7, "5.6.7.8", "10.0.0.1")),
        ];
        let sources: String = ["30", "59"]
            .into_iter()
            .flat_map(|at_s| errors.iter().map(move |error| source(error, at_s, "e")))
            .collect();
        let config = |timeout: &str| {
            format!(
                "rw :: ICMPPingRewriter(pattern 1.2.3.4 100-110# - - 0 0, REAP_INTERVAL 1{timeout}) -> Discard;
                 e :: ICMPRewriter(rw, TRANSLATE_SRC true, CHECKSUM true) -> c :: Counter -> Discard; {} {sources}
                 Script(wait 59.5, print $(c.count) $(rw.table_size), wait 4, print $(rw.table_size), wait 250, print $(rw.table_size), stop)",
                source(&ping(8, 7, "10.0.0.1", "5.6.7.8"), "0.5", "rw")
            )
        };
        for (timeout, expected) in [("", "4 1\n1\n0\n"), (", TIMEOUT 60", "4 1\n0\n0\n")] {
            assert_eq!(crate::testing::run(&config(timeout)), expected);
        }
    }

    /// Errors leave by the rewriter's output for the direction, plus an offset; without a mapping they are dropped.
    #[test]
    fn outputs_and_strangers() {
        let packet = udp("10.0.0.1:1", "5.6.7.8:80");
        let packets = vec![
            packet.clone(),
            error(3, "1.2.3.4", &udp("1.2.3.4:40", "5.6.7.8:80")),
            error(3, "1.2.3.4", &udp("1.2.3.4:41", "5.6.7.8:80")),
            error(3, "1.2.3.4", &[]),
            error(3, "1.2.3.4", &packet[..20]),
        ];
        let flow = run("IPRewriter(pattern 1.2.3.4 40 - - 0 0)", "rw:1", packets);
        assert_eq!(flow.data(2).len(), 1);
        assert_eq!(flow.drops(), [("no ICMP error with a mapping", 3)]);
    }

    #[test]
    fn bad_arguments() {
        let with = |maps: &str| {
            errors(&format!(
                "InfiniteSource -> rw :: IPRewriter(drop) -> Discard; InfiniteSource -> ICMPRewriter({maps}) -> Discard;"
            ))
        };
        assert!(with("").contains("MAPS"));
        assert!(with("x").contains("x not an IP rewriter"));
        assert!(with("rw:x").contains("rw:x not an IP rewriter"));
        assert!(with("rw:1").contains("rw:1 port offset requires more than 1 output"));
        // Of packets that get no mapping there are no errors to be translated.
        let text = |unmapped| {
            format!(
                "Idle -> rw :: IPRewriter(keep 0 1{unmapped}); rw[0] -> Discard; rw[1] -> Discard; rw[2] -> Discard;
                 Idle -> er :: ICMPRewriter(rw:0); er[0] -> Discard; er[1] -> Discard;"
            )
        };
        assert!(errors(&text("")).contains("rw:0 port offset requires more than 2 outputs"));
        assert!(crate::testing::build(&text(", UNMAPPED 2"), 1, 1).is_ok());
        // There are, if packets that have one leave by the same output.
        for spec in ["keep 0 2", "pattern 1.2.3.4 - - - 2 0", "m"] {
            let text = text(", UNMAPPED 2").replace("keep 0 1", spec);
            let text = format!("m :: RoundRobinIPMapper(1.2.3.4 - - - 0 1, 1.2.3.5 - - - 0 2); {text}");
            assert!(errors(&text).contains("rw:0 port offset requires more than 2 outputs"), "{spec}");
        }
    }
}
