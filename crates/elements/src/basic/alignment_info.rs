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
    Class::new("AlignmentInfo", create).ports("0/0").doc(include_str!("alignment_info.rs"));

/// What Click's optimiser is to leave alone.
pub(crate) const DEVIRTUALIZE: Class = Class { name: "DevirtualizeInfo", ..CLASS };
/// How packets flow through elements.
pub(crate) const FLOW: Class = Class { name: "FlowInfo", ..CLASS };
/// Names of IP fields.
pub(crate) const FIELD: Class = Class { name: "IPFieldInfo", ..CLASS };
/// Names of fields of summary dumps.
pub(crate) const SUMMARY: Class = Class { name: "IPSummaryDumpInfo", ..CLASS };

/// How much packet memory FastClick is to have.
pub(crate) const DPDK: Class = Class { name: "DPDKInfo", ..CLASS };
/// The same for netmap.
pub(crate) const NETMAP: Class = Class { name: "NetmapInfo", ..CLASS };

struct AlignmentInfo;

impl Element for AlignmentInfo {}

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(AlignmentInfo))
}
