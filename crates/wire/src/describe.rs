//! Names of protocols, ports, and ICMP types and codes, with the spellings that Click configurations use.
//!
//! Where several names share a number, the alphabetically first of Click's own names is the one printed.

/// Number for "TCP or UDP", as the name `tcpudp` has it: outside the 8-bit protocol numbers.
pub const PROTO_TCP_OR_UDP: u16 = 256;
/// Number for "any transport protocol", as the name `transp` has it.
pub const PROTO_TRANSPORT: u16 = 258;
/// Number for "the transport payload", as the name `payload` has it.
pub const PROTO_PAYLOAD: u16 = 259;

type Table = &'static [(&'static str, u16)];

/// Click's names, which are printed, too.
const PROTOCOLS: Table = &[
    ("dccp", 33),
    ("gre", 47),
    ("icmp", 1),
    ("igmp", 2),
    ("ipip", 4),
    ("payload", PROTO_PAYLOAD),
    ("sctp", 132),
    ("tcp", 6),
    ("tcpudp", PROTO_TCP_OR_UDP),
    ("transp", PROTO_TRANSPORT),
    ("udp", 17),
];

/// Names of the protocol registry that systems commonly list. Click reads them, but prints numbers.
const MORE_PROTOCOLS: Table = &[
    ("ah", 51),
    ("egp", 8),
    ("esp", 50),
    ("icmp6", 58),
    ("ipencap", 4),
    ("ipv6", 41),
    ("ipv6-frag", 44),
    ("ipv6-icmp", 58),
    ("ipv6-nonxt", 59),
    ("ipv6-opts", 60),
    ("ipv6-route", 43),
    ("l2tp", 115),
    ("ospf", 89),
    ("pim", 103),
    ("rsvp", 46),
    ("udplite", 136),
    ("vrrp", 112),
];

/// Click's names first, then a few that systems commonly list.
const PORTS: Table = &[
    ("auth", 113),
    ("bootpc", 68),
    ("bootps", 67),
    ("chargen", 19),
    ("daytime", 13),
    ("discard", 9),
    ("dns", 53),
    ("domain", 53),
    ("echo", 7),
    ("finger", 79),
    ("ftp", 21),
    ("ftp-data", 20),
    ("https", 443),
    ("imap3", 220),
    ("imaps", 993),
    ("irc", 194),
    ("netbios-dgm", 138),
    ("netbios-ns", 137),
    ("netbios-ssn", 139),
    ("nntp", 119),
    ("ntp", 123),
    ("pop3", 110),
    ("pop3s", 995),
    ("pptp", 1723),
    ("rip", 520),
    ("route", 520),
    ("smtp", 25),
    ("snmp", 161),
    ("snmp-trap", 162),
    ("ssh", 22),
    ("sunrpc", 111),
    ("telnet", 23),
    ("tftp", 69),
    ("www", 80),
    ("bgp", 179),
    ("http", 80),
    ("imap", 143),
    ("imap2", 143),
    ("kerberos", 88),
    ("ldap", 389),
    ("ldaps", 636),
    ("time", 37),
    ("whois", 43),
];

const ICMP_TYPES: Table = &[
    ("echo", 8),
    ("echo-reply", 0),
    ("inforeq", 15),
    ("inforeq-reply", 16),
    ("maskreq", 17),
    ("maskreq-reply", 18),
    ("parameterproblem", 12),
    ("redirect", 5),
    ("routeradvert", 9),
    ("routersolicit", 10),
    ("sourcequench", 4),
    ("timeexceeded", 11),
    ("timestamp", 13),
    ("timestamp-reply", 14),
    ("unreachable", 3),
];

const UNREACHABLE_CODES: Table = &[
    ("filterprohibited", 13),
    ("host", 1),
    ("hostprecedence", 14),
    ("hostprohibited", 10),
    ("hostunknown", 7),
    ("isolated", 8),
    ("needfrag", 4),
    ("net", 0),
    ("netprohibited", 9),
    ("netunknown", 6),
    ("port", 3),
    ("precedencecutoff", 15),
    ("protocol", 2),
    ("srcroutefail", 5),
    ("toshost", 12),
    ("tosnet", 11),
];

const REDIRECT_CODES: Table = &[("host", 1), ("net", 0), ("toshost", 3), ("tosnet", 2)];
const TIME_EXCEEDED_CODES: Table = &[("reassembly", 1), ("transit", 0)];
const PARAMETER_PROBLEM_CODES: Table = &[("erroratptr", 0), ("length", 2), ("missingopt", 1)];

fn number(table: Table, name: &str) -> Option<u16> {
    table.iter().find(|(n, _)| *n == name).map(|&(_, number)| number)
}

fn name(table: Table, number: u16) -> Option<&'static str> {
    table.iter().find(|&&(_, n)| n == number).map(|&(name, _)| name)
}

/// A decimal number, or a hexadecimal one after `0x`.
fn integer(text: &str) -> Option<u16> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (text, 10),
    };
    let unsigned = digits.bytes().all(|b| b.is_ascii_hexdigit());
    if unsigned { u16::from_str_radix(digits, radix).ok() } else { None }
}

fn octet(text: &str) -> Option<u8> {
    integer(text).and_then(|number| u8::try_from(number).ok())
}

/// The protocol that `text` names: a name such as `tcp`, or a number up to 255. Three names have numbers beyond:
/// [`PROTO_TCP_OR_UDP`], [`PROTO_TRANSPORT`], [`PROTO_PAYLOAD`].
pub fn protocol(text: &str) -> Option<u16> {
    let named = number(PROTOCOLS, text).or_else(|| number(MORE_PROTOCOLS, text));
    named.or_else(|| octet(text).map(u16::from))
}

/// The name of a protocol number, if Click has one.
pub fn protocol_name(protocol: u16) -> Option<&'static str> {
    name(PROTOCOLS, protocol)
}

/// The TCP or UDP port that `text` names: a service such as `domain`, or a number.
pub fn port(text: &str) -> Option<u16> {
    number(PORTS, text).or_else(|| integer(text))
}

/// The name of a TCP or UDP port, if it is a well-known one.
pub fn port_name(port: u16) -> Option<&'static str> {
    name(PORTS, port)
}

/// The ICMP (for IPv4) message type that `text` names: a name such as `unreachable`, or a number.
pub fn icmp_type(text: &str) -> Option<u8> {
    number(ICMP_TYPES, text).and_then(|n| u8::try_from(n).ok()).or_else(|| octet(text))
}

/// The name of an ICMP (for IPv4) message type.
pub fn icmp_type_name(kind: u8) -> Option<&'static str> {
    name(ICMP_TYPES, kind.into())
}

fn codes(kind: u8) -> Table {
    use crate::icmpv4::kind;
    match kind {
        kind::UNREACHABLE => UNREACHABLE_CODES,
        kind::REDIRECT => REDIRECT_CODES,
        kind::TIME_EXCEEDED => TIME_EXCEEDED_CODES,
        kind::PARAMETER_PROBLEM => PARAMETER_PROBLEM_CODES,
        _ => &[],
    }
}

/// The code that `text` names in messages of type `kind`: a name such as `transit`, or a number.
pub fn icmp_code(kind: u8, text: &str) -> Option<u8> {
    number(codes(kind), text).and_then(|n| u8::try_from(n).ok()).or_else(|| octet(text))
}

/// The name of a code in messages of type `kind`.
pub fn icmp_code_name(kind: u8, code: u8) -> Option<&'static str> {
    name(codes(kind), code.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!((protocol("tcp"), protocol("17"), protocol("0x11")), (Some(6), Some(17), Some(17)));
        assert_eq!(
            (protocol("transp"), protocol("256"), protocol("+1"), protocol("")),
            (Some(258), None, None, None)
        );
        assert_eq!((protocol_name(4), protocol_name(58), protocol("icmp6")), (Some("ipip"), None, Some(58)));
        assert_eq!((port("domain"), port("65535"), port("65536")), (Some(53), Some(65535), None));
        assert_eq!((port_name(53), port_name(80), port_name(1)), (Some("dns"), Some("www"), None));
        assert_eq!(
            (icmp_type("timeexceeded"), icmp_type_name(0), icmp_type("256")),
            (Some(11), Some("echo-reply"), None)
        );
    }

    #[test]
    fn codes_depend_on_the_type() {
        assert_eq!((icmp_code(3, "toshost"), icmp_code(5, "toshost")), (Some(12), Some(3)));
        assert_eq!((icmp_code(8, "host"), icmp_code(8, "7")), (None, Some(7)));
        assert_eq!((icmp_code_name(11, 0), icmp_code_name(12, 0)), (Some("transit"), Some("erroratptr")));
    }

    /// Every name leads to its number and every printed name leads back.
    #[test]
    fn tables_agree_with_themselves() {
        for table in [PROTOCOLS, MORE_PROTOCOLS, PORTS, ICMP_TYPES, UNREACHABLE_CODES, REDIRECT_CODES] {
            for &(text, value) in table {
                assert_eq!(number(table, text), Some(value), "{text} twice");
                assert_eq!(number(table, name(table, value).unwrap()), Some(value));
            }
        }
    }
}
