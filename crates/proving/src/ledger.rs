//! Every message of a story, and what became of it.

use crate::datagram::{Datagram, Segment};
use crate::message::Message;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What a packet looks like to those who judge it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The source.
    pub src: IpAddr,
    /// The destination.
    pub dst: IpAddr,
    /// The IP protocol.
    pub protocol: u8,
    /// Source and destination port; of an echo twice the identifier.
    pub ports: [u16; 2],
    /// TTL, or hop limit.
    pub ttl: u8,
    /// Its mark of explicit congestion notification.
    pub ecn: u8,
    /// Bytes of the whole IP packet.
    pub len: usize,
    /// Whether routers may not cut it.
    pub whole: bool,
    /// The flags, if it is a TCP segment.
    pub flags: u8,
}

impl Look {
    /// The look of a whole packet.
    pub fn of(packet: &Datagram, segment: &Segment) -> Look {
        let header = if packet.src.is_ipv4() { 20 } else { 40 };
        Look {
            src: packet.src,
            dst: packet.dst,
            protocol: packet.protocol,
            ports: segment.ports(),
            ttl: packet.ttl,
            ecn: packet.ecn,
            len: header + packet.payload.len(),
            whole: packet.whole,
            flags: if let Segment::Tcp { flags, .. } = segment { *flags } else { 0 },
        }
    }
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Which.
    pub message: Message,
    /// When.
    pub at_ns: i64,
    /// The host that sent it.
    pub host: usize,
    /// As what.
    pub look: Look,
}

/// A message that arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// When.
    pub at_ns: i64,
    /// The host where it arrived.
    pub host: usize,
    /// As what.
    pub look: Look,
}

/// An ICMP error about a message.
#[derive(Clone, Debug)]
pub struct Complaint {
    /// When it arrived.
    pub at_ns: i64,
    /// The host where it arrived.
    pub host: usize,
    /// Type and code.
    pub kind: (u8, u8),
    /// Who complains.
    pub from: IpAddr,
    /// The addresses and ports of the packet that it quotes; no ports if it quotes none.
    pub quoted: (IpAddr, IpAddr, [u16; 2]),
}

/// What is known of a message.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// How a host sent it; answers of routers have none.
    pub sent: Option<Sent>,
    /// Where it arrived.
    pub arrived: Vec<Arrived>,
    /// Who complained about it.
    pub complaints: Vec<Complaint>,
}

/// All messages of a story.
#[derive(Default)]
pub struct Ledger {
    entries: BTreeMap<Message, Entry>,
    /// Frames on links that the model reads.
    read: Vec<Vec<u8>>,
    /// The highest number of each flow that has arrived at a host, answers apart.
    latest: BTreeMap<(u32, bool, usize), u32>,
}

impl Ledger {
    /// Notes that a host sends a message.
    pub fn send(&mut self, sent: Sent) {
        let entry = self.entries.entry(sent.message).or_default();
        entry.sent = Some(sent);
    }

    /// Notes an arrival. Returns the number of the flow's message that was here before, if that is a later one.
    pub fn arrive(&mut self, message: Message, arrived: Arrived) -> Option<u32> {
        let latest = self.latest.entry((message.flow, message.answer, arrived.host)).or_default();
        let overtaken = (*latest > message.number).then_some(*latest);
        *latest = message.number.max(*latest);
        self.entries.entry(message).or_default().arrived.push(arrived);
        overtaken
    }

    /// Notes a frame on a link that the model reads.
    pub fn note(&mut self, frame: &[u8]) {
        self.read.push(frame.to_vec());
    }

    /// All frames on such links.
    pub fn read(&self) -> &[Vec<u8>] {
        &self.read
    }

    /// Notes an error.
    pub fn complain(&mut self, message: Message, complaint: Complaint) {
        self.entries.entry(message).or_default().complaints.push(complaint);
    }

    /// How many messages that were sent since some time have not arrived, nor an answer to them.
    pub fn on_their_way(&self, since_ns: i64) -> u64 {
        let arrived = |message| self.get(message).is_some_and(|entry| !entry.arrived.is_empty());
        let open = |(message, entry): &(Message, &Entry)| {
            entry.sent.as_ref().is_some_and(|sent| sent.at_ns >= since_ns)
                && !arrived(*message)
                && !arrived(message.answered())
        };
        self.all().filter(open).count() as u64
    }

    /// What is known of a message.
    pub fn get(&self, message: Message) -> Option<&Entry> {
        self.entries.get(&message)
    }

    /// All messages, in order.
    pub fn all(&self) -> impl Iterator<Item = (Message, &Entry)> {
        self.entries.iter().map(|(&message, entry)| (message, entry))
    }
}
