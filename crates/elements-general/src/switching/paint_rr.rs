//! Sends packets to the output given by their colour, modulo the number of outputs.
//!
//! ```click
//! PaintRR([ANNO])
//! ```
//!
//! A packet of colour C leaves by output C modulo the number of outputs. It is FastClick's element.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `ANNO` (annotation of one byte, default `PAINT`): the annotation that holds the colour.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Paint(3) -> p :: PaintRR;
//! p [0] -> Discard;
//! p [1] -> Discard;
//! ```
//!
//! # See also
//! PaintSwitch, ExactPaintSwitch, Paint

use crate::basic::paint::AnnoByte;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PaintRR", create).ports("1/1-").processing("h/h").doc(router::manual!("paint_rr.rs"));

struct PaintRr {
    anno: AnnoByte,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = PaintRr { anno: AnnoByte::default(), outputs: config.outputs() };
    config.args().positional("ANNO", &mut e.anno).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for PaintRr {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        Verdict::Output(usize::from(self.anno.of(packet)) % self.outputs)
    }
}
