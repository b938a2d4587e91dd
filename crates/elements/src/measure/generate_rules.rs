//! Flows of the traffic, and rules made of them: what FastClick's rule generators share.

use packet::Packet;
use router::{Cx, Handlers, Simple, Verdict};
use std::any::Any;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::Ipv4Addr;
use wire::{ip_proto, ipv4};

/// Flows that are remembered at most.
const MOST: usize = 1 << 20;
/// Bits of an address.
const BITS: u32 = 32;

/// What rules tell apart. What does not matter is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Flow {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    pub(super) sport: u16,
    pub(super) dport: u16,
}

/// What of packets matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) src: bool,
    pub(super) dst: bool,
    pub(super) sport: bool,
    pub(super) dport: bool,
    /// Bits of addresses.
    pub(super) prefix: u32,
}

/// What is known of a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Of the first packet.
    pub(super) protocol: u8,
    pub(super) bytes: u64,
}

/// Flows, in order, and what there was of each.
pub(super) type FlowMap = BTreeMap<Flow, Traffic>;

/// An element that notes flows and says them as rules.
pub(super) struct Generator {
    pub(super) flows: Flows,
    /// The file that `dump_to_file` writes.
    pub(super) file: String,
    /// The rules as text.
    pub(super) rules: Box<dyn Fn(&Flows) -> String + Send>,
}

impl Generator {
    pub(super) fn dump(&self) -> String {
        (self.rules)(&self.flows)
    }

    /// Writes the rules to the file.
    pub(super) fn write_dump(&self, cx: &Cx<'_>) -> Result<String, String> {
        self.write(cx, &self.dump())
    }

    /// Writes rules to the file, if there are any.
    pub(super) fn write(&self, cx: &Cx<'_>, rules: &str) -> Result<String, String> {
        if rules.is_empty() {
            cx.log(&format!("No rules to write to file: {}", self.file));
        } else {
            std::fs::write(&self.file, rules).map_err(|error| format!("{}: {error}", self.file))?;
        }
        Ok(String::new())
    }
}

/// Declares the handlers of an element with a generator.
pub(super) fn handlers<E: Any>(h: &mut Handlers, of: fn(&mut E) -> &mut Generator) {
    h.read("flows_nb", move |e: &mut E, _| of(e).flows.len());
    h.read("rules_nb", move |e: &mut E, _| of(e).flows.reduced().0.len());
    h.read("dump", move |e: &mut E, _| of(e).dump());
    h.read_with("dump_to_file", move |e: &mut E, cx, _| of(e).write_dump(cx));
}

impl Simple for Generator {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.flows.note(packet);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        handlers(h, |e: &mut Generator| e);
    }
}

/// The first bits of an address.
fn masked(address: Ipv4Addr, prefix: u32) -> Ipv4Addr {
    let mask = u32::MAX.checked_shl(BITS - prefix.min(BITS)).unwrap_or(0);
    Ipv4Addr::from_bits(address.to_bits() & mask)
}

impl Flow {
    /// The flow of a packet with a marked IPv4 header, and what the packet adds to it.
    fn of(packet: &Packet, keep: Keep) -> Option<(Flow, Traffic)> {
        let ip = ipv4::Header::new_checked(packet.network()?).ok()?;
        let has_ports = matches!(ip.protocol(), ip_proto::TCP | ip_proto::UDP) && ip.is_first_fragment();
        let ports = packet.transport().filter(|_| has_ports).and_then(|transport| transport.first_chunk());
        let [a, b, c, d] = ports.copied().unwrap_or_default();
        let address = |kept, address| if kept { address } else { Ipv4Addr::UNSPECIFIED };
        let port = |kept, port| if kept { u16::from_be_bytes(port) } else { 0 };
        let flow = Flow {
            src: address(keep.src, ip.src()),
            dst: address(keep.dst, ip.dst()),
            sport: port(keep.sport, [a, b]),
            dport: port(keep.dport, [c, d]),
        };
        let traffic = Traffic { protocol: ip.protocol(), bytes: packet.len() as u64 };
        Some((flow.wider(keep.prefix), traffic))
    }

    fn wider(self, prefix: u32) -> Flow {
        Flow { src: masked(self.src, prefix), dst: masked(self.dst, prefix), ..self }
    }
}

/// The flows seen so far.
pub(super) struct Flows {
    seen: FlowMap,
    keep: Keep,
    /// Rules to make, at most.
    rules: usize,
}

impl Flows {
    pub(super) fn new(keep: Keep, rules: u32) -> Flows {
        Flows { seen: FlowMap::new(), keep, rules: rules as usize }
    }

    pub(super) fn keep(&self) -> Keep {
        self.keep
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// Remembers a packet's flow.
    pub(super) fn note(&mut self, packet: &Packet) {
        let Some((flow, traffic)) = Flow::of(packet, self.keep) else { return };
        let is_full = self.seen.len() >= MOST;
        match self.seen.entry(flow) {
            Entry::Occupied(mut seen) => seen.get_mut().bytes += traffic.bytes,
            Entry::Vacant(seen) if !is_full => drop(seen.insert(traffic)),
            Entry::Vacant(_) => {}
        }
    }

    /// The flows, with prefixes as long as they may be for there to be no more of them than rules are wanted, and how
    /// long those are. Prefixes have a bit at least.
    pub(super) fn reduced(&self) -> (FlowMap, u32) {
        let (mut flows, mut prefix) = (self.seen.clone(), self.keep.prefix.clamp(1, BITS));
        while flows.len() > self.rules && prefix > 1 {
            prefix -= 1;
            flows = wider(flows, prefix);
        }
        (flows, prefix)
    }
}

/// Flows by shorter prefixes; those that become one have the protocol of the first.
fn wider(flows: FlowMap, prefix: u32) -> FlowMap {
    let mut wider = FlowMap::new();
    for (flow, traffic) in flows {
        let sum = wider.entry(flow.wider(prefix)).or_insert(Traffic { bytes: 0, ..traffic });
        sum.bytes += traffic.bytes;
    }
    wider
}

/// The mask of a prefix, as an address.
pub(super) fn mask(prefix: u32) -> Ipv4Addr {
    masked(Ipv4Addr::BROADCAST, prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks() {
        let address = Ipv4Addr::new(255, 255, 255, 255);
        assert_eq!(masked(address, 32), address);
        assert_eq!(masked(address, 9), Ipv4Addr::new(255, 128, 0, 0));
        assert_eq!(masked(address, 0), Ipv4Addr::UNSPECIFIED);
        assert_eq!(mask(24), Ipv4Addr::new(255, 255, 255, 0));
    }

    /// Prefixes get shorter until the rules are few enough, and no shorter.
    #[test]
    fn reduces() {
        let keep = Keep { src: true, dst: true, sport: false, dport: false, prefix: 32 };
        let mut flows = Flows::new(keep, 2);
        let dst = Ipv4Addr::new(9, 9, 9, 9);
        let flow = |n| Flow { src: Ipv4Addr::new(1, 0, 0, n), dst, sport: 0, dport: 0 };
        flows.seen = (0..8).map(|n| (flow(n), Traffic { protocol: 6 + n, bytes: n.into() })).collect();
        let (reduced, prefix) = flows.reduced();
        let sums: Vec<_> = reduced.iter().map(|(flow, sum)| (flow.src.octets()[3], *sum)).collect();
        let sum = |protocol, bytes| Traffic { protocol, bytes };
        assert_eq!((sums, prefix), (vec![(0, sum(6, 6)), (4, sum(10, 22))], 30));
        flows.rules = 8;
        assert_eq!(flows.reduced().1, 32);
        flows.rules = 0;
        assert_eq!(flows.reduced().1, 1);
    }
}
