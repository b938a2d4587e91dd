//! Passes every n-th packet and drops the others.
//!
//! ```click
//! EveryNth(N)
//! ```
//!
//! On several workers each instance counts its own packets.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `N` (integer, at least 1): one of so many packets passes.
//!
//! # Handlers
//! - `n` (read, write): N.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 9, STOP true) -> EveryNth(3) -> Print -> Discard
//! ```
//!
//! # See also
//! RandomSample

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("EveryNth", create).doc(router::manual!("every_nth.rs"));

struct EveryNth {
    n: u32,
    seen: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut n = 0;
    config.args().required("N", &mut n).finish()?;
    if n == 0 {
        return Err("N must be at least 1".into());
    }
    Ok(Box::new(PerPacket(EveryNth { n, seen: 0 })))
}

impl Simple for EveryNth {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        self.seen += 1;
        if self.seen < self.n {
            return Verdict::Drop("not the n-th");
        }
        self.seen = 0;
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("n", |e: &mut EveryNth, _| e.n);
        h.write("n", |e: &mut EveryNth, cx, text| {
            e.n = router::value::<u32>(cx, text)?.max(1);
            Ok(())
        });
    }
}
