//! Prepends a fragment header to packets.
//!
//! ```click
//! FragmentationEncap(PROTO, OFFSET, M [, ID])
//! ```
//!
//! All packets become the same fragment (RFC 8200, section 4.5); to split packets, use IP6Fragmenter. The element
//! must be followed by an IP6Encap with protocol 44, or by another extension header element that names this one.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `PROTO` (integer, 0 to 255): the next header value.
//! - `OFFSET` (integer, 0 to 8191): the fragment offset, in units of eight bytes.
//! - `M` (boolean): whether more fragments follow.
//! - `ID` (integer, default 0): the identification.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 1) -> FragmentationEncap(17, 0, false, 7) -> IP6Encap(44, 2001:db8::1, 2001:db8::2) -> Discard
//! ```
//!
//! # See also
//! IP6Fragmenter, IP6Reassembler, DestinationOptionsEncap, IP6Encap

use super::extension::Extension;
use router::{Class, Config, ConfigError, Element, PerPacket};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FragmentationEncap", create).doc(router::manual!("fragmentation_encap.rs"));

const LARGEST_OFFSET: u16 = 0x1fff;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut next_header, mut offset, mut more, mut id) = (0u8, 0u16, false, 0u32);
    config
        .args()
        .required("PROTO", &mut next_header)
        .required("OFFSET", &mut offset)
        .required("M", &mut more)
        .positional("ID", &mut id)
        .finish()?;
    if offset > LARGEST_OFFSET {
        return Err(format!("OFFSET should be an integer between 0 and {LARGEST_OFFSET}").into());
    }
    let ([high, low], [a, b, c, d]) = ((offset << 3 | u16::from(more)).to_be_bytes(), id.to_be_bytes());
    Ok(Box::new(PerPacket(Extension::new([next_header, 0, high, low, a, b, c, d], Vec::new()))))
}
