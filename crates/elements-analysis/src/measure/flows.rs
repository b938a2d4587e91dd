//! TCP and UDP flows, seen from both sides, and how long they live.

use packet::Packet;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use wire::{icmpv4, ip_proto, ipv4};

/// A flow's two ends, the smaller address first; or the sender first, where each direction is a flow of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) hosts: Hosts,
    pub(super) ports: (u16, u16),
}

/// Two hosts and a protocol, in the order of [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Hosts {
    pub(super) low: Ipv4Addr,
    pub(super) high: Ipv4Addr,
    pub(super) tcp: bool,
}

/// What a packet says about its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) hosts: Hosts,
    /// The ports in the order of hosts; missing in all fragments but the first.
    pub(super) ports: Option<(u16, u16)>,
    /// Whether the packet goes from the second host to the first.
    pub(super) flipped: bool,
    pub(super) fragment: bool,
    pub(super) id: u16,
    /// Whether it is an ICMP error about a packet of the flow.
    pub(super) error: bool,
    /// Of a packet of the flow itself.
    pub(super) tcp_flags: Option<u8>,
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
/// Bytes of a transport header that must be there: the ports.
const LEAST_TRANSPORT: usize = 4;
/// Where TCP's flags are.
const FLAGS_AT: usize = 13;

/// The packet that an ICMP error tells of.
fn told_of(transport: &[u8]) -> Option<&[u8]> {
    use icmpv4::kind::{PARAMETER_PROBLEM, REDIRECT, SOURCE_QUENCH, TIME_EXCEEDED, UNREACHABLE};
    let kind = *transport.first()?;
    let error = [UNREACHABLE, SOURCE_QUENCH, REDIRECT, TIME_EXCEEDED, PARAMETER_PROBLEM].contains(&kind);
    error.then(|| transport.get(icmpv4::HEADER_LEN..)).flatten()
}

impl Hosts {
    /// Click's hash, which takes addresses for numbers as they lie in memory.
    fn hash(&self) -> u32 {
        let [a, b] = [self.low, self.high].map(|address| u32::from_le_bytes(address.octets()));
        let (a, b) = (a.min(b), a.max(b));
        (a << 12).wrapping_add(b).wrapping_add(a >> 20 & 0x1f)
    }
}

impl Seen {
    /// What a packet says; `None` if it belongs to no TCP or UDP flow. Both directions are one flow if that is `symmetric`.
    pub(super) fn of(packet: &Packet, icmp_errors: bool, symmetric: bool) -> Option<Seen> {
        let network = packet.network()?;
        let outer = ipv4::Header::new_checked(network).ok()?;
        let error = icmp_errors && outer.protocol() == ip_proto::ICMP && outer.is_first_fragment();
        let bytes = if error { told_of(packet.transport()?)? } else { network };
        let ip = ipv4::Header::new_checked(bytes).ok()?;
        let tcp = ip.protocol() == ip_proto::TCP;
        if !tcp && ip.protocol() != ip_proto::UDP || ip.header_len() < ipv4::HEADER_LEN {
            return None;
        }
        if ip.src().is_unspecified() && ip.dst().is_unspecified() {
            return None;
        }
        let mut flipped = symmetric && ip.src() > ip.dst();
        let (mut ports, mut tcp_flags) = (None, None);
        if ip.is_first_fragment() {
            let transport = bytes.get(ip.header_len()..).filter(|bytes| bytes.len() >= LEAST_TRANSPORT)?;
            let port = |at: usize| u16::from_be_bytes([transport[at], transport[at + 1]]);
            let (from, to) = (port(0), port(2));
            flipped |= symmetric && ip.src() == ip.dst() && from > to;
            ports = Some(if flipped { (to, from) } else { (from, to) });
            tcp_flags = transport.get(FLAGS_AT).copied().filter(|_| tcp && !error);
        }
        let (low, high) = if flipped { (ip.dst(), ip.src()) } else { (ip.src(), ip.dst()) };
        let (fragment, id) = (ip.is_fragment(), ip.id());
        Some(Seen { hosts: Hosts { low, high, tcp }, ports, flipped, fragment, id, error, tcp_flags })
    }

    pub(super) fn key(&self) -> Option<Key> {
        self.ports.map(|ports| Key { hosts: self.hosts, ports })
    }
}

/// One flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) aggregate: u32,
    /// Whether its first packet went from the second host to the first.
    pub(super) reverse: bool,
    /// Which sides have closed, a bit each.
    over: u8,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    /// Grows from packet to packet of all flows.
    used: u64,
    /// Packets in the first packet's direction, and in the other.
    pub(super) packets: [u32; 2],
    /// Where its first packet is in a file, if that is known.
    pub(super) position: u64,
}

const BOTH: u8 = 3;
const NS_PER_S: i64 = 1_000_000_000;

/// Seconds without packets after which flows are over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timeouts {
    pub(super) tcp: i64,
    pub(super) tcp_done: i64,
    pub(super) udp: i64,
}

impl Timeouts {
    fn of(&self, key: &Key, flow: &Flow) -> i64 {
        match (key.hosts.tcp, flow.over) {
            (false, _) => self.udp,
            (true, BOTH) => self.tcp_done,
            (true, _) => self.tcp,
        }
    }
}

/// The flows that are known, at most `capacity`.
pub(super) struct Flows {
    pub(super) table: HashMap<Key, Flow>,
    pub(super) timeouts: Timeouts,
    capacity: usize,
    next: u32,
    uses: u64,
}

/// What became of the search for a flow.
pub(super) struct FlowLookup {
    pub(super) flow: Flow,
    /// A flow between the same ends that was over, and made room for this one.
    pub(super) ended: Option<Flow>,
}

impl Flows {
    pub(super) fn new(timeouts: Timeouts, capacity: usize) -> Flows {
        Flows { table: HashMap::new(), timeouts, capacity, next: 1, uses: 0 }
    }

    /// All flows, for a new configuration.
    pub(super) fn give(&mut self) -> Flows {
        Flows { table: std::mem::take(&mut self.table), ..*self }
    }

    /// Goes on with flows, and with the numbers behind theirs.
    pub(super) fn adopt(&mut self, old: Flows) {
        (self.table, self.next) = (old.table, old.next);
    }

    /// The flow of a packet, which is at a position of a file, made if it is new; `None` if there are too many.
    pub(super) fn find(&mut self, key: Key, seen: &Seen, time_ns: i64, position: u64) -> Option<FlowLookup> {
        self.uses += 1;
        let full = self.table.len() >= self.capacity;
        if let Some(flow) = self.table.get_mut(&key) {
            flow.used = self.uses;
            let age = time_ns / NS_PER_S - flow.last_ns / NS_PER_S;
            let again = flow.over == BOTH && seen.tcp_flags.is_some_and(|flags| flags & SYN != 0);
            if age <= self.timeouts.of(&key, flow) && !again {
                return Some(FlowLookup { flow: *flow, ended: None });
            }
        } else if full {
            return None;
        }
        let flow = Flow {
            aggregate: self.next,
            reverse: seen.flipped,
            over: 0,
            first_ns: time_ns,
            last_ns: time_ns,
            used: self.uses,
            packets: [0; 2],
            position,
        };
        self.next = self.next.wrapping_add(1).max(1);
        Some(FlowLookup { flow, ended: self.table.insert(key, flow) })
    }

    /// Notes that a packet of a flow leaves. Paint is the direction, from 2 on for ICMP errors.
    pub(super) fn leaves(&mut self, key: &Key, paint: u8, tcp_flags: Option<u8>, time_ns: i64) {
        let Some(flow) = self.table.get_mut(key) else { return };
        flow.last_ns = time_ns;
        if paint > 1 {
            return;
        }
        flow.packets[usize::from(paint)] += 1;
        match tcp_flags {
            Some(flags) if flags & RST != 0 => flow.over = BOTH,
            Some(flags) if flags & FIN != 0 => flow.over |= 1 << paint,
            Some(flags) if flags & SYN != 0 => flow.over = 0,
            _ => {}
        }
    }

    /// Forgets flows that are over at a time, unless `keep` says no; returns them.
    pub(super) fn reap(&mut self, now_s: i64, keep: impl Fn(&Hosts) -> bool) -> Vec<(Key, Flow)> {
        let timeouts = self.timeouts;
        let over = |key: &Key, flow: &Flow| {
            flow.last_ns / NS_PER_S < now_s - timeouts.of(key, flow) && !keep(&key.hosts)
        };
        let mut flows: Vec<(Key, Flow)> = self.table.extract_if(|key, flow| over(key, flow)).collect();
        sort(&mut flows);
        flows
    }

    /// Forgets all flows; returns them.
    pub(super) fn clear(&mut self) -> Vec<(Key, Flow)> {
        let mut flows: Vec<(Key, Flow)> = self.table.drain().collect();
        sort(&mut flows);
        flows
    }
}

/// Puts flows into the order in which Click tells of them: TCP before UDP, pairs of hosts as they lie in its hash table, which has 63
/// buckets at first, and the flows of each pair by their last packets, latest first.
fn sort(flows: &mut [(Key, Flow)]) {
    let mut first: HashMap<Hosts, u32> = HashMap::new();
    let mut pairs = [0usize; 2];
    for (key, flow) in &*flows {
        let first = first.entry(key.hosts).or_insert_with(|| {
            pairs[usize::from(key.hosts.tcp)] += 1;
            flow.aggregate
        });
        *first = flow.aggregate.min(*first);
    }
    flows.sort_by_key(|(key, flow)| {
        let mut buckets = 63;
        while pairs[usize::from(key.hosts.tcp)] > 2 * buckets {
            buckets = 2 * buckets + 1;
        }
        let bucket = key.hosts.hash() as usize % buckets;
        (!key.hosts.tcp, bucket, Reverse(first.get(&key.hosts).copied()), Reverse(flow.used))
    });
}
