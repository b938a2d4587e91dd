//! Strips packets up to a given string.
//!
//! ```click
//! Search(PATTERN [, KEYWORDS])
//! ```
//!
//! A packet that contains PATTERN loses everything up to and including its first occurrence, and leaves by output 0.
//! The number of bytes removed is added to an annotation, from which UnstripAnno restores them. A packet without
//! PATTERN leaves unchanged by output 1, or is dropped if there is none. It is FastClick's element.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `PATTERN` (string): what to look for.
//! - `STRIP_AFTER` (boolean, default true): whether to strip PATTERN too, or only what comes before it.
//! - `SET_ANNO` (boolean, default true): whether to update the annotation.
//! - `ANNO` (annotation of two bytes, default the two at offset 16): which one.
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
//! UnstripAnno, Strip

use super::paint2::DEFAULT;
use memchr::memmem::Finder;
use packet::{Anno, Packet};
use router::{AnnoOf, Bytes, Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Search", create).ports("1/1-2").processing("h/h").doc(router::manual!("search.rs"));

struct Search {
    pattern: Finder<'static>,
    strip_after: bool,
    anno: Option<Anno>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut pattern, mut strip_after, mut set, mut anno) =
        (Bytes::default(), true, true, AnnoOf::<2>(DEFAULT));
    config
        .args()
        .required("PATTERN", &mut pattern)
        .keyword("STRIP_AFTER", &mut strip_after)
        .keyword("ANNO", &mut anno)
        .keyword("SET_ANNO", &mut set)
        .finish()?;
    if pattern.0.is_empty() {
        return Err("Cannot search for an empty string!".into());
    }
    let (anno, outputs) = (set.then_some(anno.0), config.outputs());
    let pattern = Finder::new(&pattern.0).into_owned();
    Ok(Box::new(PerPacket(Search { pattern, strip_after, anno, outputs })))
}

impl Simple for Search {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(at) = self.pattern.find(packet.data()) else {
            return elements_shared::verdict::reject(self.outputs > 1, "text not found");
        };
        let n = at + if self.strip_after { self.pattern.needle().len() } else { 0 };
        let _ = packet.pull(n); // it has them
        if let Some(anno) = self.anno {
            packet.set_anno(anno, packet.anno(anno) + n as u64);
        }
        Verdict::Pass
    }
}
