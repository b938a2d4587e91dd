//! What frames carry, as far as a bystander can tell: so that it is known what gets lost with one.

use crate::datagram::{Datagram, Frame, Segment, ether_type, protocol};
use crate::message::Message;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What a frame carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// A message, a part of one, or an error about one.
    Message(Message),
    /// A question for a neighbour, an answer, or an announcement.
    Neighbours,
    /// Something else, or a packet in a disguise.
    Unknown,
}

/// Messages of neighbour discovery, and those of routers that go with them (RFC 4861, section 4).
const DISCOVERY: std::ops::RangeInclusive<u8> = 133..=137;

/// What the fragments of a packet have in common.
type Key = (IpAddr, IpAddr, u8, u32);

/// Who sees all frames, and so knows later fragments by the first ones.
#[derive(Default)]
pub struct Bystander {
    parts: BTreeMap<Key, Message>,
}

impl Bystander {
    /// What a frame carries.
    pub fn look(&mut self, bytes: &[u8]) -> Contents {
        match Frame::parse(bytes) {
            Ok(frame) if frame.ether_type == ether_type::ARP => Contents::Neighbours,
            Ok(frame) => {
                Datagram::parse(&frame.payload).map_or(Contents::Unknown, |packet| self.packet(&packet))
            }
            Err(_) => Contents::Unknown,
        }
    }

    /// What a packet carries.
    pub fn packet(&mut self, packet: &Datagram) -> Contents {
        let key = packet.fragment.map(|part| (packet.src, packet.dst, packet.protocol, part.id));
        if let (Some(part), Some(key)) = (packet.fragment, key)
            && part.offset > 0
        {
            return self.parts.get(&key).map_or(Contents::Unknown, |&message| Contents::Message(message));
        }
        let contents = match Segment::parse_quoted(packet) {
            Ok(Segment::Icmp { kind, .. })
                if packet.protocol == protocol::ICMP6 && DISCOVERY.contains(&kind) =>
            {
                Contents::Neighbours
            }
            Ok(Segment::Icmp { rest, .. }) => {
                let quoted = rest.get(4..).and_then(|bytes| Datagram::parse_quoted(bytes).ok());
                quoted.map_or(Contents::Unknown, |quoted| self.packet(&quoted))
            }
            Ok(segment) => Message::of(&segment).map_or(Contents::Unknown, Contents::Message),
            Err(_) => Contents::Unknown,
        };
        if let (Some(key), Contents::Message(message)) = (key, contents) {
            self.parts.insert(key, message);
        }
        contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages are known in whole packets, in parts of them, and in errors about them.
    #[test]
    fn messages_are_known_everywhere() {
        let message = Message { flow: 1, number: 2, answer: false };
        let [src, dst]: [IpAddr; 2] = ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
        let packet = |segment: &Segment| Datagram {
            src,
            dst,
            ttl: 64,
            ecn: 0,
            protocol: segment.protocol(src),
            id: 0,
            fragment: None,
            whole: false,
            payload: segment.to_bytes(src, dst),
        };
        let mut bystander = Bystander::default();
        let long = packet(&Segment::Udp { ports: [1, 2], data: message.to_bytes(3_000) });
        let parts = long.clone().cut(1_500, 7);
        assert_eq!(bystander.packet(&parts[1]), Contents::Unknown, "its first part was not seen");
        for part in &parts {
            assert_eq!(bystander.packet(part), Contents::Message(message));
        }
        let rest = [&[0; 4][..], &parts[1].to_bytes()[..28]].concat();
        let error = packet(&Segment::Icmp { kind: 11, code: 0, rest });
        assert_eq!(bystander.packet(&error), Contents::Message(message));
        let pong = Segment::Echo { reply: true, id: 1, sequence: 2, data: message.to_bytes(64) };
        assert_eq!(bystander.packet(&packet(&pong)), Contents::Message(message.answered()));
    }
}
