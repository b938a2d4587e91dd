//! Fragments large IPv6 packets.
//!
//! ```click
//! IP6Fragmenter(MTU)
//! ```
//!
//! Expects packets with a marked IPv6 header. Packets of at most MTU bytes, counted from that header, pass unchanged.
//!
//! Only the source may fragment an IPv6 packet; a router sends an error instead (RFC 8200, section 5). Therefore, if
//! output 1 is connected, larger packets leave unchanged by it, for ICMP6Error. If it is not, this router is taken to
//! be the source, as after IP6Encap: larger packets are split into fragments of at most MTU bytes, sent first to
//! last, each with the extension headers that routers on the path process and a fragment header (RFC 8200, section
//! 4.5). A packet that is already a fragment, or whose headers leave no room for eight bytes of data, is dropped.
//! (Click drops all larger packets.)
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: replicated; counts add up.
//!
//! # Arguments
//! - `MTU` (integer): the maximum packet size, in bytes.
//!
//! # Handlers
//! - `drops` (read): packets that were too large and were not fragmented.
//! - `fragments` (read): fragments made.
//!
//! # Example
//! ```click
//! Idle -> f :: IP6Fragmenter(1280) -> Discard;
//! f[1] -> ICMP6Error(2001:db8::1, 2, 0) -> Discard;
//! ```
//!
//! # See also
//! ICMP6Error, IPFragmenter, CheckIP6Header

use super::header::NO_HEADER;
use elements_shared::verdict::fail;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, Verdict};
use wire::ip_proto::{DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP, ROUTING};
use wire::ipv6::{self, FRAGMENT_HEADER_LEN, Fragment, HEADER_LEN, Header, MAX_EXTENSION_HEADERS};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Fragmenter", create)
    .ports("1/1-2")
    .processing("h/h")
    .makes("fragments")
    .doc(router::manual!("ip6_fragmenter.rs"));

/// Where the fixed header says what comes next.
const NEXT_HEADER_AT: usize = 6;

struct Ip6Fragmenter {
    mtu: usize,
    outputs: usize,
    drops: u64,
    fragments: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut mtu = 0u32;
    config.args().required("MTU", &mut mtu).finish()?;
    Ok(Box::new(Ip6Fragmenter { mtu: mtu as usize, outputs: config.outputs(), drops: 0, fragments: 0 }))
}

/// A packet that is to be split.
struct Datagram<'a> {
    /// What every fragment begins with: the headers up to the last one that routers look at.
    lead: &'a [u8],
    /// Where in it the protocol of what follows stands.
    next_header_at: usize,
    /// What is split.
    body: &'a [u8],
}

impl<'a> Datagram<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Datagram<'a>> {
        let bytes = bytes.get(..ipv6::check(bytes).ok()?)?;
        let (mut next_header_at, mut end) = (NEXT_HEADER_AT, HEADER_LEN);
        let (mut at, mut protocol) = (HEADER_LEN, bytes[NEXT_HEADER_AT]);
        for _ in 0..MAX_EXTENSION_HEADERS {
            if !matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS) {
                break;
            }
            let [next, words] = *bytes.get(at..)?.first_chunk()?;
            let after = at + 8 + usize::from(words) * 8;
            // Destination options count only in front of a routing header, which is met next then.
            if protocol != DESTINATION_OPTIONS {
                (next_header_at, end) = (at, after);
            }
            (at, protocol) = (after, next);
        }
        let (lead, body) = bytes.split_at_checked(end)?;
        Some(Datagram { lead, next_header_at, body })
    }

    fn protocol(&self) -> u8 {
        self.lead[self.next_header_at]
    }
}

impl Ip6Fragmenter {
    #[inline]
    fn fits(&self, packet: &Packet) -> bool {
        packet.network().is_some_and(|bytes| bytes.len() <= self.mtu)
    }

    #[cold]
    fn treat(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) {
        let mut out = cx.batch();
        batch.drain(|packet| match self.fits(&packet) {
            true => push(cx, &mut out, packet),
            false => self.large(cx, &mut out, packet),
        });
        cx.emit(0, out);
    }

    fn large(&mut self, cx: &mut Cx<'_>, out: &mut Batch, mut packet: Packet) {
        let Some(bytes) = packet.network() else { return cx.drop(packet, NO_HEADER) };
        let Some(datagram) = Datagram::parse(bytes) else { return cx.drop(packet, "bad IPv6 length") };
        let (len, padded) = (datagram.lead.len() + datagram.body.len(), bytes.len());
        if len <= self.mtu {
            let _ = packet.take(padded - len); // only its padding is too long
            return push(cx, out, packet);
        }
        let room = self.mtu.saturating_sub(datagram.lead.len() + FRAGMENT_HEADER_LEN) & !7;
        if self.outputs > 1 || room == 0 || datagram.protocol() == FRAGMENT {
            self.drops += 1;
            return match fail(self.outputs, "too large, and not to be fragmented") {
                Verdict::Drop(reason) => cx.drop(packet, reason),
                _ => cx.emit_packet(1, packet),
            };
        }
        let id = cx.unguessable().u32();
        for (i, part) in datagram.body.chunks(room).enumerate() {
            let more = (i + 1) * room < datagram.body.len();
            match build(cx, &packet, &datagram, id, (i * room) as u16, more, part) {
                Some(fragment) => {
                    self.fragments += 1;
                    push(cx, out, fragment);
                }
                None => cx.count_drops("no buffer for a fragment", 1),
            }
        }
        cx.pool().free(packet);
    }
}

/// Adds a packet to those that leave at output 0, in batches that are not too large.
fn push(cx: &mut Cx<'_>, out: &mut Batch, packet: Packet) {
    if out.len() >= cx.vector() || out.is_full() {
        let next = cx.batch();
        cx.emit(0, std::mem::replace(out, next));
    }
    out.push(packet);
}

fn build(
    cx: &mut Cx<'_>,
    original: &Packet,
    datagram: &Datagram<'_>,
    id: u32,
    offset: u16,
    more: bool,
    part: &[u8],
) -> Option<Packet> {
    let lead_len = datagram.lead.len();
    let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, lead_len + FRAGMENT_HEADER_LEN + part.len())?;
    packet.copy_annotations(original);
    let (lead, rest) = packet.data_mut().split_at_mut(lead_len);
    lead.copy_from_slice(datagram.lead);
    lead[datagram.next_header_at] = FRAGMENT;
    let mut ip = Header::new_checked_mut(lead).ok()?;
    ip.set_payload_len((lead_len - HEADER_LEN + FRAGMENT_HEADER_LEN + part.len()) as u16);
    let (header, body) = rest.split_first_chunk_mut()?;
    let mut fragment = Fragment::new(header);
    fragment.set_next_header(datagram.protocol());
    fragment.set_offset(offset, more);
    fragment.set_id(id);
    body.copy_from_slice(part);
    packet.set_network(0, HEADER_LEN);
    Some(packet)
}

impl Element for Ip6Fragmenter {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        self.fits(packet).then_some(Verdict::Pass)
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        if batch.iter().all(|packet| self.fits(packet)) {
            return cx.emit(0, batch);
        }
        self.treat(cx, &mut batch);
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut Ip6Fragmenter, _| e.drops).merged(Merge::Sum);
        h.read("fragments", |e: &mut Ip6Fragmenter, _| e.fragments).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::send;
    use elements_testing::ip6_samples::{hostile, udp, with_body};
    use proptest::prelude::*;

    fn config(mtu: usize) -> String {
        format!("Inject -> MarkIP6Header -> f :: IP6Fragmenter({mtu}) -> Collect(0)")
    }

    /// Puts fragments together as RFC 8200 has it: the first one's lead without the fragment header, and all parts.
    fn reassembled(fragments: &[Vec<u8>]) -> Vec<u8> {
        let (mut whole, mut next) = (Vec::new(), 0);
        for (i, data) in fragments.iter().enumerate() {
            let at = ipv6::upper_layer(data).unwrap().fragment.unwrap();
            let header = Fragment::new_checked(&data[at..]).unwrap();
            assert_eq!((header.offset(), header.more_fragments()), (next, i + 1 < fragments.len()));
            let part = &data[at + FRAGMENT_HEADER_LEN..];
            next += part.len();
            if i == 0 {
                whole = data[..at].to_vec();
                let at = whole.iter().rposition(|&byte| byte == FRAGMENT).unwrap();
                whole[at] = header.next_header();
            }
            whole.extend_from_slice(part);
        }
        let len = (whole.len() - HEADER_LEN) as u16;
        Header::new_checked_mut(&mut whole).unwrap().set_payload_len(len);
        whole
    }

    #[test]
    fn routers_leave_it_to_the_source() {
        let config = "Inject -> MarkIP6Header -> f :: IP6Fragmenter(60) -> Collect(0); f[1] -> Collect(1);";
        let mut flow = send(config, [udp(12), udp(13), [udp(12), vec![0]].concat()]);
        assert_eq!((flow.data(0), flow.data(1)), (vec![udp(12), udp(12)], vec![udp(13)]));
        assert_eq!((flow.read("f.drops"), flow.read("f.fragments")), ("1".into(), "0".into()));
    }

    /// A routing header and what comes before it is in every fragment; destination options behind it are split.
    #[test]
    fn headers_for_the_way() {
        let body = [
            &[43, 0, 1, 4, 0, 0, 0, 0][..],
            &[60, 0, 0, 0, 0, 0, 0, 0],
            &[17, 0, 1, 4, 0, 0, 0, 0],
            &[9; 50],
        ];
        let packet = with_body(60, &body.concat());
        let flow = send(&config(88), [packet.clone()]);
        let fragments = flow.data(0);
        assert_eq!(fragments.iter().map(Vec::len).collect::<Vec<_>>(), [88, 88, 74 - 8 + 8]);
        assert_eq!(reassembled(&fragments), packet);
        assert_eq!(
            send(&config(88), [with_body(44, &[17; 90])]).drops(),
            [("too large, and not to be fragmented", 1)]
        );
        assert_eq!(send(&config(48), [udp(60)]).drops(), [("too large, and not to be fragmented", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn fragments_make_the_packet(payload in 0usize..3000, mtu in 56usize..1500) {
            let mut flow = send(&config(mtu), [udp(payload)]);
            let fragments = flow.data(0);
            prop_assert!(fragments.iter().all(|data| data.len() <= mtu));
            if udp(payload).len() <= mtu {
                prop_assert_eq!(fragments, [udp(payload)]);
            } else {
                prop_assert_eq!(flow.read("f.fragments"), fragments.len().to_string());
                prop_assert_eq!(reassembled(&fragments), udp(payload));
            }
        }

        #[test]
        fn whatever_comes(packets in hostile(), mtu in 0usize..100) {
            send(&config(mtu), packets);
        }
    }
}
