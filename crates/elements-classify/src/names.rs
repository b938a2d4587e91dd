//! The words of the IP classifiers' language: fields, and names of protocols, ports, TCP flags and ICMP types.

use super::expr::{DIGEST, NETWORK};
use super::primitive::Data;
use elements_shared::connection_state::ConnectionState;
use wire::describe::{self, PROTO_TCP_OR_UDP, PROTO_TRANSPORT};
use wire::ip_proto;

/// Which IP a pattern is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

/// A field of up to 32 bits within one word of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The protocol whose header it is in; none for the IP header.
    pub(super) proto: Option<u16>,
    /// Where it starts, in bits.
    pub(super) offset: u32,
    /// Its length in bits.
    pub(super) bits: u32,
}

impl Field {
    const fn ip(offset: u32, bits: u32) -> Field {
        Field { proto: None, offset, bits }
    }

    const fn transport(proto: u8, offset: u32, bits: u32) -> Field {
        Field { proto: Some(proto as u16), offset, bits }
    }

    /// The largest number that it holds.
    pub(super) fn max(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// Its word, the bytes of the word that it touches, and how far left of the word's end it stands. The header starts
    /// at `base`.
    pub(super) fn place(self, base: usize) -> (usize, u32, u32) {
        let start = self.offset % 32;
        let shift = 32 - start - self.bits;
        let (first, last) = (start / 8, (start + self.bits - 1) / 8);
        // Windows are one, two or four bytes long.
        let field = match last - first {
            0 => 0xff00_0000 >> (8 * first),
            1 => 0xffff_0000 >> (8 * first),
            _ => u32::MAX,
        };
        (base + self.offset as usize / 32 * 4, field, shift)
    }
}

/// What a primitive is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Host,
    Net,
    Proto,
    Port,
    TcpOpt,
    Ether,
    Frag,
    Unfrag,
    Ect,
    Ce,
    /// The state of the packet's connection.
    State,
    Field(Field),
}

const ICMP_TYPE: Field = Field::transport(ip_proto::ICMP, 0, 8);
const ICMP6_TYPE: Field = Field::transport(ip_proto::ICMPV6, 0, 8);
const TCP_WIN: Field = Field::transport(ip_proto::TCP, 14 * 8, 16);

/// Words that say what a primitive is about, in both families.
const KINDS: &[(&str, Kind)] = &[
    ("ce", Kind::Ce),
    ("ect", Kind::Ect),
    ("frag", Kind::Frag),
    ("host", Kind::Host),
    ("net", Kind::Net),
    ("opt", Kind::TcpOpt),
    ("port", Kind::Port),
    ("proto", Kind::Proto),
    ("state", Kind::State),
    ("unfrag", Kind::Unfrag),
    ("win", Kind::Field(TCP_WIN)),
];

const FIELDS: &[(&str, Field)] = &[
    ("dscp", Field::ip(8, 6)),
    ("hl", Field::ip(4, 4)),
    ("id", Field::ip(32, 16)),
    ("len", Field::ip(16, 16)),
    ("tos", Field::ip(8, 8)),
    ("ttl", Field::ip(64, 8)),
    ("type", ICMP_TYPE),
    ("vers", Field::ip(0, 4)),
];

const FIELDS6: &[(&str, Field)] = &[
    ("dscp", Field::ip(4, 6)),
    ("flow", Field::ip(12, 20)),
    ("hlim", Field::ip(56, 8)),
    ("len", Field::ip(32, 16)),
    ("tos", Field::ip(4, 8)),
    ("ttl", Field::ip(56, 8)),
    ("type", ICMP6_TYPE),
    ("vers", Field::ip(0, 4)),
];

/// Words that are part of the syntax wherever they stand.
const SYNTAX: &[&str] = &["dest", "dst", "ether", "ip", "ip6", "not", "src"];

const TCP_OPTS: &[(&str, u32)] =
    &[("ack", 0x10), ("fin", 0x01), ("psh", 0x08), ("rst", 0x04), ("syn", 0x02), ("urg", 0x20)];

const ICMP6_TYPES: &[(&str, u32)] = &[
    ("echo", 128),
    ("echo-reply", 129),
    ("neighboradvert", 136),
    ("neighborsolicit", 135),
    ("packettoobig", 2),
    ("parameterproblem", 4),
    ("redirect", 137),
    ("routeradvert", 134),
    ("routersolicit", 133),
    ("timeexceeded", 3),
    ("unreachable", 1),
];

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|&(_, value)| value)
}

impl Kind {
    /// How messages call it.
    pub(super) fn text(kind: Option<Kind>) -> String {
        let text = match kind {
            None => "<none>",
            Some(Kind::Host) => "ip host",
            Some(Kind::Net) => "ip net",
            Some(Kind::Proto) => "proto",
            Some(Kind::Port) => "port",
            Some(Kind::TcpOpt) => "tcp opt",
            Some(Kind::Ether) => "ether host",
            Some(Kind::Frag) => "ip frag",
            Some(Kind::Unfrag) => "ip unfrag",
            Some(Kind::Ect) => "ip ect",
            Some(Kind::Ce) => "ip ce",
            Some(Kind::State) => "state",
            Some(Kind::Field(field)) => return field.text(),
        };
        text.to_owned()
    }
}

impl Field {
    fn text(self) -> String {
        match self {
            TCP_WIN => return "tcp win".to_owned(),
            ICMP_TYPE | ICMP6_TYPE => return "icmp type".to_owned(),
            _ => {}
        }
        let named = |table: &[(&str, Field)]| {
            table.iter().find(|(_, field)| *field == self).map(|(name, _)| format!("ip {name}"))
        };
        named(FIELDS).or_else(|| named(FIELDS6)).unwrap_or_else(|| match self.proto {
            Some(proto) => format!("{}[...]", protocol_text(proto)),
            None => "ip[...]".to_owned(),
        })
    }
}

/// How messages call a protocol.
pub(super) fn protocol_text(proto: u16) -> String {
    match u8::try_from(proto) {
        Ok(ip_proto::ICMP) => "icmp".to_owned(),
        Ok(2) => "igmp".to_owned(),
        Ok(4) => "ipip".to_owned(),
        Ok(ip_proto::TCP) => "tcp".to_owned(),
        Ok(ip_proto::UDP) => "udp".to_owned(),
        Err(_) if proto == PROTO_TCP_OR_UDP => "tcpudp".to_owned(),
        Err(_) if proto == PROTO_TRANSPORT => "transp".to_owned(),
        _ => format!("ip proto {proto}"),
    }
}

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// What the primitive is about.
    Kind(Kind),
    /// A value.
    Value(Kind, u32),
    /// Nothing that a table knows.
    Unknown,
    /// Something, but not here; a message has been given.
    Wrong,
}

impl Meaning {
    /// The word as a primitive's data.
    pub(super) fn data(self) -> Option<Data> {
        match self {
            Meaning::Value(kind, value) => Some(Data::Named(kind, value)),
            _ => None,
        }
    }
}

impl Family {
    /// Offsets of the source and the destination address.
    pub(super) fn addresses(self) -> (usize, usize) {
        match self {
            Family::V4 => (NETWORK + 12, NETWORK + 16),
            Family::V6 => (NETWORK + 8, NETWORK + 24),
        }
    }

    /// Where the transport protocol's number is: word, and shift.
    pub(super) fn protocol(self) -> (usize, u32) {
        match self {
            Family::V4 => (NETWORK + 8, 16),
            Family::V6 => (DIGEST, 24),
        }
    }

    /// The TOS byte, or traffic class.
    pub(super) fn tos(self) -> Field {
        match self {
            Family::V4 => Field::ip(8, 8),
            Family::V6 => Field::ip(4, 8),
        }
    }

    fn fields(self) -> &'static [(&'static str, Field)] {
        match self {
            Family::V4 => FIELDS,
            Family::V6 => FIELDS6,
        }
    }

    /// The protocol that a word names.
    fn protocol_named(self, word: &str) -> Option<u32> {
        if self == Family::V6 && word == "icmp" {
            return Some(ip_proto::ICMPV6.into());
        }
        let supported = |&proto: &u16| proto < 256 || proto == PROTO_TCP_OR_UDP || proto == PROTO_TRANSPORT;
        let of_machine = || router::machine_protocol(word).map(u32::from);
        describe::protocol(word).filter(supported).map(u32::from).or_else(of_machine)
    }

    fn icmp_type_named(self, word: &str) -> Option<u32> {
        match self {
            Family::V4 => describe::icmp_type(word).map(u32::from),
            Family::V6 => find(ICMP6_TYPES, word),
        }
    }

    /// What a word means after qualifiers that have said `kind` and `proto`. Messages go to `complain`.
    pub(super) fn lookup(
        self,
        word: &str,
        kind: Option<Kind>,
        proto: Option<u16>,
        complain: &mut dyn FnMut(String),
    ) -> Meaning {
        if kind.is_none() {
            if SYNTAX.contains(&word) {
                return Meaning::Unknown;
            }
            let found = find(KINDS, word).or_else(|| find(self.fields(), word).map(Kind::Field));
            if let Some(kind) = found {
                return Meaning::Kind(kind);
            }
        }
        if kind == Some(Kind::State) {
            // Elsewhere these words may be names of hosts.
            let state = ConnectionState::named(word);
            return state.map_or(Meaning::Unknown, |state| Meaning::Value(Kind::State, state as u32));
        }
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Meaning::Unknown;
        }
        let icmp_type = Kind::Field(match self {
            Family::V4 => ICMP_TYPE,
            Family::V6 => ICMP6_TYPE,
        });
        let port = describe::port(word).map(u32::from);
        let all = [
            (Kind::Proto, None, self.protocol_named(word)),
            (Kind::Port, Some(PROTO_TCP_OR_UDP), port),
            (Kind::TcpOpt, Some(ip_proto::TCP.into()), find(TCP_OPTS, word)),
            (icmp_type, icmp_type_proto(icmp_type), self.icmp_type_named(word)),
        ];
        let known: Vec<_> =
            all.iter().filter_map(|&(what, of, value)| value.map(|value| (what, of, value))).collect();
        let fits = |&&(what, of, _): &&(Kind, Option<u16>, u32)| {
            kind.is_none_or(|kind| kind == what) && protocols_fit(of, proto)
        };
        let fitting: Vec<_> = known.iter().filter(fits).collect();
        match (known.is_empty(), fitting.as_slice()) {
            (true, _) => Meaning::Unknown,
            (_, [(what, _, value)]) => Meaning::Value(*what, *value),
            (_, several) => {
                let what = if several.is_empty() { "meaningless" } else { "ambiguous" };
                let proto = proto.map(protocol_text).unwrap_or_default();
                let full = |kind| format!("'{} {proto} {word}'", Kind::text(kind));
                // As in Click, which knows ports of TCP and of UDP and lists both.
                let times = |kind: Kind| if kind == Kind::Port { 2 } else { 1 };
                let listed = known.iter().flat_map(|&(kind, ..)| std::iter::repeat_n(kind, times(kind)));
                let try_these: Vec<String> = listed.map(|kind| full(Some(kind))).collect();
                complain(format!("{} is {what}; try {}", full(kind), try_these.join(", ")));
                Meaning::Wrong
            }
        }
    }
}

fn icmp_type_proto(kind: Kind) -> Option<u16> {
    match kind {
        Kind::Field(field) => field.proto,
        _ => None,
    }
}

/// Whether a name that belongs to protocol `of` makes sense where protocol `proto` was said.
fn protocols_fit(of: Option<u16>, proto: Option<u16>) -> bool {
    let (tcp, udp) = (u16::from(ip_proto::TCP), u16::from(ip_proto::UDP));
    match (of, proto) {
        (None, _) | (_, None) => true,
        (Some(PROTO_TCP_OR_UDP), Some(proto)) => [tcp, udp, PROTO_TCP_OR_UDP].contains(&proto),
        (Some(of), Some(PROTO_TCP_OR_UDP)) => of == tcp,
        (Some(of), Some(proto)) => of == proto,
    }
}
