//! Adds bytes in front of packets.
//!
//! ```click
//! Unstrip(LENGTH)
//! FlowUnstrip(LENGTH)
//! ```
//!
//! The bytes are whatever was there before: what a Strip with the same argument removed, unless something else has
//! used the space since. A packet whose buffer has no room for them is dropped. FlowUnstrip is FastClick's name for
//! it after a CTXDispatcher.
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
//! Strip

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("Unstrip", create).pure().doc(router::manual!("unstrip.rs"));
struct Unstrip {
    length: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut length = 0u32;
    config.args().required("LENGTH", &mut length).finish()?;
    Ok(Box::new(PerPacket(Unstrip { length: length as usize })))
}

impl Simple for Unstrip {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if packet.push(self.length) { Verdict::Pass } else { Verdict::Drop("no headroom") }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    #[test]
    fn brings_stripped_bytes_back() {
        let lines = run(
            "InfiniteSource(DATA abcdef, LIMIT 1, STOP true) -> Strip(4) -> Unstrip(3) -> Print -> Discard",
        );
        assert_eq!(lines, "   5 | 62636465 66\n");
    }

    /// More than any buffer holds is no reason to fall over.
    #[test]
    fn no_room() {
        let config = "InfiniteSource(LIMIT 3, STOP true) -> Unstrip(4000000000) -> d :: Discard";
        assert_eq!(run_and_read(config, &["d.count"]), ["0"]);
    }
}
