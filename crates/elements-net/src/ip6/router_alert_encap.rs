//! Prepends a router alert option to packets.
//!
//! ```click
//! RouterAlertEncap(PROTO, OPTION)
//! ```
//!
//! This is a hop-by-hop options header with the option that makes routers examine packets not addressed to them (RFC
//! 2711), and padding. It must be followed by an IP6Encap with protocol 0.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `PROTO` (integer, 0 to 255): the next header value.
//! - `OPTION` (integer, 0 to 65535): the subject of the alert: 0 for multicast listener discovery, 1 for RSVP, 2 for
//!   active networks.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> RouterAlertEncap(58, 0) -> IP6Encap(0, 2001:db8::1, ff02::16) -> Discard
//! ```
//!
//! # Differences from Click
//! Nothing is printed for packets.
//!
//! # See also
//! HopByHopEncap, IP6Encap

use super::extension::Extension;
use router::{Class, Config, ConfigError, Element, PerPacket};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RouterAlertEncap", create).doc(router::manual!("router_alert_encap.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut next_header, mut option) = (0u8, 0u16);
    config.args().required("PROTO", &mut next_header).required("OPTION", &mut option).finish()?;
    let [high, low] = option.to_be_bytes();
    Ok(Box::new(PerPacket(Extension::of_options(next_header, [5, 2, high, low, 1, 0]))))
}
