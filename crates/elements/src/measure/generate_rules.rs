//! Flows of the traffic, and rules made of them: what FastClick's rule generators share.

use packet::Packet;
use router::{Cx, Handlers, Simple, Verdict};
use std::collections::BTreeSet;
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

/// An element that notes flows and says them as rules.
pub(super) struct Generator {
    pub(super) flows: Flows,
    /// The file that `dump_to_file` writes.
    pub(super) file: String,
    /// The rules as text.
    pub(super) rules: Box<dyn Fn(&Flows) -> String + Send>,
}

impl Generator {
    fn dump(&self) -> String {
        (self.rules)(&self.flows)
    }
}

impl Simple for Generator {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.flows.note(packet);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("flows_nb", |e: &mut Generator, _| e.flows.len());
        h.read("rules_nb", |e: &mut Generator, _| e.flows.reduced().0.len());
        h.read("dump", |e: &mut Generator, _| e.dump());
        h.read_with("dump_to_file", |e: &mut Generator, _, _| {
            std::fs::write(&e.file, e.dump()).map_err(|error| format!("{}: {error}", e.file))?;
            Ok(String::new())
        });
    }
}

/// The first bits of an address.
fn masked(address: Ipv4Addr, prefix: u32) -> Ipv4Addr {
    let mask = u32::MAX.checked_shl(BITS - prefix.min(BITS)).unwrap_or(0);
    Ipv4Addr::from_bits(address.to_bits() & mask)
}

impl Flow {
    /// The flow of a packet with a marked IPv4 header.
    fn of(packet: &Packet, keep: Keep) -> Option<Flow> {
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
        Some(flow.wider(keep.prefix))
    }

    fn wider(self, prefix: u32) -> Flow {
        Flow { src: masked(self.src, prefix), dst: masked(self.dst, prefix), ..self }
    }
}

/// The flows seen so far.
pub(super) struct Flows {
    seen: BTreeSet<Flow>,
    keep: Keep,
    /// Rules to make, at most.
    rules: usize,
}

impl Flows {
    pub(super) fn new(keep: Keep, rules: u32) -> Flows {
        Flows { seen: BTreeSet::new(), keep, rules: rules as usize }
    }

    pub(super) fn keep(&self) -> Keep {
        self.keep
    }

    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    /// Remembers a packet's flow.
    pub(super) fn note(&mut self, packet: &Packet) {
        if let Some(flow) = Flow::of(packet, self.keep)
            && self.seen.len() < MOST
        {
            self.seen.insert(flow);
        }
    }

    /// The flows, with prefixes as long as they may be for there to be no more of them than rules are wanted, and how long those are. Prefixes
    /// have a bit at least.
    pub(super) fn reduced(&self) -> (BTreeSet<Flow>, u32) {
        let (mut flows, mut prefix) = (self.seen.clone(), self.keep.prefix.clamp(1, BITS));
        while flows.len() > self.rules && prefix > 1 {
            prefix -= 1;
            flows = flows.into_iter().map(|flow| flow.wider(prefix)).collect();
        }
        (flows, prefix)
    }
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
    }

    /// Prefixes get shorter until the rules are few enough, and no shorter.
    #[test]
    fn reduces() {
        let keep = Keep { src: true, dst: true, sport: false, dport: false, prefix: 32 };
        let mut flows = Flows::new(keep, 2);
        let dst = Ipv4Addr::new(9, 9, 9, 9);
        flows.seen =
            (0..8).map(|n| Flow { src: Ipv4Addr::new(1, 0, 0, n), dst, sport: 0, dport: 0 }).collect();
        let (reduced, prefix) = flows.reduced();
        let sources: Vec<_> = reduced.iter().map(|flow| flow.src.octets()[3]).collect();
        assert_eq!((sources, prefix), (vec![0, 4], 30));
        flows.rules = 8;
        assert_eq!(flows.reduced().1, 32);
        flows.rules = 0;
        assert_eq!(flows.reduced().1, 1);
    }
}
