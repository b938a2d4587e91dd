//! The table of fields.

use super::date::NS_PER_S;
use super::form::{Form, Value};
use super::maker::Maker;
use super::options::Which;
use super::view::{Missing, Protocol, View};
use md5::{Digest, Md5};
use packet::Anno;
use wire::{icmpv4, ip_proto};

type Extract = fn(&View<'_>) -> Result<Value, Missing>;
type Inject = fn(&mut Maker, &Value);

/// A field of summaries.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// When it is put into a packet: lower first, whatever its place in the record.
    pub(super) order: u32,
    pub(super) form: Form,
    pub(super) extract: Extract,
    /// Missing for fields that are only written.
    pub(super) inject: Option<Inject>,
}

const NOTE: u32 = 100;
const LINK: u32 = 200;
const NET: u32 = 300;
const TRANSPORT: u32 = 400;
const PAYLOAD: u32 = 500;

const UTIME: Form = Form::Time { nanoseconds: false };
const NTIME: Form = Form::Time { nanoseconds: true };

const fn field(name: &'static str, order: u32, form: Form, extract: Extract, inject: Inject) -> Field {
    Field { name, order, form, extract, inject: Some(inject) }
}

fn number(value: impl Into<u64>) -> Result<Value, Missing> {
    Ok(Value::Number(value.into()))
}

fn ip_byte(view: &View<'_>, at: usize) -> Result<Value, Missing> {
    view.ip_bytes::<1>(at).and_then(|[byte]| number(byte))
}

fn ip_u16(view: &View<'_>, at: usize) -> Result<Value, Missing> {
    view.ip_bytes(at).and_then(|bytes| number(u16::from_be_bytes(bytes)))
}

fn ip_u32(view: &View<'_>, at: usize) -> Result<Value, Missing> {
    view.ip_bytes(at).and_then(|bytes| number(u32::from_be_bytes(bytes)))
}

fn u16_of(view: &View<'_>, protocol: Protocol, at: usize) -> Result<Value, Missing> {
    view.transport_bytes(protocol, at).and_then(|bytes| number(u16::from_be_bytes(bytes)))
}

fn tcp_u32(view: &View<'_>, at: usize) -> Result<Value, Missing> {
    view.transport_bytes(Protocol::Tcp, at).and_then(|bytes| number(u32::from_be_bytes(bytes)))
}

fn icmp_byte(view: &View<'_>, at: usize) -> Result<Value, Missing> {
    view.transport_bytes::<1>(Protocol::Icmp, at).and_then(|[byte]| number(byte))
}

/// A field of ICMP messages that come in pairs and have an identifier.
fn icmp_query(view: &View<'_>, at: usize) -> Result<Value, Missing> {
    let [kind] = view.transport_bytes(Protocol::Icmp, 0)?;
    if has_id(kind, None) { u16_of(view, Protocol::Icmp, at) } else { Err(Missing::Other) }
}

fn has_id(kind: u8, _code: Option<u8>) -> bool {
    use icmpv4::kind::*;
    let kinds = [ECHO, ECHO_REPLY, TIMESTAMP, TIMESTAMP_REPLY, INFORMATION_REQUEST, INFORMATION_REPLY];
    kinds.contains(&kind)
}

fn has_mtu(kind: u8, code: Option<u8>) -> bool {
    kind == icmpv4::kind::UNREACHABLE
        && code.is_none_or(|code| code == icmpv4::unreachable::FRAGMENTATION_NEEDED)
}

fn fragment(view: &View<'_>) -> Result<Value, Missing> {
    let field = u16::from_be_bytes(view.ip_bytes(6)?);
    number(match field {
        _ if field & 0x1fff != 0 => b'f',
        _ if field & 0x2000 != 0 => b'F',
        _ if field & 0x4000 != 0 => b'!',
        _ => b'.',
    })
}

fn ip_len(view: &View<'_>) -> Result<Value, Missing> {
    let len = match view.ip {
        Some(ip) => u64::from(u16::from_be_bytes([ip[2], ip[3]])),
        None => view.len() as u64,
    };
    number(len + if view.options.extra_length { view.stamp.extra_length } else { 0 })
}

fn capture_len(view: &View<'_>) -> Result<Value, Missing> {
    number(view.ip.map_or(view.len(), <[u8]>::len) as u64)
}

fn payload_len(view: &View<'_>) -> Result<Value, Missing> {
    let extra = view.ip.is_none() || view.options.extra_length;
    number(view.payload().1 + if extra { view.stamp.extra_length } else { 0 })
}

fn payload(view: &View<'_>) -> Result<Value, Missing> {
    let (bytes, len) = view.payload();
    if bytes.is_empty() && len > 0 {
        return Err(Missing::Other);
    }
    Ok(Value::Bytes(bytes[..bytes.len().min(usize::try_from(len).unwrap_or(usize::MAX))].to_vec()))
}

fn payload_md5(view: &View<'_>) -> Result<Value, Missing> {
    match payload(view)? {
        Value::Bytes(bytes) => Ok(Value::Bytes(Md5::digest(bytes).to_vec())),
        other => Ok(other),
    }
}

fn tcp_flags(view: &View<'_>) -> Result<Value, Missing> {
    let [high, low] = view.transport_bytes(Protocol::Tcp, 12)?;
    number(u16::from(high & 0x0f) << 8 | u16::from(low))
}

fn anno(view: &View<'_>, place: Anno) -> Result<Value, Missing> {
    number(view.packet.anno(place))
}

fn paint(maker: &mut Maker, value: &Value) {
    maker.notes.paint = value.number() as u8;
}

fn time(maker: &mut Maker, value: &Value) {
    maker.notes.time_ns = value.number() as i64;
}

fn first_time(maker: &mut Maker, value: &Value) {
    maker.notes.first_time_ns = value.number() as i64;
}

fn seconds_of(view: &View<'_>) -> i64 {
    view.stamp.time_ns.div_euclid(NS_PER_S)
}

fn byte(value: &Value) -> [u8; 1] {
    [value.number() as u8]
}

fn two(value: &Value) -> [u8; 2] {
    (value.number() as u16).to_be_bytes()
}

fn four(value: &Value) -> [u8; 4] {
    (value.number() as u32).to_be_bytes()
}

const TCP: u8 = ip_proto::TCP;

/// All fields.
#[rustfmt::skip]
pub(super) const FIELDS: &[Field] = &[
    Field { name: "none", order: NOTE, form: Form::None, extract: |_| Err(Missing::Other), inject: None },

    field("timestamp", NOTE, UTIME, |v| Ok(Value::Time(v.stamp.time_ns)), time),
    field("ntimestamp", NOTE, NTIME, |v| Ok(Value::Time(v.stamp.time_ns)), time),
    field("ts_sec", NOTE, Form::Number(4), |v| number(seconds_of(v) as u32),
        |m, value| m.notes.time_ns = value.number() as i64 * NS_PER_S + m.notes.time_ns.rem_euclid(NS_PER_S)),
    field("ts_usec", NOTE, Form::Number(4), |v| number(v.stamp.time_ns.rem_euclid(NS_PER_S) as u32 / 1000),
        |m, value| m.notes.time_ns = m.notes.time_ns.div_euclid(NS_PER_S) * NS_PER_S + value.number() as i64 * 1000),
    field("ts_usec1", NOTE, Form::Number(8), |v| number((v.stamp.time_ns / 1000) as u64),
        |m, value| m.notes.time_ns = (value.number() as i64).wrapping_mul(1000)),
    field("first_timestamp", NOTE, UTIME, |v| Ok(Value::Time(v.packet.anno(Anno::FIRST_TIMESTAMP) as i64)), first_time),
    field("first_ntimestamp", NOTE, NTIME, |v| Ok(Value::Time(v.packet.anno(Anno::FIRST_TIMESTAMP) as i64)), first_time),
    field("count", NOTE, Form::Number(4), |v| number(v.stamp.count),
        |m, value| m.notes.extra_packets = value.number().saturating_sub(1)),
    field("link", NOTE, Form::Link, |v| number(v.packet.paint()), paint),
    field("paint", NOTE, Form::Link, |v| number(v.packet.paint()), paint),
    field("direction", NOTE, Form::Direction, |v| number(v.packet.paint()), paint),
    field("aggregate", NOTE, Form::Number(4), |v| anno(v, Anno::AGGREGATE), |m, value| m.notes.aggregate = value.number()),
    field("wire_len", NOTE, Form::Number(4), |v| number(v.packet.len() as u64),
        |m, value| m.want_wire(value.number())),
    Field { name: "thread", order: NOTE, form: Form::Number(4), extract: |v| number(v.stamp.worker as u64), inject: None },

    field("eth_dst", LINK, Form::Mac, |v| v.ethernet().map(|e| Value::Bytes(e[..6].to_vec())),
        |m, value| m.set_ethernet(0, Maker::bytes(value))),
    field("eth_src", LINK, Form::Mac, |v| v.ethernet().map(|e| Value::Bytes(e[6..12].to_vec())),
        |m, value| m.set_ethernet(6, Maker::bytes(value))),
    field("eth_type", LINK, Form::EtherType, |v| v.ethernet().and_then(|e| number(u16::from_be_bytes([e[12], e[13]]))),
        |m, value| m.set_ethernet(12, &two(value))),

    field("ip_src", NET, Form::Address, |v| ip_u32(v, 12), |m, value| m.set_ip(12, &four(value))),
    field("ip_dst", NET, Form::Address, |v| ip_u32(v, 16), |m, value| m.set_ip(16, &four(value))),
    field("ip_tos", NET, Form::Number(1), |v| ip_byte(v, 1), |m, value| m.set_ip(1, &byte(value))),
    field("ip_dscp", NET, Form::Number(1), |v| v.ip_bytes::<1>(1).and_then(|[tos]| number(tos >> 2)),
        |m, value| m.set_tos_bits(0xfc, (value.number() as u8) << 2)),
    field("ip_ecn", NET, Form::Ecn, |v| v.ip_bytes::<1>(1).and_then(|[tos]| number(tos & 3)),
        |m, value| m.set_tos_bits(3, value.number() as u8)),
    field("ip_ttl", NET, Form::Number(1), |v| ip_byte(v, 8), |m, value| m.set_ip(8, &byte(value))),
    field("ip_frag", NET - 2, Form::Fragment, fragment, |m, value| m.set_ip(6, &two(value))),
    field("ip_fragoff", NET - 1, Form::FragmentOffset, |v| ip_u16(v, 6), |m, value| m.set_ip(6, &two(value))),
    field("ip_id", NET, Form::Number(2), |v| ip_u16(v, 4), |m, value| m.set_ip(4, &two(value))),
    field("ip_sum", NET + 2, Form::Number(2), |v| ip_u16(v, 10), |m, value| m.set_ip(10, &two(value))),
    field("ip_proto", NET, Form::Protocol, |v| ip_byte(v, 9), |m, value| m.set_ip(9, &byte(value))),
    field("ip_hl", NET - 1, Form::Number(1), |v| v.ip_bytes::<1>(0).and_then(|[first]| number((first & 15) * 4)),
        |m, value| m.set_ip_header_len(value.number())),
    field("ip_len", NET + 1, Form::Number(4), ip_len, |m, value| m.want_ip(value.number())),
    field("ip_capture_len", PAYLOAD + 2, Form::Number(4), capture_len, |_, _| ()),
    field("ip_opt", NET, Form::IpOptions, |v| v.ip_options().map(|o| Value::Bytes(o.to_vec())),
        |m, value| m.set_ip_options(Maker::bytes(value))),

    field("sport", TRANSPORT, Form::Number(2), |v| v.port(0).and_then(|p| number(u16::from_be_bytes(p))),
        |m, value| m.set_transport(0, 0, &two(value))),
    field("dport", TRANSPORT, Form::Number(2), |v| v.port(2).and_then(|p| number(u16::from_be_bytes(p))),
        |m, value| m.set_transport(0, 2, &two(value))),

    field("tcp_seq", TRANSPORT, Form::Number(4), |v| tcp_u32(v, 4), |m, value| m.set_transport(TCP, 4, &four(value))),
    field("tcp_ack", TRANSPORT, Form::Number(4), |v| tcp_u32(v, 8), |m, value| m.set_transport(TCP, 8, &four(value))),
    field("tcp_off", TRANSPORT, Form::Number(1),
        |v| v.transport_bytes::<1>(Protocol::Tcp, 12).and_then(|[words]| number((words >> 4) * 4)),
        |m, value| m.grow_tcp_header(value.number())),
    field("tcp_flags", TRANSPORT, Form::TcpFlags, tcp_flags, |m, value| m.set_tcp_flags(value.number())),
    field("tcp_window", TRANSPORT, Form::Number(2), |v| u16_of(v, Protocol::Tcp, 14),
        |m, value| m.set_transport(TCP, 14, &two(value))),
    field("tcp_urp", TRANSPORT, Form::Number(2), |v| u16_of(v, Protocol::Tcp, 18),
        |m, value| m.set_transport(TCP, 18, &two(value))),
    field("tcp_opt", TRANSPORT, Form::TcpOptions(Which::All), |v| v.tcp_options(false).map(|o| Value::Bytes(o.to_vec())),
        |m, value| m.set_tcp_options(Maker::bytes(value))),
    field("tcp_ntopt", TRANSPORT, Form::TcpOptions(Which::NotTimestamps),
        |v| v.tcp_options(true).map(|o| Value::Bytes(o.to_vec())), |m, value| m.set_tcp_options(Maker::bytes(value))),
    field("tcp_sack", TRANSPORT, Form::TcpOptions(Which::Sack), |v| v.tcp_options(true).map(|o| Value::Bytes(o.to_vec())),
        |m, value| m.set_tcp_options(Maker::bytes(value))),

    field("udp_len", TRANSPORT, Form::Number(4), |v| u16_of(v, Protocol::Udp, 4),
        |m, value| m.set_transport(ip_proto::UDP, 4, &two(value))),

    field("icmp_type", TRANSPORT, Form::IcmpTypeNumber, |v| icmp_byte(v, 0), |m, value| m.set_icmp_type(value.number() as u8)),
    field("icmp_code", TRANSPORT + 1, Form::IcmpCodeNumber, |v| icmp_byte(v, 1),
        |m, value| m.set_icmp_code(value.number() as u8)),
    field("icmp_type_name", TRANSPORT, Form::IcmpType, |v| icmp_byte(v, 0),
        |m, value| m.set_icmp_type(value.number() as u8)),
    field("icmp_code_name", TRANSPORT + 1, Form::IcmpCode, |v| u16_of(v, Protocol::Icmp, 0),
        |m, value| m.set_icmp_code(value.number() as u8)),
    field("icmp_flowid", TRANSPORT + 2, Form::Number(2), |v| icmp_query(v, 4),
        |m, value| m.set_icmp_rest(4, value.number() as u16, has_id)),
    field("icmp_seq", TRANSPORT + 2, Form::Number(2), |v| icmp_query(v, 6),
        |m, value| m.set_icmp_rest(6, value.number() as u16, has_id)),
    field("icmp_nextmtu", TRANSPORT + 2, Form::Number(2),
        |v| {
            let [kind, code] = v.transport_bytes(Protocol::Icmp, 0)?;
            if has_mtu(kind, Some(code)) { u16_of(v, Protocol::Icmp, 6) } else { Err(Missing::Other) }
        },
        |m, value| m.set_icmp_rest(6, value.number() as u16, has_mtu)),

    field("payload", PAYLOAD, Form::Text, payload, |m, value| m.set_payload(Maker::bytes(value))),
    field("payload_len", PAYLOAD + 1, Form::Number(4), payload_len, |m, value| m.want_payload(value.number())),
    Field { name: "payload_md5", order: PAYLOAD, form: Form::Md5 { hexadecimal: false }, extract: payload_md5, inject: None },
    Field { name: "payload_md5_hex", order: PAYLOAD, form: Form::Md5 { hexadecimal: true }, extract: payload_md5, inject: None },
];

/// Other names.
const SYNONYMS: &[(&str, &str)] = &[
    ("utimestamp", "timestamp"),
    ("ts", "timestamp"),
    ("sec", "ts_sec"),
    ("usec", "ts_usec"),
    ("usec1", "ts_usec1"),
    ("first_utimestamp", "first_timestamp"),
    ("first_ts", "first_timestamp"),
    ("pkt_count", "count"),
    ("packet_count", "count"),
    ("agg", "aggregate"),
    ("wire_length", "wire_len"),
    ("length", "ip_len"),
    ("ip_p", "ip_proto"),
    ("tcp_seqno", "tcp_seq"),
    ("tcp_ackno", "tcp_ack"),
    ("tcp_win", "tcp_window"),
    ("payload_length", "payload_len"),
    ("ether_src", "eth_src"),
    ("ether_dst", "eth_dst"),
    ("ether_type", "eth_type"),
];

/// The field with a name. `ip src` and `src` mean `ip_src` where no field is named so.
pub(super) fn find(name: &str) -> Option<&'static Field> {
    let exact = |name: &str| {
        let name = SYNONYMS.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| *name);
        FIELDS.iter().find(|field| field.name == name)
    };
    let joined = name.replacen(' ', "_", 1);
    let prefixed = || if joined.contains('_') { None } else { exact(&format!("ip_{joined}")) };
    exact(name).or_else(|| exact(&joined)).or_else(prefixed)
}

/// The fields that words name, and the words that name none.
pub(super) fn find_all(words: &str) -> Vec<(String, Option<&'static Field>)> {
    let words = lang::conf::split_spaces(words);
    words.iter().map(|word| lang::conf::unquote(word)).map(|name| (name.clone(), find(&name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_each_of_its_names() {
        let named = |name: &str| find(name).map(|field| field.name);
        assert_eq!(named("src"), Some("ip_src"));
        assert_eq!(named("ip src"), Some("ip_src"));
        assert_eq!(named("tcp win"), Some("tcp_window"));
        assert_eq!(named("len"), Some("ip_len"));
        assert_eq!(named("ts"), Some("timestamp"));
        assert_eq!(named("sport"), Some("sport"));
        assert_eq!(named("nosuch"), None);
        let all: std::collections::HashSet<_> = FIELDS.iter().map(|field| field.name).collect();
        assert_eq!(all.len(), FIELDS.len(), "every name once");
    }
}
