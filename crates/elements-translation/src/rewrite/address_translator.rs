//! Translates addresses and ports of IPv6 packets.
//!
//! ```click
//! AddressTranslator(STATICS [, STATIC_PORTS, MAPPING, ...], DYNAMIC [, DYNAMIC_PORTS, DIRECTION, POOL, ...])
//! ```
//!
//! Outbound packets arrive at input 0 and leave by output 0 with a new source; inbound packets arrive at input 1 and
//! leave by output 1 with a new destination. Packets start with the IPv6 header, followed by TCP, UDP or ICMPv6;
//! checksums are updated. Other packets, and packets without a mapping, are dropped. ICMPv6 errors follow the mapping of
//! the packet that they quote, which is translated, too, with its checksum; they make no mapping.
//!
//! Static mappings tie an inner address to a mapped one, or an inner address and port to a mapped address and port.
//! Dynamic mappings are created for packets of one direction. Without ports, each new address permanently gets the
//! next address of a pool; with ports, each new flow gets the next port of a range. When none is left, packets are
//! dropped.
//!
//! Unlike in Click, static mappings work the same whatever the direction of dynamic ones; dynamic ports can be
//! combined with static mappings; ICMPv6 packets have no ports (so that they match mappings by address alone);
//! annotations are kept; and nothing is printed for dropped packets.
//!
//! Ports: 2 inputs, 2 outputs. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `STATICS` (integer): the number of static mappings.
//! - `STATIC_PORTS` (boolean), only if there are any: whether static mappings have ports.
//! - `MAPPING`, STATICS times: `INNER MAPPED` or, with ports, `INNER PORT MAPPED PORT`.
//! - `DYNAMIC` (boolean): whether there are dynamic mappings. If not, this is the last argument.
//! - `DYNAMIC_PORTS` (boolean): whether dynamic mappings have ports.
//! - `DIRECTION` (boolean): which packets create them: 0 for outbound packets, which get mapped addresses from the
//!   pool; 1 for inbound packets, which get inner addresses.
//! - `POOL`: with ports, `ADDRESS FIRST_PORT LAST_PORT`; without, addresses, one per argument.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! at :: AddressTranslator(0, true, true, 0, 2001:db8::1 50000 60000);
//! ```
//!
//! # See also
//! ProtocolTranslator64, ProtocolTranslator46, IPRewriter

use super::apply::{adjusted, difference, set_word, word};
use packet::{Batch, Packet};
use router::{
    Class, Config, ConfigError, Cx, Element, FromArg, Level, Residency, Scope, Verdict, parse_boolean,
    parse_integer,
};
use std::any::Any;
use std::collections::HashMap;
use std::net::Ipv6Addr;
use wire::icmpv6;
use wire::ip_proto;
use wire::ipv6::{HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("AddressTranslator", create)
    .ports("2/2")
    .processing("h/h")
    .flow("xy/xy")
    .residency(Residency::Exclusive)
    .keeps("flows", "", 65_536, 256)
    .doc(router::manual!("address_translator.rs"));

/// The types of ICMPv6 errors that quote a packet (RFC 4443).
const ERRORS: std::ops::RangeInclusive<u8> = 1..=4;
/// Flows with dynamic ports, at most.
const MAX_FLOWS: usize = 1 << 16;

/// An address and a port; 0 stands for any port.
type End = (Ipv6Addr, u16);

/// Where dynamic mappings come from.
#[derive(Debug, Default)]
enum Pool {
    #[default]
    None,
    /// Addresses, the next one last.
    Addresses(Vec<Ipv6Addr>),
    /// Ports of an address: the next one, and the last one. A range of one port serves all flows.
    Ports { address: Ipv6Addr, first: u16, next: u32, last: u16 },
}

#[derive(Debug, Default)]
struct AddressTranslator {
    /// By direction: what an end becomes, whatever is at the other end.
    bound: [HashMap<End, End>; 2],
    /// By direction: what an end becomes towards another one.
    flows: [HashMap<(End, End), End>; 2],
    pool: Pool,
    /// Packets of which direction make mappings.
    makes: usize,
    arguments: Vec<String>,
}

/// The arguments, one after the other.
struct Words<'w> {
    words: &'w [String],
    at: usize,
    scope: Scope<'w>,
}

impl Words<'_> {
    fn next<T>(&mut self, what: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, ConfigError> {
        let at = self.at;
        self.at += 1;
        let value = self.words.get(at).and_then(|text| read(text.trim()));
        value.ok_or_else(|| format!("argument {at} should be : {what}").into())
    }

    fn ends(&mut self, ports: bool) -> Result<(End, End), ConfigError> {
        let scope = self.scope;
        let what =
            if ports { "<IP6Address> <port> <IP6Address> <port>" } else { "<IP6Address> <IP6Address>" };
        self.next(what, |text| match (ports, lang::conf::split_spaces(text).as_slice()) {
            (false, [inner, mapped]) => Some(((address(inner, scope)?, 0), (address(mapped, scope)?, 0))),
            (true, [inner, port, mapped, mapped_port]) => Some((
                (address(inner, scope)?, number(port)?),
                (address(mapped, scope)?, number(mapped_port)?),
            )),
            _ => None,
        })
    }
}

fn address(text: &str, scope: Scope<'_>) -> Option<Ipv6Addr> {
    Ipv6Addr::from_arg(text, scope).ok()
}

fn number(text: &str) -> Option<u16> {
    parse_integer(text).and_then(|number| u16::try_from(number).ok())
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let words = lang::conf::split_args(config.text());
    let scope = config.scope();
    let mut args = Words { words: &words, at: 0, scope };
    let mut e = AddressTranslator { arguments: words.clone(), ..AddressTranslator::default() };
    let statics = args.next("integer", number)?;
    let ports = statics > 0 && args.next("bool", parse_boolean)?;
    for _ in 0..statics {
        let (inner, mapped) = args.ends(ports)?;
        e.bind(0, inner, mapped);
    }
    if !args.next("bool", parse_boolean)? {
        return Ok(Box::new(e));
    }
    let ports = args.next("bool", parse_boolean)?;
    e.makes = usize::from(args.next("bool", parse_boolean)?);
    e.pool = if ports {
        args.next("<IP6Address> <port> <port>", |text| match lang::conf::split_spaces(text).as_slice() {
            [pool, first, last] => {
                let (first, last) = (number(first)?, number(last)?);
                let address = address(pool, scope)?;
                (first <= last).then_some(Pool::Ports { address, first, next: first.into(), last })
            }
            _ => None,
        })?
    } else {
        let mut pool = Vec::new();
        while args.at < words.len() {
            pool.push(args.next("<IP6Address>", |text| address(text, scope))?);
        }
        pool.reverse();
        Pool::Addresses(pool)
    };
    Ok(Box::new(e))
}

impl AddressTranslator {
    /// Ties what an end is in a direction to what it becomes, both ways.
    fn bind(&mut self, direction: usize, from: End, to: End) {
        self.bound[direction].entry(from).or_insert(to);
        self.bound[1 - direction].entry(to).or_insert(from);
    }

    /// What this side's end of a packet becomes.
    fn translate(&mut self, direction: usize, local: End, remote: End) -> Option<End> {
        match self.known(direction, local, remote) {
            None if direction == self.makes => self.make(direction, local, remote),
            known => known,
        }
    }

    /// What it becomes by a mapping that there is.
    fn known(&self, direction: usize, local: End, remote: End) -> Option<End> {
        let bound = &self.bound[direction];
        if let Some(&to) = bound.get(&local) {
            return Some(if to.1 == 0 { (to.0, local.1) } else { to });
        }
        if let Some(&(to, _)) = bound.get(&(local.0, 0)) {
            return Some((to, local.1));
        }
        self.flows[direction].get(&(local, remote)).copied()
    }

    fn make(&mut self, direction: usize, local: End, remote: End) -> Option<End> {
        match &mut self.pool {
            Pool::None => None,
            Pool::Addresses(pool) => {
                let to = pool.pop()?;
                self.bind(direction, (local.0, 0), (to, 0));
                Some((to, local.1))
            }
            Pool::Ports { address, first, next, last } => {
                if self.flows[direction].len() >= MAX_FLOWS {
                    return None;
                }
                let port = match (local.1, first == last) {
                    (0, _) => 0,
                    (_, true) => *last,
                    _ => {
                        let port = u16::try_from(*next).ok().filter(|port| port <= last)?;
                        *next += 1;
                        port
                    }
                };
                let to = (*address, port);
                self.flows[direction].insert((local, remote), to);
                self.flows[1 - direction].insert((to, remote), local);
                Some(to)
            }
        }
    }

    fn process(&mut self, direction: usize, packet: &mut Packet) -> Verdict {
        match self.rewrite(direction, packet.data_mut()) {
            Ok(()) => Verdict::Output(direction),
            Err(reason) => Verdict::Drop(reason),
        }
    }

    fn rewrite(&mut self, direction: usize, data: &mut [u8]) -> Result<(), &'static str> {
        const SHORT: &str = "no whole IPv6 header";
        let (header, transport) = data.split_first_chunk_mut::<HEADER_LEN>().ok_or(SHORT)?;
        let mut header = Header::new(header);
        let protocol = header.next_header();
        let (ports, checksum) = layout(protocol).ok_or("protocol unrecognized")?;
        if protocol == ip_proto::ICMPV6 && transport.first().is_some_and(|kind| ERRORS.contains(kind)) {
            return self.rewrite_error(direction, &mut header, transport);
        }
        let sum = word(transport, checksum).ok_or(SHORT)?;
        let port = |at| if ports { word(transport, at).unwrap_or(0) } else { 0 };
        let ends = [(header.src(), port(0)), (header.dst(), port(2))];
        let (old, remote) = (ends[direction], ends[1 - direction]);
        let new = self.translate(direction, old, remote).ok_or("no mapping")?;
        if direction == 0 {
            header.set_src(new.0);
        } else {
            header.set_dst(new.0);
        }
        if ports {
            set_word(transport, direction * 2, new.1);
        }
        if protocol == ip_proto::UDP && sum == 0 {
            return Ok(()); // there is none, as tunnels may have it (RFC 6935)
        }
        let change = difference(words(old), words(new));
        let mut sum = adjusted(sum, change);
        if protocol == ip_proto::UDP && sum == 0 {
            sum = 0xffff; // zero would say that there is none
        }
        set_word(transport, checksum, sum);
        Ok(())
    }

    /// An error goes where the packet that it quotes came from, which is quoted as it was there.
    fn rewrite_error(
        &self,
        direction: usize,
        header: &mut Header<&mut [u8; HEADER_LEN]>,
        icmp: &mut [u8],
    ) -> Result<(), &'static str> {
        const SHORT: &str = "no whole packet in an ICMPv6 error";
        let (head, quote) = icmp.split_at_mut_checked(icmpv6::HEADER_LEN).ok_or(SHORT)?;
        let (quoted, transport) = quote.split_first_chunk_mut::<HEADER_LEN>().ok_or(SHORT)?;
        let mut quoted = Header::new(quoted);
        let (ports, checksum) = layout(quoted.next_header()).unwrap_or((false, usize::MAX));
        let port = |at| if ports { word(transport, at).unwrap_or(0) } else { 0 };
        // It went the other way.
        let ends = [(quoted.dst(), port(2)), (quoted.src(), port(0))];
        let (old, remote) = (ends[direction], ends[1 - direction]);
        let new = self.known(direction, old, remote).ok_or("no mapping")?;
        let outer = if direction == 0 { header.src() } else { header.dst() };
        if direction == 0 {
            header.set_src(new.0);
            quoted.set_dst(new.0);
        } else {
            header.set_dst(new.0);
            quoted.set_src(new.0);
        }
        let end = difference(words(old), words(new));
        let mut changes = [difference(outer.segments(), new.0.segments()), end, 0];
        if ports && word(transport, (1 - direction) * 2).is_some() {
            set_word(transport, (1 - direction) * 2, new.1);
        }
        if let Some(sum) = word(transport, checksum).filter(|&sum| sum != 0) {
            let mended = adjusted(sum, end);
            set_word(transport, checksum, mended);
            changes[2] = difference([sum], [mended]);
        }
        let sum = word(head, 2).ok_or(SHORT)?;
        set_word(head, 2, changes.into_iter().fold(sum, adjusted));
        Ok(())
    }
}

/// Whether a protocol has ports, and where its checksum is.
fn layout(protocol: u8) -> Option<(bool, usize)> {
    match protocol {
        ip_proto::TCP => Some((true, 16)),
        ip_proto::UDP => Some((true, 6)),
        ip_proto::ICMPV6 => Some((false, 2)),
        _ => None,
    }
}

/// The words of an end that checksums cover.
fn words(end: End) -> [u16; 9] {
    let [a, b, c, d, e, f, g, h] = end.0.segments();
    [a, b, c, d, e, f, g, h, end.1]
}

impl Element for AddressTranslator {
    fn push_one(&mut self, _cx: &mut Cx<'_>, port: usize, packet: &mut Packet) -> Option<Verdict> {
        Some(self.process(port, packet))
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        cx.scatter(batch, |_, packet| self.process(port, packet));
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(self)))
    }

    /// Mappings stay if the arguments do: others may give the same addresses and ports to another host.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(old) = state.downcast::<AddressTranslator>() {
            if old.arguments == self.arguments {
                *self = *old;
            } else {
                cx.say(Level::Warning, format_args!("{}: mappings lost (other arguments)", cx.name()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Flow, send};
    use wire::ipv6::{HEADER_LEN, Header};
    use wire::{ip_proto, tcp, udp};

    /// A packet, with the lower half of its addresses and its ports: `a:1 b:2`.
    fn packet(protocol: u8, ends: &str) -> Vec<u8> {
        let end = |text: &str| {
            let (address, port) = text.split_once('.').unwrap();
            (format!("2001:db8::{address}").parse().unwrap(), port.parse::<u16>().unwrap())
        };
        let (from, to) = ends.split_once(' ').unwrap();
        let ((src, sport), (dst, dport)) = (end(from), end(to));
        let mut transport = vec![0; if protocol == ip_proto::TCP { 20 } else { 8 }];
        if protocol == ip_proto::ICMPV6 {
            transport[0] = 128;
        } else {
            transport[..4].copy_from_slice(&(u32::from(sport) << 16 | u32::from(dport)).to_be_bytes());
        }
        transport.extend(b"data!");
        match protocol {
            ip_proto::TCP => {
                transport[12] = 5 << 4;
                tcp::fill_checksum_v6(src, dst, &mut transport).unwrap();
            }
            ip_proto::UDP => {
                transport[5] = 13;
                udp::fill_checksum_v6(src, dst, &mut transport).unwrap();
            }
            _ => wire::icmpv6::fill_checksum(src, dst, &mut transport).unwrap(),
        }
        let mut data = vec![0; HEADER_LEN];
        let mut header = Header::new_checked_mut(&mut data).unwrap();
        header.set_version_class_flow(0, 0);
        header.set_payload_len(transport.len() as u16);
        header.set_next_header(protocol);
        header.set_src(src);
        header.set_dst(dst);
        data.extend(transport);
        data
    }

    /// Packets from inner hosts, whose addresses begin with 1, go outward.
    fn run(config: &str, packets: Vec<Vec<u8>>) -> Flow {
        let config = format!(
            "at :: AddressTranslator({config}); Inject -> c :: Classifier(22/0001, -); c[0] -> [0]at; c[1] -> [1]at;
             at[0] -> Collect(0); at[1] -> Collect(1);"
        );
        send(&config, packets)
    }

    const TCP: u8 = ip_proto::TCP;
    const UDP: u8 = ip_proto::UDP;
    const ICMP: u8 = ip_proto::ICMPV6;

    /// What leaves is what would have been sent with the other addresses and ports, checksums included.
    #[test]
    fn static_mappings() {
        let flow = run(
            "1, false, 2001:db8::1 2001:db8::a, false",
            vec![
                packet(TCP, "1.5 b.80"),
                packet(UDP, "b.80 a.5"),
                packet(ICMP, "1.0 b.0"),
                packet(ICMP, "b.0 c.0"),
            ],
        );
        assert_eq!(flow.data(0), [packet(TCP, "a.5 b.80"), packet(ICMP, "a.0 b.0")]);
        assert_eq!(flow.data(1), [packet(UDP, "b.80 1.5")]);
        let flow = run(
            "1, true, 2001:db8::1 5 2001:db8::a 6, false",
            vec![packet(UDP, "1.5 b.80"), packet(UDP, "1.6 b.80"), packet(TCP, "b.80 a.6")],
        );
        assert_eq!(
            (flow.data(0), flow.data(1)),
            (vec![packet(UDP, "a.6 b.80")], vec![packet(TCP, "b.80 1.5")])
        );
        assert_eq!(flow.drops(), [("no mapping", 1)]);
    }

    /// A tunnel may have UDP without a checksum, which stays so (RFC 6935).
    #[test]
    fn udp_without_a_checksum_has_none_afterwards() {
        let without = |ends: &str| {
            let mut data = packet(UDP, ends);
            data[46..48].fill(0);
            data
        };
        let flow = run(
            "1, true, 2001:db8::1 5 2001:db8::a 6, false",
            vec![without("1.5 b.80"), without("b.80 a.6")],
        );
        assert_eq!((flow.data(0), flow.data(1)), (vec![without("a.6 b.80")], vec![without("b.80 1.5")]));
    }

    /// Each inner address gets one of the pool, until there are none; inward packets make none.
    #[test]
    fn dynamic_addresses() {
        let packets = vec![
            packet(UDP, "f.1 a.1"),
            packet(UDP, "1.1 f.1"),
            packet(UDP, "1:1.1 f.1"),
            packet(UDP, "2:1.1 f.1"),
            packet(UDP, "1.2 f.1"),
        ];
        let flow = run("0, true, false, 0, 2001:db8::a, 2001:db8::b", packets);
        assert_eq!(flow.data(0), [packet(UDP, "a.1 f.1"), packet(UDP, "b.1 f.1"), packet(UDP, "a.2 f.1")]);
        assert_eq!(flow.drops(), [("no mapping", 2)]);
        // The other way round: outside addresses get inner ones.
        let flow = run(
            "0, true, false, 1, 2001:db8::1",
            vec![packet(UDP, "f.1 a.1"), packet(UDP, "f.1 a.2"), packet(UDP, "f.1 b.1")],
        );
        assert_eq!(flow.data(1), [packet(UDP, "f.1 1.1"), packet(UDP, "f.1 1.2")]);
    }

    /// Each flow gets a port, until there are none; replies find back.
    #[test]
    fn dynamic_ports() {
        let flow = run(
            "0, true, true, 0, 2001:db8::a 50 51",
            vec![
                packet(TCP, "1.1 b.80"),
                packet(TCP, "1.2 b.80"),
                packet(TCP, "1.3 b.80"),
                packet(TCP, "1.1 b.80"),
                packet(ICMP, "1.0 b.0"),
                packet(TCP, "b.80 a.51"),
                packet(TCP, "b.81 a.51"),
                packet(ICMP, "b.0 a.0"),
            ],
        );
        let out = [
            packet(TCP, "a.50 b.80"),
            packet(TCP, "a.51 b.80"),
            packet(TCP, "a.50 b.80"),
            packet(ICMP, "a.0 b.0"),
        ];
        assert_eq!(flow.data(0), out);
        assert_eq!(flow.data(1), [packet(TCP, "b.80 1.2"), packet(ICMP, "b.0 1.0")]);
        assert_eq!(flow.drops(), [("no mapping", 2)]);
    }

    /// An ICMPv6 error from `from` to `to` that quotes a packet.
    fn error(ends: &str, quoted: &[u8]) -> Vec<u8> {
        let mut data = packet(ICMP, ends);
        data.truncate(HEADER_LEN);
        let mut icmp = [&[3, 0, 0, 0, 0, 0, 0, 0], quoted].concat();
        let header = Header::new_checked(&data).unwrap();
        wire::icmpv6::fill_checksum(header.src(), header.dst(), &mut icmp).unwrap();
        let mut header = Header::new_checked_mut(&mut data).unwrap();
        header.set_payload_len(icmp.len() as u16);
        data.extend(icmp);
        data
    }

    /// Errors find back to the host whose packet they quote, and quote it as that host has sent it; in both directions.
    #[test]
    fn errors_quote_what_was_sent() {
        let inner = [packet(TCP, "1.1 b.80"), packet(UDP, "1.2 b.80")];
        let outer = [packet(TCP, "a.50 b.80"), packet(UDP, "a.51 b.80")];
        let mut packets = inner.to_vec();
        packets.extend(outer.iter().map(|quoted| error("c.0 a.0", quoted)));
        // Cut in front of the checksum, and about a packet that was never sent.
        packets.extend([error("c.0 a.0", &outer[0][..44]), error("c.0 a.0", &packet(UDP, "a.52 b.80"))]);
        // From inside, about an answer.
        packets.push(error("1.0 b.0", &packet(TCP, "b.80 1.1")));
        let flow = run("0, true, true, 0, 2001:db8::a 50 60", packets);
        let mut back: Vec<_> = inner.iter().map(|quoted| error("c.0 1.0", quoted)).collect();
        back.push(error("c.0 1.0", &inner[0][..44]));
        assert_eq!(flow.data(1), back);
        assert_eq!(flow.data(0)[2..], [error("a.0 b.0", &packet(TCP, "b.80 a.50"))]);
        assert_eq!(flow.drops(), [("no mapping", 1)]);
        let flow =
            run("1, false, 2001:db8::1 2001:db8::a, false", vec![error("c.0 a.0", &packet(ICMP, "a.0 b.0"))]);
        assert_eq!(flow.data(1), [error("c.0 1.0", &packet(ICMP, "1.0 b.0"))]);
        let flow = run("1, false, 2001:db8::1 2001:db8::a, false", vec![error("c.0 a.0", &[0x60; 20])]);
        assert_eq!(flow.drops(), [("no whole packet in an ICMPv6 error", 1)]);
    }

    /// Packets that are too short or of other protocols are dropped.
    #[test]
    fn odd_packets() {
        let mut other = packet(UDP, "1.1 b.80");
        other[6] = 59;
        let mut short = packet(TCP, "1.1 b.80");
        short.truncate(57);
        let flow = run("0, true, true, 0, 2001:db8::a 50 51", vec![other, short, vec![0x60; 30]]);
        assert_eq!(flow.drops(), [("no whole IPv6 header", 2), ("protocol unrecognized", 1)]);
    }

    #[test]
    fn bad_arguments() {
        let with = |args: &str| {
            errors(&format!(
                "at :: AddressTranslator({args}); InfiniteSource -> [0]at[0] -> Discard; InfiniteSource -> [1]at[1] -> Discard;"
            ))
        };
        assert!(with("x").contains("argument 0 should be : integer"));
        assert!(with("0, x").contains("argument 1 should be : bool"));
        assert!(with("1, false, 2001:db8::1, false").contains("argument 2 should be"));
        assert!(with("0, true, true, 0, 2001:db8::a 51 50").contains("argument 4 should be"));
    }
}
