//! Sends packets to the output given by their colour.
//!
//! ```click
//! PaintSwitch([ANNO])
//! ```
//!
//! A packet of colour C leaves by output C; it is dropped if there is no such output. A packet of colour 255 is
//! copied to every output.
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
//! InfiniteSource -> Paint(1) -> p :: PaintSwitch;
//! p [0] -> Discard;
//! p [1] -> Discard;
//! ```
//!
//! # See also
//! Paint, PaintTee, Switch

use super::tee::copy;
use crate::basic::paint::AnnoByte;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Look, Then, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("PaintSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .copies()
    .doc(router::manual!("paint_switch.rs"));

/// The colour that goes everywhere.
const EVERYWHERE: u8 = 255;

struct PaintSwitch {
    anno: AnnoByte,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = PaintSwitch { anno: AnnoByte::default(), outputs: config.outputs() };
    config.args().positional("ANNO", &mut e.anno).finish()?;
    Ok(Box::new(e))
}

impl PaintSwitch {
    #[inline]
    fn verdict(&self, color: u8) -> Verdict {
        if usize::from(color) < self.outputs {
            Verdict::Output(usize::from(color))
        } else {
            Verdict::Drop("no such output")
        }
    }

    /// The packets of a batch in which some go everywhere, one by one.
    fn spread(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        batch.drain(|packet| {
            let color = self.anno.of(&packet);
            let one = cx.pool().batch_of(packet);
            if color != EVERYWHERE {
                return cx.scatter(one, |_, _| self.verdict(color));
            }
            for output in 0..self.outputs - 1 {
                let copies = copy(cx, &one);
                cx.emit(output, copies);
            }
            cx.emit(self.outputs - 1, one);
        });
        cx.consume(batch);
    }
}

impl Element for PaintSwitch {
    fn explain(&self, _look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        let color = self.anno.of(packet);
        let then = match color {
            EVERYWHERE => Then::Copies((0..self.outputs).collect()),
            _ => self.verdict(color).into(),
        };
        Some(Decision::new(then, format!("color {color}")))
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        if batch.iter().any(|packet| self.anno.of(packet) == EVERYWHERE) {
            return self.spread(cx, batch);
        }
        cx.scatter(batch, |_, packet| self.verdict(self.anno.of(packet)));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn colours_choose() {
        let config = "InfiniteSource(LIMIT 20, BURST 20, STOP true) -> r :: RoundRobinSwitch;
                      r[0] -> Paint(0) -> p :: PaintSwitch; r[1] -> Paint(1) -> p; r[2] -> Paint(9) -> p;
                      r[3] -> Paint(255) -> p; p[0] -> a :: Discard; p[1] -> b :: Discard;";
        let handlers = ["a.count", "b.count", "p.drops"];
        assert_eq!(run_and_read(config, &handlers)[..2], ["10", "10"]);
    }
}
