//! Puts IPv6 packets into Ethernet frames, with addresses found by neighbour discovery.
//!
//! ```click
//! IP6NDSolicitor(IP6, ETH)
//! ```
//!
//! What ARPQuerier is for IPv4 (RFC 4861). Packets at input 0 are IPv6 packets with a destination annotation. If the
//! Ethernet address for it is known, the packet leaves by output 0 in an Ethernet frame. Otherwise it waits, and a
//! neighbour solicitation goes out: by output 1, or by output 0 if that is the only one. Neighbour advertisements arrive
//! at input 1, with their Ethernet headers; then the packets that wait leave, in their order. Packets for multicast groups
//! go to the group's Ethernet address (RFC 2464).
//!
//! Solicitations for one address go out ten times a second at most, and every two seconds after ten without answer. An
//! address that is still used a minute after it was last confirmed is asked for again, and forgotten after five minutes
//! without answer. At most 2048 packets wait; then half of them are dropped, the oldest first. On several workers the
//! table of addresses is shared and is read without locks; packets wait on the worker on which they arrived.
//!
//! Advertisements are believed only from the network itself (hop limit 255), with a right checksum, and about addresses
//! that were asked for.
//!
//! Ports: 2 inputs, 1 or 2 outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `IP6` (IPv6 address), `ETH` (Ethernet address): this host's.
//!
//! # Handlers
//! - `table` (read): the addresses: IPv6 address, whether it is known, Ethernet address, age.
//! - `count` (read): addresses. `length` (read): packets that wait.
//! - `stats` (read): packets dropped and solicitations sent, as text.
//!
//! # Example
//! ```click
//! c :: Classifier(12/86dd 20/3aff 54/88, 12/86dd);
//! nd :: IP6NDSolicitor(2001:db8::1, 00:00:C0:AE:67:EF);
//! c[0] -> [1]nd;
//! c[1] -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) -> nd -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! IP6NDAdvertiser, ARPQuerier

use super::arp_table::{expiry_timer, wake};
use super::neighbours::{Asked, Fate, Limits, Neighbours, Waiter};
use super::waiting::Waiting;
use super::{NO_ROOM, encapsulate};
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency};
use std::net::Ipv6Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wire::ethernet::{self, HEADER_LEN, ether_type, header};
use wire::{MacAddr, icmpv6, ip_proto, ipv6};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6NDSolicitor", create)
    .ports("2/1-2")
    .processing("h/h")
    .flow("xy/x")
    .residency(Residency::Shared)
    .doc(include_str!("ip6_nd_solicitor.rs"));

/// Where the message starts, and its length with one option for a link-layer address.
const MESSAGE_AT: usize = HEADER_LEN + ipv6::HEADER_LEN;
const MESSAGE_LEN: usize = icmpv6::NEIGHBOR_LEN + 8;
const SOURCE_LINK_ADDRESS: u8 = 1;
const TARGET_LINK_ADDRESS: u8 = 2;
const HOP_LIMIT: u8 = 255;
/// How long after its last confirmation an address is asked for again.
const POLL_NS: i64 = 60_000_000_000;

const NO_ANSWER: &str = "no answer to neighbour solicitations";

/// What the instances on several workers share.
struct Shared {
    table: Neighbours<Ipv6Addr>,
    queries: AtomicU64,
}

struct Ip6NdSolicitor {
    shared: Arc<Shared>,
    ip: Ipv6Addr,
    mac: MacAddr,
    query_output: usize,
    /// Whether this instance looks for expired addresses.
    expires: bool,
    waiting: Waiting<Ipv6Addr>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ip, mut mac) = (Ipv6Addr::UNSPECIFIED, MacAddr::ZERO);
    config.args().required("IP6", &mut ip).required("ETH", &mut mac).finish()?;
    let make = || Shared { table: Neighbours::new(Limits::default()), queries: AtomicU64::new(0) };
    Ok(Box::new(Ip6NdSolicitor {
        shared: config.shared(|| Ok(make()))?,
        ip,
        mac,
        query_output: config.outputs().saturating_sub(1),
        expires: config.workers().first() == Some(&config.worker()),
        waiting: Waiting::default(),
    }))
}

/// The group that an address' neighbours listen to, and its Ethernet address (RFC 4291, section 2.7.1; RFC 2464, section 7).
fn solicited_node(ip: Ipv6Addr) -> (Ipv6Addr, MacAddr) {
    let bits = 0xff02_0000_0000_0000_0000_0001_ff00_0000 | (ip.to_bits() & 0xff_ffff);
    let group = Ipv6Addr::from_bits(bits);
    (group, group_mac(group))
}

fn group_mac(group: Ipv6Addr) -> MacAddr {
    let [.., a, b, c, d] = group.octets();
    MacAddr([0x33, 0x33, a, b, c, d])
}

/// Whose Ethernet address a frame tells, if it is a proper advertisement.
fn advertised(frame: &[u8]) -> Option<(Ipv6Addr, MacAddr)> {
    let ethernet = ethernet::Header::new_checked(frame).ok()?;
    let ip = ipv6::Header::new_checked(frame.get(HEADER_LEN..)?).ok()?;
    let len = usize::from(ip.payload_len());
    let message = frame.get(MESSAGE_AT..MESSAGE_AT + len).filter(|_| len >= icmpv6::NEIGHBOR_LEN)?;
    let proper = ethernet.ether_type() == ether_type::IPV6
        && ip.version() == 6
        && ip.next_header() == ip_proto::ICMPV6
        && ip.hop_limit() == HOP_LIMIT
        && message[..2] == [icmpv6::kind::NEIGHBOR_ADVERTISEMENT, 0]
        && icmpv6::verify_checksum(ip.src(), ip.dst(), message).is_ok();
    let target = Ipv6Addr::from(*message.get(8..)?.first_chunk::<16>()?);
    let mac = target_option(message.get(icmpv6::NEIGHBOR_LEN..)?)?;
    (proper && !target.is_multicast() && !mac.is_group()).then_some((target, mac))
}

/// The target's link-layer address among the options of a message.
fn target_option(mut options: &[u8]) -> Option<MacAddr> {
    while let [kind, eighths, ..] = *options {
        let option = options.get(..usize::from(eighths) * 8).filter(|option| !option.is_empty())?;
        if kind == TARGET_LINK_ADDRESS && eighths == 1 {
            return option.get(2..)?.first_chunk().map(|bytes| MacAddr(*bytes));
        }
        options = &options[option.len()..];
    }
    None
}

impl Ip6NdSolicitor {
    /// Returns the packet in a frame if its address is known; otherwise sees to it.
    #[inline]
    fn forward(&mut self, cx: &mut Cx<'_>, packet: Packet) -> Option<Packet> {
        let ip = packet.dst_ip6();
        match self.shared.table.lookup(cx.turn(), ip, cx.now_ns(), POLL_NS) {
            Some((mac, poll)) => {
                if poll {
                    self.query(cx, ip, mac);
                }
                if !self.waiting.is_empty() {
                    self.release(cx, ip, mac);
                }
                self.frame(cx, packet, mac)
            }
            None if ip.is_multicast() => self.frame(cx, packet, group_mac(ip)),
            None if ip.is_unspecified() => {
                cx.drop(packet, "no destination annotation");
                None
            }
            None => self.wait(cx, packet, ip),
        }
    }

    #[inline]
    fn frame(&mut self, cx: &mut Cx<'_>, mut packet: Packet, mac: MacAddr) -> Option<Packet> {
        if encapsulate(&mut packet, &header(mac, self.mac, ether_type::IPV6)) {
            return Some(packet);
        }
        cx.drop(packet, NO_ROOM);
        None
    }

    /// Has a packet wait for its address, and asks for that when it is time.
    #[cold]
    fn wait(&mut self, cx: &mut Cx<'_>, packet: Packet, ip: Ipv6Addr) -> Option<Packet> {
        let state = self.waiting.state(ip);
        if state.is_none_or(|(_, again_ns)| cx.now_ns() >= again_ns) {
            let waiter = Waiter { element: cx.index(), worker: cx.worker() };
            let (asked, evicted) = self.shared.table.ask(cx.turn(), ip, cx.now_ns(), waiter);
            wake(cx, evicted);
            match asked {
                Asked::Known(mac) => {
                    self.release(cx, ip, mac);
                    return self.frame(cx, packet, mac);
                }
                Asked::Wait { query, again_ns } => {
                    self.waiting.expect(ip, again_ns);
                    if query {
                        self.query(cx, ip, MacAddr::BROADCAST);
                    }
                }
            }
        }
        self.make_room(cx);
        match self.waiting.push(ip, packet) {
            Some(packet) => self.drop_waiting(cx, packet, NO_ANSWER), // not reached: the address is waited for
            None => {
                self.shared.table.waiting().fetch_add(1, Relaxed);
            }
        }
        None
    }

    /// Drops packets that wait, the oldest first, if they are too many.
    fn make_room(&mut self, cx: &mut Cx<'_>) {
        let limits = *self.shared.table.limits();
        if self.shared.table.waiting().load(Relaxed) < limits.packets {
            return;
        }
        while self.shared.table.waiting().load(Relaxed) >= limits.slim_packets()
            && let Some(oldest) = self.waiting.pop_oldest()
        {
            self.shared.table.waiting().fetch_sub(1, Relaxed);
            self.drop_waiting(cx, oldest, "too many packets wait for addresses");
        }
    }

    fn drop_waiting(&mut self, cx: &mut Cx<'_>, packet: Packet, reason: &'static str) {
        self.shared.table.drops().fetch_add(1, Relaxed);
        cx.drop(packet, reason);
    }

    /// Asks for an address: its neighbours, or (to confirm it) the one that has it.
    #[cold]
    fn query(&mut self, cx: &mut Cx<'_>, target: Ipv6Addr, to: MacAddr) {
        let (dst, mac) = if to.is_group() { solicited_node(target) } else { (target, to) };
        let Some(mut query) = cx.pool().alloc(DEFAULT_HEADROOM - HEADER_LEN, MESSAGE_AT + MESSAGE_LEN) else {
            return;
        };
        if self.fill(query.data_mut(), target, dst, mac).is_none() {
            return cx.drop(query, "no solicitation"); // not reached: its size is right
        }
        query.set_mac_offset(0);
        query.set_timestamp_ns(cx.now_ns());
        self.shared.queries.fetch_add(1, Relaxed);
        cx.emit_packet(self.query_output, query);
    }

    /// Writes a solicitation.
    fn fill(&self, frame: &mut [u8], target: Ipv6Addr, dst: Ipv6Addr, mac: MacAddr) -> Option<()> {
        let (ethernet, rest) = frame.split_first_chunk_mut()?;
        *ethernet = header(mac, self.mac, ether_type::IPV6);
        let (place, message) = rest.split_first_chunk_mut()?;
        let mut ip = ipv6::Header::new(place);
        ip.set_version_class_flow(0, 0);
        ip.set_payload_len(MESSAGE_LEN as u16);
        ip.set_next_header(ip_proto::ICMPV6);
        ip.set_hop_limit(HOP_LIMIT);
        ip.set_src(self.ip);
        ip.set_dst(dst);
        message[..8].fill(0);
        message[0] = icmpv6::kind::NEIGHBOR_SOLICITATION;
        message[8..icmpv6::NEIGHBOR_LEN].copy_from_slice(&target.octets());
        let option = icmpv6::link_addr_option(SOURCE_LINK_ADDRESS, self.mac);
        message[icmpv6::NEIGHBOR_LEN..].copy_from_slice(&option);
        icmpv6::fill_checksum(self.ip, dst, message).ok()
    }

    fn learn(&mut self, cx: &mut Cx<'_>, packet: &Packet) {
        let Some((ip, mac)) = advertised(packet.data()) else { return };
        if matches!(self.shared.table.fate(ip, cx.now_ns()), Fate::Gone) {
            return; // nobody asked
        }
        match self.shared.table.insert(cx.turn(), ip, mac, cx.now_ns()) {
            Ok(waiters) => {
                self.release(cx, ip, mac);
                let here = Waiter { element: cx.index(), worker: cx.worker() };
                wake(cx, waiters.into_iter().filter(|waiter| *waiter != here).collect());
            }
            // The packets go on waiting: the next advertisement may find room.
            Err(_) => cx.count_drops("advertisement lost: too many changes wait to be reclaimed", 1),
        }
    }

    /// Sends the packets that wait for an address.
    fn release(&mut self, cx: &mut Cx<'_>, ip: Ipv6Addr, mac: MacAddr) {
        for packet in self.waiting.take(ip) {
            self.shared.table.waiting().fetch_sub(1, Relaxed);
            if let Some(packet) = self.frame(cx, packet, mac) {
                cx.emit_packet(0, packet);
            }
        }
    }

    /// Drops the packets that wait for an address.
    fn give_up(&mut self, cx: &mut Cx<'_>, ip: Ipv6Addr) {
        for packet in self.waiting.take(ip) {
            self.shared.table.waiting().fetch_sub(1, Relaxed);
            self.drop_waiting(cx, packet, NO_ANSWER);
        }
    }
}

impl Element for Ip6NdSolicitor {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.expires {
            expiry_timer(cx, &self.shared.table, true);
        }
        cx.unschedule(); // the task exists from now on: others may schedule it
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        if port == 0 {
            batch.filter_map(|packet| self.forward(cx, packet));
            cx.emit(0, batch);
        } else {
            batch.iter().for_each(|packet| self.learn(cx, packet));
            cx.consume(batch);
        }
    }

    /// Something happened to an address that packets wait for.
    fn run_task(&mut self, cx: &mut Cx<'_>) {
        for ip in self.waiting.addresses() {
            match self.shared.table.fate(ip, cx.now_ns()) {
                Fate::Known(mac) => self.release(cx, ip, mac),
                Fate::Gone => self.give_up(cx, ip),
                Fate::Pending => {}
            }
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        wake(cx, self.shared.table.expire(cx.turn(), cx.now_ns()));
        expiry_timer(cx, &self.shared.table, false);
    }

    fn handlers(&self, h: &mut Handlers) {
        type S = Ip6NdSolicitor;
        h.read("table", |e: &mut S, cx| e.shared.table.list(cx.now_ns()));
        h.read("count", |e: &mut S, _| e.shared.table.len());
        h.read("length", |e: &mut S, _| e.shared.table.waiting().load(Relaxed));
        h.read("stats", |e: &mut S, _| {
            let killed = e.shared.table.drops().load(Relaxed);
            format!("{killed} packets killed\n{} ND queries sent\n", e.shared.queries.load(Relaxed))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inject::{Sent, send_singly};
    use packet::Anno;
    use proptest::prelude::*;

    fn advertisement(target: &str, hop_limit: u8) -> Vec<u8> {
        let target: Ipv6Addr = target.parse().unwrap();
        let me: Ipv6Addr = "2001:db8::1".parse().unwrap();
        let mut message =
            [&[136, 0, 0, 0, 0x60, 0, 0, 0][..], &target.octets(), &[2, 1, 7, 7, 7, 7, 7, 8]].concat();
        message[30] &= 0xfe;
        message[26] = 6; // the first byte of an Ethernet address: not a group
        icmpv6::fill_checksum(target, me, &mut message).unwrap();
        let fixed = [0x60, 0, 0, 0, 0, 32, 58, hop_limit];
        [&[2; 12][..], &[0x86, 0xdd], &fixed, &target.octets(), &me.octets(), &message].concat()
    }

    fn data(to: &str, byte: u8) -> Sent {
        let to: Ipv6Addr = to.parse().unwrap();
        let [low, high] = [0, 8].map(|at| u64::from_ne_bytes(*to.octets()[at..].first_chunk().unwrap()));
        let place = |offset| Anno::new(offset, 8).unwrap();
        let annotations = vec![(place(0), low), (place(8), high)];
        Sent { data: vec![0x60, byte], annotations, ..Sent::default() }
    }

    /// Packets wait for the address that is asked for, and leave in order when it is told; a forged answer, one with
    /// another hop limit, and one that nobody asked for change nothing.
    #[test]
    fn resolution() {
        let config = "Inject -> c :: Classifier(0/02, -); nd :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1);
                      c[0] -> [1]nd; c[1] -> nd; nd -> Collect(0); nd[1] -> Collect(1)";
        let mut forged = advertisement("2001:db8::7", 255);
        forged[83] ^= 1;
        let sent = [
            data("2001:db8::7", 1),
            data("2001:db8::7", 2),
            advertisement("2001:db8::7", 254).into(),
            forged.into(),
            advertisement("2001:db8::9", 255).into(),
            data("2001:db8::7", 3),
            advertisement("2001:db8::7", 255).into(),
            data("2001:db8::7", 4),
            data("2001:db8::9", 5),
            data("ff02::1:2", 6),
        ];
        let mut flow = send_singly(config, sent);
        let frames: Vec<(u8, u8)> = flow.data(0).iter().map(|frame| (frame[15], frame[0])).collect();
        assert_eq!(frames, [(1, 6), (2, 6), (3, 6), (4, 6), (6, 0x33)]);
        let queries = flow.data(1);
        assert_eq!(queries.len(), 2, "one for each address");
        assert_eq!(queries[0][..6], [0x33, 0x33, 0xff, 0, 0, 7]);
        let ip = ipv6::Header::new_checked(&queries[0][14..]).unwrap();
        assert_eq!((ip.src(), ip.dst()), ("2001:db8::1".parse().unwrap(), "ff02::1:ff00:7".parse().unwrap()));
        assert_eq!(icmpv6::verify_checksum(ip.src(), ip.dst(), &queries[0][54..]), Ok(()));
        assert_eq!((flow.read("nd.length"), flow.read("nd.count")), ("1".into(), "2".into()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever arrives is no answer unless it is one.
        #[test]
        fn noise(at in 12usize..86, flip in 1u8.., noise in prop::collection::vec(any::<u8>(), 0..120)) {
            let mut frame = advertisement("2001:db8::7", 255);
            prop_assert!(advertised(&frame).is_some());
            frame[at] ^= flip;
            // Traffic class and flow label are nobody's business.
            prop_assert!(advertised(&frame).is_none() || (14..18).contains(&at));
            prop_assert!(advertised(&noise).is_none());
            let _ = target_option(&noise);
        }
    }
}
