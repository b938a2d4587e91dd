//! Sets an annotation of two bytes.
//!
//! ```click
//! Paint2(COLOR [, ANNO])
//! ```
//!
//! It is FastClick's element; Search and UnstripAnno use the same annotation.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `COLOR` (integer, 0 to 65535): the value.
//! - `ANNO` (annotation of two bytes, default the two at offset 16): where to store it: a name, or an offset.
//!
//! # Handlers
//! - `color` (read, write): the argument.
//!
//! # Example
//! ```click
//! InfiniteSource -> Paint2(300) -> Discard
//! ```
//!
//! # See also
//! Paint, Search

use packet::{Anno, Packet};
use router::{AnnoOf, Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("Paint2", create).pure().live().doc(router::manual!("paint2.rs"));

/// Where the annotation is if nothing else is said.
pub(super) const DEFAULT: Anno = Anno { offset: 16, size: 2 };

struct Paint2 {
    color: u16,
    anno: Anno,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut color, mut anno) = (0, AnnoOf::<2>(DEFAULT));
    config.args().required("COLOR", &mut color).positional("ANNO", &mut anno).finish()?;
    Ok(Box::new(PerPacket(Paint2 { color, anno: anno.0 })))
}

impl Simple for Paint2 {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_anno(self.anno, u64::from(self.color));
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("color", |e: &mut Paint2, _| e.color);
        h.write("color", |e: &mut Paint2, cx, text| {
            e.color = router::value(cx, text)?;
            Ok(())
        });
    }
}
