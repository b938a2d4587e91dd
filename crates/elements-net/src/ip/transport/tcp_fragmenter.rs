//! Splits large TCP segments.
//!
//! ```click
//! TCPFragmenter([MTU, KEYWORDS])
//! ```
//!
//! Expects TCP packets with marked IP and transport headers. A packet longer than the MTU is split into several. Each
//! has the same headers, including those before the IP header, a part of the data, and the right sequence number and
//! checksums. FIN is set on the last part only. Packets that are not complete TCP packets pass unchanged.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `MTU` (integer, default 1500 unless MTU_ANNO is given): the maximum packet size in bytes, including the IP
//!   header; 0 means no limit.
//! - `MTU_ANNO` (annotation of two bytes): an annotation that holds each packet's own MTU; the smaller one counts.
//! - `SW_CHECKSUM` (boolean): accepted; checksums are always corrected.
//!
//! # Handlers
//! - `count` (read): packets received. `fragmented_count`: packets that were split. `fragments`: the parts they were
//!   split into.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> Strip(14) -> CheckIPHeader -> TCPFragmenter(MTU 1500) -> Discard
//! ```
//!
//! # See also
//! IPFragmenter, CheckTCPHeader

use super::message::Message;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{AnnoOf, Class, Config, ConfigError, Cx, Element, Handlers, Merge, Verdict};
use std::any::Any;
use wire::tcp::{self, flag};
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPFragmenter", create)
    .processing("h/h")
    .live()
    .makes("segments")
    .doc(router::manual!("tcp_fragmenter.rs"));

/// That of Ethernet.
const DEFAULT_MTU: u16 = 1500;

struct TcpFragmenter {
    mtu: usize,
    place: Option<AnnoOf<2>>,
    count: u64,
    split: u64,
    parts: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut mtu, mut place, mut checksum) = (None::<u16>, None::<AnnoOf<2>>, true);
    config
        .args()
        .positional("MTU", &mut mtu)
        .keyword("MTU_ANNO", &mut place)
        .keyword("SW_CHECKSUM", &mut checksum)
        .finish()?;
    let mtu = mtu.unwrap_or(if place.is_some() { 0 } else { DEFAULT_MTU });
    if mtu == 0 && place.is_none() {
        return Err("At least one of MTU and MTU_ANNO must be set".into());
    }
    Ok(Box::new(TcpFragmenter { mtu: usize::from(mtu), place, count: 0, split: 0, parts: 0 }))
}

/// A packet that is to be split.
struct Segment<'a> {
    /// What is in front of the IP header.
    link: &'a [u8],
    /// IP and TCP header.
    headers: &'a [u8],
    /// Bytes of the IP header.
    ip_len: usize,
    data: &'a [u8],
}

impl<'a> Segment<'a> {
    fn parse(packet: &'a Packet) -> Option<Segment<'a>> {
        let message = Message::of(packet).filter(|m| m.protocol == ip_proto::TCP && !m.fragment)?;
        let headers_len = message.start + tcp::header_bytes(message.bytes(packet)?).ok()?.len();
        let (headers, data) = packet.network()?.get(..message.end)?.split_at_checked(headers_len)?;
        let link = packet.data().get(..usize::try_from(packet.network_offset()?).unwrap_or(0))?;
        Some(Segment { link, headers, ip_len: message.start, data })
    }

    /// The part of the data that starts at `offset`, with headers of its own.
    fn part(&self, cx: &mut Cx<'_>, original: &Packet, offset: usize, len: usize) -> Option<Packet> {
        let (link_len, headers_len) = (self.link.len(), self.headers.len());
        let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, link_len + headers_len + len)?;
        packet.copy_annotations(original);
        packet.set_network(link_len as isize, self.ip_len);
        let (link, bytes) = packet.data_mut().split_at_mut(link_len);
        link.copy_from_slice(self.link);
        bytes[..headers_len].copy_from_slice(self.headers);
        bytes[headers_len..].copy_from_slice(self.data.get(offset..offset + len)?);
        let total_len = bytes.len() as u16;
        let (header, segment) = bytes.split_at_mut(self.ip_len);
        let mut ip = ipv4::Header::new_checked_mut(header).ok()?;
        ip.set_total_len(total_len);
        let (src, dst) = (ip.src(), ip.dst());
        ipv4::fill_checksum(header).ok()?;
        let mut tcp = tcp::Header::new_checked_mut(segment).ok()?;
        tcp.set_sequence(tcp.sequence().wrapping_add(offset as u32));
        if offset + len < self.data.len() {
            tcp.set_flags(tcp.flags() & !flag::FIN);
        }
        tcp::fill_checksum_v4(src, dst, segment).ok()?;
        Some(packet)
    }
}

impl TcpFragmenter {
    /// The MTU that holds for a packet; none if there is none.
    #[inline]
    fn mtu(&self, packet: &Packet) -> Option<usize> {
        let own = self.place.as_ref().map_or(0, |place| packet.anno(place.0) as usize);
        [self.mtu, own].into_iter().filter(|&mtu| mtu > 0).min()
    }

    #[inline]
    fn fits(&self, packet: &Packet) -> bool {
        let len = packet.network().map_or(0, <[u8]>::len);
        self.mtu(packet).is_none_or(|mtu| len <= mtu)
    }

    fn split(&mut self, cx: &mut Cx<'_>, out: &mut Batch, packet: Packet) {
        let Some(mtu) = self.mtu(&packet) else { return push(cx, out, packet) };
        let segment = Segment::parse(&packet);
        let room = segment.as_ref().map_or(0, |segment| mtu.saturating_sub(segment.headers.len()));
        match segment {
            Some(segment) if room > 0 && segment.data.len() > room => {
                self.split += 1;
                self.parts += segment.data.len().div_ceil(room) as u64;
                for offset in (0..segment.data.len()).step_by(room) {
                    let len = room.min(segment.data.len() - offset);
                    match segment.part(cx, &packet, offset, len) {
                        Some(part) => push(cx, out, part),
                        None => cx.count_drops("no buffer for a segment", 1),
                    }
                }
                cx.pool().free(packet);
            }
            _ => push(cx, out, packet),
        }
    }
}

/// Adds a packet to those that leave, in batches that are not too large.
fn push(cx: &mut Cx<'_>, out: &mut Batch, packet: Packet) {
    if out.len() >= cx.vector() || out.is_full() {
        let next = cx.batch();
        cx.emit(0, std::mem::replace(out, next));
    }
    out.push(packet);
}

impl Element for TcpFragmenter {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        let fits = self.fits(packet);
        self.count += u64::from(fits); // others are counted when they come as a batch
        fits.then_some(Verdict::Pass)
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        self.count += batch.len() as u64;
        if batch.iter().all(|packet| self.fits(packet)) {
            return cx.emit(0, batch);
        }
        let mut out = cx.batch();
        batch.drain(|packet| self.split(cx, &mut out, packet));
        cx.consume(batch);
        cx.emit(0, out);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new([self.count, self.split, self.parts]))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Some(old) = state.downcast_ref::<[u64; 3]>() {
            let counts = [&mut self.count, &mut self.split, &mut self.parts];
            counts.into_iter().zip(old).for_each(|(count, old)| *count += old);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type T = TcpFragmenter;
        h.read("count", |e: &mut T, _| e.count).merged(Merge::Sum);
        h.read("fragmented_count", |e: &mut T, _| e.split).merged(Merge::Sum);
        h.read("fragments", |e: &mut T, _| e.parts).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::errors;
    use crate::testing::{Sent, send};
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, tcp};
    use packet::Anno;
    use proptest::prelude::*;

    fn config(arguments: &str) -> String {
        format!("Inject -> MarkIPHeader -> TCPFragmenter({arguments}) -> Collect(0)")
    }

    /// The MTU in the annotation counts where it is smaller.
    #[test]
    fn the_smaller_mtu_counts() {
        let sent = [0, 50, 500].map(|mtu| Sent {
            data: carrying(6, 0, &tcp(&[7; 60])),
            annotations: vec![(Anno { offset: 20, size: 2 }, mtu)],
            ..Sent::default()
        });
        let lengths =
            send(&config("MTU 80, MTU_ANNO 20"), sent).data(0).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths, [80, 60, 50, 50, 50, 50, 50, 50, 80, 60]);
        assert!(
            errors("Idle -> TCPFragmenter(MTU 0) -> Discard").contains("At least one of MTU and MTU_ANNO")
        );
    }

    #[test]
    fn ethernet_without_arguments() {
        let lengths = |arguments| {
            let flow = send(&config(arguments), [carrying(6, 0, &tcp(&[7; 3000]))]);
            flow.data(0).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(lengths(""), [1500, 1500, 120]);
        assert_eq!(lengths("2000, SW_CHECKSUM false"), [2000, 1080]);
        assert_eq!(lengths("MTU_ANNO 20"), [3040]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// The parts are right by themselves, and their data make the whole; only the last one ends the flow.
        #[test]
        fn parts_make_the_whole(data in prop::collection::vec(any::<u8>(), 0..400), mtu in 41usize..200, words in 0usize..3) {
            let mut segment = tcp(&data);
            segment[13] = flag::FIN | flag::ACK;
            let packet = carrying(6, words, &segment);
            let flow = send(&format!("Inject -> MarkIPHeader -> SetTCPChecksum -> TCPFragmenter(MTU {mtu}) -> CheckIPHeader -> CheckTCPHeader -> Collect(0)"), [packet]);
            let (mut whole, mut next) = (Vec::new(), None);
            let parts = flow.data(0);
            for (i, part) in parts.iter().enumerate() {
                let header = tcp::Header::new_checked(&part[20 + words * 4..]).unwrap();
                prop_assert!(next.is_none_or(|next| next == header.sequence()));
                prop_assert_eq!(header.flags() & flag::FIN != 0, i + 1 == parts.len());
                let bytes = &part[40 + words * 4..];
                next = Some(header.sequence().wrapping_add(bytes.len() as u32));
                whole.extend_from_slice(bytes);
                prop_assert!(part.len() <= mtu || parts.len() == 1);
            }
            prop_assert_eq!(whole, data);
        }

        #[test]
        fn whatever_comes(packets in hostile(), mtu in 1u16..100) {
            let n = packets.len();
            let flow = send(&config(&format!("MTU {mtu}")), packets);
            let dropped = flow.drops().iter().map(|(_, n)| *n as usize).sum::<usize>();
            prop_assert!(flow.seen.len() + dropped >= n);
        }
    }
}
