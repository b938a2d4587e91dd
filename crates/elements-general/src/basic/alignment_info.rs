//! Accepted for compatibility: declarations about alignment, compilation and memory.
//!
//! ```click
//! AlignmentInfo(ELEMENT [MODULUS OFFSET ...], ...)
//! DevirtualizeInfo(...)
//! FlowInfo(ELEMENT CODE, ...)
//! IPFieldInfo
//! IPSummaryDumpInfo
//! DPDKInfo(...)
//! NetmapInfo(...)
//! ```
//!
//! Does nothing: elements read headers at any alignment. The other classes are accepted too. In Click they tell its
//! tools what to recompile or how packets flow through elements, or provide names of fields that are built in here.
//! FastClick's DPDKInfo and NetmapInfo size its packet memory; here memory grows as needed.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! Ignored.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> c :: CheckIPHeader -> Discard;
//! AlignmentInfo(c 4 0)
//! ```
//!
//! # See also
//! Align

use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AlignmentInfo", create).ports("0/0").doc(router::manual!("alignment_info.rs"));

struct AlignmentInfo;

impl Element for AlignmentInfo {}

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(AlignmentInfo))
}
