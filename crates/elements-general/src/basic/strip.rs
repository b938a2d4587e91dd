//! Removes bytes from the front of packets.
//!
//! ```click
//! Strip(LENGTH)
//! FlowStrip(LENGTH)
//! ```
//!
//! A packet shorter than LENGTH becomes empty. FlowStrip is FastClick's name for it in front of a CTXDispatcher.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `LENGTH` (integer): bytes.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> Unstrip(14) -> Discard
//! ```
//!
//! # See also
//! Unstrip, EtherEncap

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("Strip", create).pure().live().doc(router::manual!("strip.rs"));
struct Strip {
    length: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut length = 0u32;
    config.args().required("LENGTH", &mut length).finish()?;
    Ok(Box::new(PerPacket(Strip { length: length as usize })))
}

impl Simple for Strip {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let length = self.length.min(packet.len());
        let _ = packet.pull(length); // there are as many
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn strips_up_to_the_whole_packet() {
        let lines =
            run("InfiniteSource(DATA abcdef, LIMIT 1, STOP true) -> Strip(4) -> Print -> Strip(3) -> Print
                         -> Discard");
        assert_eq!(lines, "   2 | 6566\n   0\n");
    }
}
