//! Shortens packets.
//!
//! ```click
//! Truncate(LENGTH [, KEYWORDS])
//! ```
//!
//! Cuts off everything beyond LENGTH bytes.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LENGTH` (integer): bytes to keep.
//! - `EXTRA_LENGTH` (boolean, default true): whether to add the number of bytes cut off to the extra-length
//!   annotation.
//!
//! # Handlers
//! - `nbytes` (read, write): LENGTH.
//!
//! # Example
//! ```click
//! InfiniteSource(LENGTH 1000) -> Truncate(68) -> Discard
//! ```
//!
//! # See also
//! Pad, Strip, CheckLength

use elements_shared::packet_end::cut;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Truncate", create).pure().live().doc(router::manual!("truncate.rs"));

struct Truncate {
    length: usize,
    annotate: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut length, mut annotate) = (0u32, true);
    config.args().required("LENGTH", &mut length).keyword("EXTRA_LENGTH", &mut annotate).finish()?;
    Ok(Box::new(PerPacket(Truncate { length: length as usize, annotate })))
}

impl Simple for Truncate {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let surplus = packet.len().saturating_sub(self.length);
        cut(packet, surplus, self.annotate);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("nbytes", |e: &mut Truncate, _| e.length);
        h.write("nbytes", |e: &mut Truncate, cx, text| {
            e.length = router::value::<u32>(cx, text)? as usize;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use packet::Anno;

    /// Annotated bytes add up over two truncations, and are left alone where that is asked for.
    #[test]
    fn cuts_the_tail_and_annotates_its_length() {
        let config = "Inject -> Truncate(5) -> Truncate(3) -> Truncate(2, EXTRA_LENGTH false) -> Collect(0)";
        let flow = send(config, [b"abcdefgh".to_vec(), b"ab".to_vec(), Vec::new()]);
        assert_eq!(flow.data(0), [b"ab".to_vec(), b"ab".to_vec(), Vec::new()]);
        let extra: Vec<_> = flow.seen.iter().map(|(_, packet)| packet.anno(Anno::EXTRA_LENGTH)).collect();
        assert_eq!(extra, [5, 0, 0]);
    }
}
