//! Prepends a hop-by-hop options header to packets.
//!
//! ```click
//! HopByHopEncap(PROTO)
//! ```
//!
//! The header (RFC 8200, section 4.3) contains only padding. It must be followed by an IP6Encap with protocol 0.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `PROTO` (integer, 0 to 255): the next header value.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> HopByHopEncap(17) -> IP6Encap(0, 2001:db8::1, 2001:db8::2) -> Discard
//! ```
//!
//! # See also
//! RouterAlertEncap, DestinationOptionsEncap, IP6Encap

use super::extension::{Extension, PADDING};
use router::{Class, Config, ConfigError, Element, PerPacket};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("HopByHopEncap", create).doc(router::manual!("hop_by_hop_encap.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut next_header = 0u8;
    config.args().required("PROTO", &mut next_header).finish()?;
    Ok(Box::new(PerPacket(Extension::of_options(next_header, PADDING))))
}
