//! Answers for the addresses of the cluster nodes that this node acts for.
//!
//! ```click
//! VLBGate(STATE, ETHER, ADDRESS [, ADDRESS...] [, keyword ADDRESS6])
//! ```
//!
//! All nodes are on one segment with hosts, whose gateways are the ADDRESSes: the first that of node 0, the next that of node 1 and so
//! on. Each has an Ethernet address of its own, 02:c2:00:00 and the node's number in two bytes, which moves with it. The node that acts
//! for another (see VLBState) answers ARP requests and neighbour solicitations for the other's addresses, announces them, and takes the
//! frames for them. Hosts notice nothing, and switches learn from the announcements, which go out at once when something changes, and then
//! every second.
//!
//! Input 0 takes all frames of the interface, which has to be promiscuous. Output 0 gives those for nodes that this node acts for, for
//! ETHER, and for all; for one more second also those for a node that it has acted for until then. Output 1 gives answers and
//! announcements. ARP requests and neighbour solicitations for addresses of nodes are answered or dropped here.
//!
//! Ports: 1 input, 2 outputs. Processing: push. Workers: shared. Not in Click.
//!
//! # Arguments
//! - `STATE` (element): this node's VLBState.
//! - `ETHER` (Ethernet address): the interface's own.
//! - `ADDRESS` (IPv4 addresses): of all nodes.
//! - `ADDRESS6` (IPv6 addresses, with spaces between them): of all nodes.
//!
//! # Handlers
//! - `answered`, `announced` (read): answers and announcements sent, of ARP and of neighbour discovery.
//!
//! # Example
//! ```click
//! gate :: VLBGate(state, 02:00:00:00:00:01, 10.0.0.1, 10.0.1.1, ADDRESS6 2001:db8:0::1 2001:db8:1::1);
//! Idle -> gate -> Discard;
//! gate[1] -> Discard;
//! node :: VLBNode(NODE 0, NODES 2, KEY secret);
//! rw :: IPRewriter(pattern 192.0.2.1 1024-65535 - - 0 1);
//! Idle -> MarkIPHeader -> rw[0] -> VLBEncap(1) -> node;
//! rw[1] -> Discard;
//! Idle -> state :: VLBState(node, rw) -> node;
//! Idle -> [1]node[1] -> Discard;
//! node -> Discard;
//! ```
//!
//! # See also
//! VLBState, ARPResponder, IP6NDAdvertiser, HostEtherFilter

use super::succession::Successions;
use super::vlb_state;
use cluster::NodeId;
use elements_shared::neighbour_discovery as nd;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Merge, Residency, Verdict};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;
use wire::MacAddr;
use wire::arp;
use wire::ethernet::{HEADER_LEN, ether_type, header};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLBGate", create)
    .ports("1/2")
    .processing("h/h")
    .residency(Residency::Shared)
    .makes("announcements")
    .doc(router::manual!("vlb_gate.rs"));

/// Between two looks at whether duties have changed, and how many of them lie between announcements.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: u32 = 200;
/// A change is announced so often at once.
const TIMES: u32 = 3;

struct VlbGate {
    state: ElementName,
    own: MacAddr,
    addresses: Vec<Ipv4Addr>,
    addresses6: Vec<Ipv6Addr>,
    shared: Option<Arc<Successions>>,
    is_home: bool,
    seen: u64,
    again: u32,
    looks: u32,
    answered: u64,
    announced: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut state, mut own) = (ElementName::default(), MacAddr::ZERO);
    let (mut addresses, mut addresses6) = (Vec::new(), Vec::new());
    config
        .args()
        .required("STATE", &mut state)
        .required("ETHER", &mut own)
        .list("ADDRESS", &mut addresses)
        .list("ADDRESS6", &mut addresses6)
        .finish()?;
    Ok(Box::new(VlbGate {
        state,
        own,
        addresses,
        addresses6,
        shared: None,
        is_home: config.home() == config.worker(),
        seen: 0,
        again: 0,
        looks: 0,
        answered: 0,
        announced: 0,
    }))
}

/// The Ethernet address that moves with a node's duty.
fn virtual_address(node: NodeId) -> MacAddr {
    let [n0, n1] = node.to_be_bytes();
    MacAddr([2, 0xc2, 0, 0, n0, n1])
}

/// The node that such an address belongs to.
#[inline]
fn node_of(address: MacAddr) -> Option<NodeId> {
    let [2, 0xc2, 0, 0, n0, n1] = address.0 else { return None };
    Some(NodeId::from_be_bytes([n0, n1]))
}

/// Writes an ARP packet into a frame.
fn write(
    frame: &mut [u8],
    to: MacAddr,
    operation: u16,
    sender: (MacAddr, Ipv4Addr),
    target: (MacAddr, Ipv4Addr),
) {
    let Some((head, rest)) = frame.split_first_chunk_mut::<HEADER_LEN>() else { return };
    *head = header(to, sender.0, ether_type::ARP);
    let Some(bytes) = rest.first_chunk_mut::<{ arp::PACKET_LEN }>() else { return };
    bytes[..8].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, operation as u8]);
    bytes[8..14].copy_from_slice(&sender.0.0);
    bytes[14..18].copy_from_slice(&sender.1.octets());
    bytes[18..24].copy_from_slice(&target.0.0);
    bytes[24..].copy_from_slice(&target.1.octets());
}

impl VlbGate {
    /// What becomes of a frame.
    #[inline]
    fn process(&mut self, shared: &Successions, now_ns: u64, packet: &mut Packet) -> Verdict {
        let Some(&[d0, d1, d2, d3, d4, d5]) = packet.data().first_chunk() else {
            return Verdict::Drop("no Ethernet header");
        };
        let to = MacAddr([d0, d1, d2, d3, d4, d5]);
        if packet.data().get(12..14) == Some(&ether_type::ARP.to_be_bytes())
            && let Some(verdict) = self.answer(shared, packet)
        {
            return verdict;
        }
        if nd::may_ask(packet.data())
            && let Some(verdict) = self.answer6(shared, packet)
        {
            return verdict;
        }
        match node_of(to) {
            Some(node) if shared.serves(node, now_ns) => Verdict::Output(0),
            Some(_) => Verdict::Drop("another node acts"),
            None if to == self.own || to.is_group() => Verdict::Output(0),
            None => Verdict::Drop("to another host"),
        }
    }

    /// A request for one of the addresses is answered if this node acts for it, and none of anything else's business.
    #[cold]
    fn answer(&mut self, shared: &Successions, packet: &mut Packet) -> Option<Verdict> {
        let request = arp::check(packet.data().get(HEADER_LEN..)?).ok()?;
        if request.operation() != arp::REQUEST {
            return None;
        }
        let asked = request.target_ip();
        let node = self.addresses.iter().position(|&address| address == asked)? as NodeId;
        if !shared.acts(node) {
            return Some(Verdict::Drop("another node acts"));
        }
        let asker = (request.sender_mac(), request.sender_ip());
        let len = packet.len();
        write(packet.data_mut().get_mut(..len)?, asker.0, arp::REPLY, (virtual_address(node), asked), asker);
        self.answered += 1;
        Some(Verdict::Output(1))
    }

    /// The same for a neighbour solicitation.
    #[cold]
    fn answer6(&mut self, shared: &Successions, packet: &mut Packet) -> Option<Verdict> {
        let (audience, asked) = nd::question(packet.data())?;
        let node = self.addresses6.iter().position(|&address| address == asked)? as NodeId;
        if !shared.acts(node) {
            return Some(Verdict::Drop("another node acts"));
        }
        let fits = match packet.len().checked_sub(nd::FRAME_LEN) {
            Some(surplus) => packet.take(surplus),
            None => packet.put(nd::FRAME_LEN - packet.len()),
        };
        if !fits {
            return Some(Verdict::Drop("no room for an answer"));
        }
        nd::advertise(packet.data_mut(), audience, (virtual_address(node), asked), true)?;
        self.answered += 1;
        Some(Verdict::Output(1))
    }

    /// Tells hosts and switches where addresses are.
    fn announce(&mut self, cx: &mut Cx<'_>, shared: &Successions) {
        for node in 0..self.addresses.len().max(self.addresses6.len()) {
            let own = virtual_address(node as NodeId);
            if !shared.acts(node as NodeId) {
                continue;
            }
            if let Some(&address) = self.addresses.get(node) {
                self.announce_with(cx, HEADER_LEN + arp::PACKET_LEN, |frame| {
                    write(frame, MacAddr::BROADCAST, arp::REQUEST, (own, address), (MacAddr::ZERO, address));
                });
            }
            if let Some(&address) = self.addresses6.get(node) {
                self.announce_with(cx, nd::FRAME_LEN, |frame| {
                    // The frame has the room.
                    let _ = nd::advertise(frame, nd::Audience::All, (own, address), true);
                });
            }
        }
    }

    /// Sends a frame of a length, which `write` writes.
    fn announce_with(&mut self, cx: &mut Cx<'_>, len: usize, write: impl FnOnce(&mut [u8])) {
        let Some(mut packet) = cx.pool().alloc(DEFAULT_HEADROOM, len) else {
            return cx.count_drops("no buffer", 1);
        };
        write(packet.data_mut());
        packet.set_mac_offset(0);
        self.announced += 1;
        cx.emit_packet(1, packet);
    }
}

impl Element for VlbGate {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.is_home {
            cx.timers().after(0, LOOK);
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if self.shared.is_none() {
            self.shared = vlb_state::of(cx, &self.state.name).ok();
        }
        let Some(shared) = self.shared.clone() else { return cx.drop_batch(batch, "no state") };
        let now_ns = cx.now_ns().max(0) as u64;
        cx.scatter(batch, |_, packet| self.process(&shared, now_ns, packet));
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.timers().after(0, LOOK);
        if self.shared.is_none() {
            self.shared = vlb_state::of(cx, &self.state.name).ok();
        }
        let Some(shared) = self.shared.clone() else { return };
        if std::mem::replace(&mut self.seen, shared.changes()) != shared.changes() {
            self.again = TIMES;
        }
        self.looks += 1;
        if self.again > 0 || self.looks >= LOOKS {
            (self.again, self.looks) = (self.again.saturating_sub(1), 0);
            self.announce(cx, &shared);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("answered", |e: &mut VlbGate, _| e.answered).merged(Merge::Sum);
        h.read("announced", |e: &mut VlbGate, _| e.announced).merged(Merge::Sum);
    }
}
