//! Passes packets of one colour.
//!
//! ```click
//! CheckPaint(COLOR [, ANNO])
//! ```
//!
//! Packets whose colour is not COLOR leave by output 1 if it is connected, and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic, but output 1 is push. Workers: replicated.
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
//! InfiniteSource -> Paint(3) -> CheckPaint(3) -> Discard
//! ```
//!
//! # See also
//! Paint, PaintTee, PaintSwitch

use crate::basic::paint::AnnoByte;
use elements_shared::verdict::reject;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckPaint", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("check_paint.rs"));

#[derive(Default)]
struct CheckPaint {
    color: u8,
    anno: AnnoByte,
    second: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = CheckPaint { second: config.outputs() > 1, ..CheckPaint::default() };
    config.args().required("COLOR", &mut e.color).positional("ANNO", &mut e.anno).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for CheckPaint {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.anno.of(packet) == self.color { Verdict::Pass } else { reject(self.second, "wrong colour") }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("color", |e: &mut CheckPaint, _| e.color);
        h.write("color", |e: &mut CheckPaint, cx, text| {
            e.color = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// Others are dropped, or found at output 1; also where packets are pulled.
    #[test]
    fn one_colour() {
        let config = "InfiniteSource(LIMIT 30, BURST 30, STOP true) -> r :: RoundRobinSwitch;
                      r[0] -> Paint(1) -> p :: CheckPaint(2); r[1] -> Paint(2) -> p; r[2] -> Paint(2, 20) -> p;
                      p[0] -> a :: Counter -> q :: CheckPaint(1) -> b :: Discard; p[1] -> c :: Discard";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "c.count"]), ["10", "0", "20"]);
        let config = "InfiniteSource(LIMIT 30) -> Queue -> p :: CheckPaint(1) -> a :: Discard;
                      p[1] -> b :: Discard; RatedSource(LIMIT 4, STOP true) -> Discard";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "p.color"]), ["0", "30", "1"]);
    }
}
