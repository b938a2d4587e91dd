//! Accepted for compatibility; every packet buffer is suitable here.
//!
//! ```click
//! EnsureDPDKBuffer([KEYWORDS])
//! EnsureNetmapBuffer([HEADROOM])
//! EnsureHeadroom([HEADROOM, KEYWORDS])
//! ```
//!
//! Passes packets on. Every packet is in a buffer that any interface can send from, with headroom for the headers
//! that elements prepend. These are FastClick's elements.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! Ignored.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> EnsureDPDKBuffer -> Discard
//! ```
//!
//! # See also
//! Align, Null

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EnsureDPDKBuffer", create).doc(include_str!("ensure_dpdk_buffer.rs"));
/// The same for netmap.
pub(crate) const NETMAP: Class = Class { name: "EnsureNetmapBuffer", ..CLASS };
/// The same for room in front.
pub(crate) const HEADROOM: Class = Class { name: "EnsureHeadroom", ..CLASS };

struct EnsureDpdkBuffer;

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(EnsureDpdkBuffer)))
}

impl Simple for EnsureDpdkBuffer {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}
