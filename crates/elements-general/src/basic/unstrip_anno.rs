//! Restores as many stripped bytes as an annotation says.
//!
//! ```click
//! UnstripAnno([ANNO])
//! ```
//!
//! It is FastClick's element, and undoes Search.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ANNO` (annotation of two bytes, default the two at offset 16): which annotation.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA "head: body") -> Search(": ") -> Print(CONTENTS ASCII) -> UnstripAnno -> Discard
//! ```
//!
//! # See also
//! Search, Unstrip

use super::paint2::DEFAULT;
use packet::{Anno, Packet};
use router::{AnnoOf, Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("UnstripAnno", create).doc(router::manual!("unstrip_anno.rs"));

struct UnstripAnno(Anno);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut anno = AnnoOf::<2>(DEFAULT);
    config.args().positional("ANNO", &mut anno).finish()?;
    Ok(Box::new(PerPacket(UnstripAnno(anno.0))))
}

impl Simple for UnstripAnno {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.push(packet.anno(self.0) as usize) {
            true => Verdict::Pass,
            false => Verdict::Drop("no room in front"),
        }
    }
}
