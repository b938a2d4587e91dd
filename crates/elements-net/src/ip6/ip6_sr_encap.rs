//! Routes IPv6 packets through other addresses, by a segment routing header.
//!
//! ```click
//! IP6SREncap(ADDR [, ADDR, ..., KEYWORDS])
//! ```
//!
//! Expects packets that start with an IPv6 header. Inserts a routing header for segment routing (RFC 8754) after it,
//! with the addresses as segments: the last one becomes the packet's destination, and the first one is visited last.
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
use wire::ipv6::{HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6SREncap", create).doc(router::manual!("ip6_sr_encap.rs"));

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
        if !packet.prepend(more) {
            return Err(NO_ROOM);
        }
        let bytes = packet.data_mut();
        bytes.copy_within(more..more + HEADER_LEN, 0);
        let (fixed, rest) = bytes.split_at_mut(HEADER_LEN);
        let routing = &mut rest[..more];
        routing.copy_from_slice(&self.template);
        let mut ip = Header::new_checked_mut(fixed).map_err(|_| NO_HEADER)?;
        routing[0] = ip.next_header();
        if self.keep_destination {
            routing[FIXED_LEN..FIXED_LEN + SEGMENT_LEN].copy_from_slice(&ip.dst().octets());
        }
        ip.set_next_header(ip_proto::ROUTING);
        ip.set_payload_len(payload_len);
        ip.set_dst(self.first_stop);
        packet.set_network(0, headers_len + more);
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
