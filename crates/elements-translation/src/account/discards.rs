//! Packets that the router has dropped, as sFlow's notifications of dropped packets have them (sflow.org, sflow_drops.txt).

use packet::Packet;
use router::View;

/// What part of a reason says which code of `drop_reason` it is; the first that occurs counts.
const CODES: [(&str, u32); 18] = [
    ("no route", 6),
    ("leads nowhere", 6),
    ("no hops left", 257),
    ("TTL", 257),
    ("policy", 258),
    ("pattern", 258),
    ("filter", 258),
    ("denied", 258),
    ("early detection", 260),
    ("rate", 261),
    ("MTU", 262),
    ("not to be fragmented", 262),
    ("too long for the tunnel", 262),
    ("wait for addresses", 279),
    ("full", 259),
    ("no room", 259),
    ("no buffer", 259),
    ("bad IP header", 275),
];
/// The code where none of those occurs: `unknown`.
const UNKNOWN: u32 = 256;

/// The code of a reason.
pub(super) fn code(reason: &str) -> u32 {
    CODES.iter().find(|(part, _)| reason.contains(part)).map_or(UNKNOWN, |(_, code)| *code)
}

/// What is reported of a packet: its bytes, its length, and whether they begin with its network header.
pub(super) struct Head<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) len: usize,
    pub(super) is_network: bool,
}

impl<'p> Head<'p> {
    pub(super) fn of(packet: &'p Packet) -> Head<'p> {
        let is_network = packet.network_offset() == Some(0);
        Head { bytes: packet.data(), len: packet.len(), is_network }
    }

    pub(super) fn seen(view: &'p View) -> Head<'p> {
        Head { bytes: &view.bytes, len: view.len, is_network: view.network == Some(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_the_codes_of_the_specification() {
        for (reason, expected) in [
            ("no route", 6),
            ("no hops left", 257),
            ("the policy says discard", 258),
            ("random early detection", 260),
            ("the interface's queue is full", 259),
            ("rate exceeded", 261),
            ("too large, and not to be fragmented", 262),
            ("bad IP header", 275),
            ("switched off", UNKNOWN),
        ] {
            assert_eq!(code(reason), expected, "{reason}");
        }
    }
}
