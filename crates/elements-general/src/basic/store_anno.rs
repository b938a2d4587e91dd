//! Writes an annotation into packets' data.
//!
//! ```click
//! StoreAnno(OFFSET [, ANNO, KEYWORDS])
//! ```
//!
//! Writes the annotation's byte at OFFSET. Packets that end before OFFSET pass unchanged. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer): where in the packet to write.
//! - `ANNO` (annotation of one byte, default `PAINT`): the annotation to write.
//! - `GROW` (boolean): accepted, without effect: a packet either has room for the byte, or ends before it.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource(DATA abcd) -> Paint(65) -> StoreAnno(1) -> Print(CONTENTS ASCII) -> Discard
//! ```
//!
//! # See also
//! StoreData, Paint

use super::paint::AnnoByte;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("StoreAnno", create).pure().doc(router::manual!("store_anno.rs"));

struct StoreAnno {
    offset: usize,
    anno: AnnoByte,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut anno, mut grow) = (0u32, AnnoByte::default(), false);
    config
        .args()
        .required("OFFSET", &mut offset)
        .positional("ANNO", &mut anno)
        .keyword("GROW", &mut grow)
        .finish()?;
    Ok(Box::new(PerPacket(StoreAnno { offset: offset as usize, anno })))
}

impl Simple for StoreAnno {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let value = self.anno.of(packet);
        if let Some(byte) = packet.data_mut().get_mut(self.offset) {
            *byte = value;
        }
        Verdict::Pass
    }
}
