//! Generates a random CPU load for each packet, for measurements.
//!
//! ```click
//! RandLoad([MIN, MAX])
//! ```
//!
//! For each packet it draws a random count between MIN and MAX, and then one more random number than that. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `MIN` (integer, default 1), `MAX` (integer, default 100): the range of that count.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100) -> RandLoad(10, 20) -> Discard
//! ```
//!
//! # See also
//! WorkPackage

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::hint::black_box;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RandLoad", create).processing("h/h").doc(include_str!("rand_load.rs"));

struct RandLoad {
    min: u32,
    max: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = RandLoad { min: 1, max: 100 };
    config.args().positional("MIN", &mut e.min).positional("MAX", &mut e.max).finish()?;
    if e.min > e.max {
        return Err("MIN must not be larger than MAX".into());
    }
    Ok(Box::new(PerPacket(e)))
}

impl Simple for RandLoad {
    fn process(&mut self, cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        for _ in 0..=cx.rng().u32(self.min..=self.max) {
            black_box(cx.rng().u32(..));
        }
        Verdict::Pass
    }
}
