//! Routes IPv6 packets through other addresses, by a segment routing header.
//!
//! ```click
//! IP6SREncap(ADDR [, ADDR, ..., KEYWORDS])
//! ```
//!
//! Expects packets that start with an IPv6 header. Inserts a routing header for segment routing (RFC 8754) after it
//! and its hop-by-hop options, with the addresses as segments: the last one becomes the packet's destination, and the first one is visited last.
//! Packets that would be too long for IPv6 are dropped. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ADDR` (IPv6 address): the segments, in the order of the header.
//! - `ENCAP_DST` (boolean, default true): whether to put the packet's original destination before them as a segment,
//!   so that the packet finally arrives there.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIP6Header -> IP6SREncap(2001:db8:10::2, 2001:db8:20::3) -> Discard
//! ```
//!
//! # See also
//! IP6SRProcess, IP6SRDecap, IP6Encap

use super::encap::{NO_FIT, NO_ROOM};
use super::header::NO_HEADER;
use super::segment_routing::{FIXED_LEN, SEGMENT_LEN, TYPE};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, PerPacket, Simple, Verdict};
use std::net::Ipv6Addr;
use wire::ip_proto;
use wire::ipv6::{self, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6SREncap", create).doc(router::manual!("ip6_sr_encap.rs"));

/// Where the fixed header says what comes next.
const NEXT_HEADER_AT: usize = 6;
/// So many fit into a routing header.
const MOST_SEGMENTS: usize = 127;

struct Ip6SrEncap {
    /// The routing header, to be completed for each packet.
    template: Vec<u8>,
    /// Where the packet goes now.
    first_stop: Ipv6Addr,
    /// Whether its own destination is a segment.
    keep_destination: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut words, mut segments, mut keep_destination) = (Vec::new(), Vec::new(), true);
    let args = config.args().rest(&mut words).keywords("ADDR", &mut segments);
    args.keyword("ENCAP_DST", &mut keep_destination).finish()?;
    for word in words {
        segments.push(Ipv6Addr::from_arg(&word, config.scope())?);
    }
    let Some(&first_stop) = segments.last() else { return Err("required argument ADDR missing".into()) };
    if keep_destination {
        segments.insert(0, Ipv6Addr::UNSPECIFIED);
    }
    if segments.len() > MOST_SEGMENTS {
        return Err(format!("at most {MOST_SEGMENTS} segments fit into a header").into());
    }
    let last = (segments.len() - 1) as u8;
    let mut template = vec![0, segments.len() as u8 * 2, TYPE, last, last, 0, 0, 0];
    template.extend(segments.iter().flat_map(Ipv6Addr::octets));
    Ok(Box::new(PerPacket(Ip6SrEncap { template, first_stop, keep_destination })))
}

/// Where the routing header goes, and the octet that says what comes there: hop-by-hop options come before all other headers (RFC 8200,
/// section 4.1).
#[inline]
fn place(packet: &[u8]) -> Option<(usize, usize)> {
    match Header::new_checked(packet).ok()?.next_header() {
        ip_proto::HOP_BY_HOP => {
            let options = ipv6::find_extension(packet, ip_proto::HOP_BY_HOP)?;
            Some((options.header.end, options.header.start))
        }
        _ => Some((HEADER_LEN, NEXT_HEADER_AT)),
    }
}

impl Ip6SrEncap {
    #[inline]
    fn encapsulate(&self, packet: &mut Packet) -> Result<(), &'static str> {
        let more = self.template.len();
        let old = Header::new_checked(packet.data()).map_err(|_| NO_HEADER)?;
        let payload_len = u16::try_from(usize::from(old.payload_len()) + more).map_err(|_| NO_FIT)?;
        let headers_len = match (packet.network_offset(), packet.transport_offset()) {
            (Some(0), Some(transport)) => usize::try_from(transport).unwrap_or(HEADER_LEN),
            _ => HEADER_LEN,
        };
        let (at, named_at) = place(packet.data()).ok_or(NO_HEADER)?;
        if !packet.prepend(more) {
            return Err(NO_ROOM);
        }
        let bytes = packet.data_mut();
        bytes.copy_within(more..more + at, 0);
        let (front, rest) = bytes.split_at_mut(at);
        let routing = &mut rest[..more];
        routing.copy_from_slice(&self.template);
        routing[0] = std::mem::replace(&mut front[named_at], ip_proto::ROUTING);
        let mut ip = Header::new_checked_mut(front).map_err(|_| NO_HEADER)?;
        if self.keep_destination {
            routing[FIXED_LEN..FIXED_LEN + SEGMENT_LEN].copy_from_slice(&ip.dst().octets());
        }
        ip.set_payload_len(payload_len);
        ip.set_dst(self.first_stop);
        packet.set_network(0, headers_len.max(at) + more);
        Ok(())
    }
}

impl Simple for Ip6SrEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.encapsulate(packet) {
            Ok(()) => Verdict::Pass,
            Err(reason) => Verdict::Drop(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;
    use elements_testing::ip6_samples::with_body;

    /// Hop-by-hop options stay directly behind the IPv6 header (RFC 8200, section 4.1), all else comes behind the routing header.
    #[test]
    fn the_routing_header_follows_hop_by_hop_options() {
        let config = "Inject -> CheckIP6Header -> IP6SREncap(2001:db8::9) -> CheckIP6Header -> Collect(0)";
        let (hops, rest) = ([60, 0, 5, 2, 0, 0, 1, 0], [17, 0, 1, 4, 0, 0, 0, 0, 7, 7, 7, 7, 0, 8, 0, 0]);
        for (first, front) in [(0, &hops[..]), (60, &[])] {
            let flow = send_one(config, with_body(first, &[front, &rest].concat()));
            let data = flow.only(0).data();
            let at = 40 + front.len();
            assert_eq!((data[6], data[at], data[at + 2]), (if front.is_empty() { 43 } else { 0 }, 60, 4));
            assert_eq!((usize::from(data[5]), &data[at + 40..]), (data.len() - 40, &rest[..]));
            if let [_, options @ ..] = front {
                assert_eq!((data[40], &data[41..at]), (43, options));
            }
        }
        let cut = with_body(0, &[60, 3, 0, 0]);
        assert_eq!(send_one("Inject -> IP6SREncap(2001:db8::9) -> Collect(0)", cut).drops().len(), 1);
    }
}
