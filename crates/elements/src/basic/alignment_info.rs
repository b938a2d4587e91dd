//! Accepted where a configuration says how packets are aligned.
//!
//! ```click
//! AlignmentInfo(ELEMENT [MODULUS OFFSET ...], ...)
//! ```
//!
//! Does nothing: elements read headers in whatever place they are.
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

struct AlignmentInfo;

impl Element for AlignmentInfo {}

fn create(_: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(AlignmentInfo))
}
