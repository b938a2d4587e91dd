//! Elements that compute checksums: the packets that they cannot compute one for are dropped, and the first one is reported.

use packet::Packet;
use router::{Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::marker::PhantomData;

/// Which checksum is computed.
pub(super) trait Checksum: Send + 'static {
    /// What is said of the first packet that is dropped.
    const COMPLAINT: &'static str;
    /// Why packets are dropped.
    const REASON: &'static str;

    /// Computes a packet's checksum; `None` if it is to be dropped.
    fn fill(packet: &mut Packet) -> Option<()>;
}

struct Computes<C> {
    reported: bool,
    checksum: PhantomData<C>,
}

/// Makes an element, which takes no arguments.
pub(super) fn create<C: Checksum>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(Computes::<C> { reported: false, checksum: PhantomData })))
}

impl<C: Checksum> Computes<C> {
    #[cold]
    fn reject(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if !std::mem::replace(&mut self.reported, true) {
            cx.complain(C::COMPLAINT, C::REASON);
        }
        Verdict::Drop(C::REASON)
    }
}

impl<C: Checksum> Simple for Computes<C> {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match C::fill(packet) {
            Some(()) => Verdict::Pass,
            None => self.reject(cx),
        }
    }
}
