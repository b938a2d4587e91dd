//! Copies packets of one colour.
//!
//! ```click
//! PaintTee(COLOR [, ANNO])
//! ```
//!
//! Passes all packets on to output 0. If a packet's colour is COLOR, a copy is pushed to output 1 first.
//!
//! Ports: 1 input, 2 outputs. Processing: agnostic, but output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `COLOR` (integer, 0 to 255): the colour.
//! - `ANNO` (annotation of one byte, default `PAINT`): the annotation that holds the colour.
//!
//! # Handlers
//! - `color` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Paint(1) -> p :: PaintTee(1) -> Discard;
//! p [1] -> Print(painted) -> Discard;
//! ```
//!
//! # See also
//! Paint, PaintSwitch, Tee

use crate::basic::paint::AnnoByte;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Pull, Then, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("PaintTee", create)
    .ports("1/2")
    .processing("a/ah")
    .copies()
    .doc(router::manual!("paint_tee.rs"));

#[derive(Default)]
struct PaintTee {
    color: u8,
    anno: AnnoByte,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = PaintTee::default();
    config.args().required("COLOR", &mut e.color).positional("ANNO", &mut e.anno).finish()?;
    Ok(Box::new(e))
}

impl PaintTee {
    #[inline]
    fn copy(&self, cx: &mut Cx<'_>, batch: &Batch) {
        if !batch.iter().any(|packet| self.anno.of(packet) == self.color) {
            return;
        }
        let mut copies = cx.batch();
        for packet in batch.iter().filter(|packet| self.anno.of(packet) == self.color) {
            match cx.pool().copy(packet) {
                Some(copy) => copies.push(copy),
                None => cx.count_drops("out of memory", 1),
            }
        }
        cx.emit(1, copies);
    }
}

impl Element for PaintTee {
    #[inline]
    fn push_one(&mut self, _cx: &mut Cx<'_>, _port: usize, packet: &mut Packet) -> Option<Verdict> {
        (self.anno.of(packet) != self.color).then_some(Verdict::Pass)
    }

    fn explain(&self, _look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        let color = self.anno.of(packet);
        if color != self.color {
            return Some(Decision::new(
                Then::Output(0),
                format!("its colour is {color}, not {}", self.color),
            ));
        }
        Some(Decision::new(Then::Copies(vec![0, 1]), format!("its colour is {color}")))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.copy(cx, &batch);
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.copy(cx, &batch);
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("color", |e: &mut PaintTee, _| e.color);
        h.write("color", |e: &mut PaintTee, cx, text| {
            e.color = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{run, run_and_read};

    /// The copy comes before the packet.
    #[test]
    fn copy_first() {
        let lines =
            run("InfiniteSource(DATA x, LIMIT 1, STOP true) -> Paint(2) -> p :: PaintTee(2) -> Print(a)
                         -> Discard; p[1] -> Print(b) -> Discard");
        assert_eq!(lines, "b:    1 | 78\na:    1 | 78\n");
    }

    #[test]
    fn other_colours_pass() {
        let config = "InfiniteSource(LIMIT 20, BURST 20, STOP true) -> r :: RoundRobinSwitch;
                      r[0] -> Paint(1) -> p :: PaintTee(1); r[1] -> Paint(2) -> p; p[0] -> a :: Discard;
                      p[1] -> b :: Discard";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "p.color"]), ["20", "10", "1"]);
    }
}
