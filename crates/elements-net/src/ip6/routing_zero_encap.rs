//! Prepends a type 0 routing header to packets.
//!
//! ```click
//! RoutingZeroEncap(PROTO, ADDRESSES)
//! ```
//!
//! The header (RFC 2460, section 4.4) lists addresses that the packet must visit. It is obsolete: RFC 5095 requires
//! hosts and routers to reject it. Segment routing, see IP6SREncap, has replaced it. The element must be followed by
//! an IP6Encap with protocol 43.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `PROTO` (integer, 0 to 255): the next header value.
//! - `ADDRESSES` (a string of IPv6 addresses separated by spaces, at most 127): the addresses to visit, in order.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> RoutingZeroEncap(17, "2001:db8::3 2001:db8::4") -> IP6Encap(43, 2001:db8::1, 2001:db8::2) -> Discard
//! ```
//!
//! # See also
//! IP6SREncap, DestinationOptionsEncap, IP6Encap

use super::extension::Extension;
use router::{Class, Config, ConfigError, Element, PerPacket};
use std::net::Ipv6Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RoutingZeroEncap", create).doc(router::manual!("routing_zero_encap.rs"));

/// So many the length field allows.
const MOST_ADDRESSES: usize = 127;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut next_header, mut text) = (0u8, String::new());
    config.args().required("PROTO", &mut next_header).required("ADDRESSES", &mut text).finish()?;
    let address = |word: &str| {
        let address = word.parse::<Ipv6Addr>();
        address.map_err(|_| format!("The address '{word}' is not a valid IPv6 address"))
    };
    let addresses = text.split_whitespace().map(address).collect::<Result<Vec<_>, _>>()?;
    if addresses.len() > MOST_ADDRESSES {
        return Err(format!("at most {MOST_ADDRESSES} addresses fit into a header").into());
    }
    let count = addresses.len() as u8;
    let first = [next_header, 2 * count, 0, count, 0, 0, 0, 0];
    let rest: Vec<u8> = addresses.iter().flat_map(Ipv6Addr::octets).collect();
    Ok(Box::new(PerPacket(Extension::new(first, rest.as_chunks().0.to_vec()))))
}
