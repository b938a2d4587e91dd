//! Sets one byte of packets' annotations.
//!
//! ```click
//! SetAnnoByte(ANNO, VALUE)
//! ```
//!
//! An older way to write `Paint(VALUE, ANNO)`; prints a deprecation warning when it is configured.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ANNO` (annotation of one byte): where to store it.
//! - `VALUE` (integer, 0 to 255): the value.
//!
//! # Handlers
//! - `anno` (read): the offset of the byte.
//! - `value` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetAnnoByte(PAINT, 3) -> Discard
//! ```
//!
//! # See also
//! Paint

use super::paint::AnnoByte;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetAnnoByte", create).pure().live().doc(router::manual!("set_anno_byte.rs"));

#[derive(Default)]
struct SetAnnoByte {
    anno: AnnoByte,
    value: u8,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.warn("SetAnnoByte(ANNO, VALUE) is obsolete, use Paint(VALUE, ANNO) instead");
    let mut e = SetAnnoByte::default();
    config.args().required("ANNO", &mut e.anno).required("VALUE", &mut e.value).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for SetAnnoByte {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.anno.set(packet, self.value);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("anno", |e: &mut SetAnnoByte, _| e.anno.offset());
        h.read("value", |e: &mut SetAnnoByte, _| e.value);
        h.write("value", |e: &mut SetAnnoByte, cx, text| {
            e.value = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;
    use packet::Anno;

    #[test]
    fn sets_the_annotation_byte() {
        let mut flow = send_one("Inject -> s :: SetAnnoByte(PAINT, 9) -> Collect(0)", vec![1]);
        assert_eq!(flow.only(0).anno(Anno::PAINT), 9);
        assert_eq!((flow.read("s.anno"), flow.read("s.value")), ("16".to_owned(), "9".to_owned()));
    }
}
