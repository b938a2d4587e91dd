//! Accepted for compatibility; alignment needs no check here.
//!
//! ```click
//! CheckAlign(MODULUS, OFFSET [, ASSERT])
//! ```
//!
//! Passes packets on. `click-align --assertions` inserts it before elements that need aligned data on some machines.
//! Here elements read headers byte by byte, at any alignment, so there is nothing to check.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `MODULUS` (integer), `OFFSET` (integer), `ASSERT` (boolean): checked, then ignored.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckAlign(4, 0, ASSERT true) -> CheckIPHeader -> Discard
//! ```
//!
//! # See also
//! Align, AlignmentInfo

use super::align;
use router::Class;

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckAlign", |config| align::create_with(config, Some("ASSERT")))
    .doc(router::manual!("check_align.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn packets_pass_and_impossible_alignments_are_refused() {
        let config = "InfiniteSource(LIMIT 3, STOP true) -> CheckAlign(4, 2, ASSERT true) -> d :: Discard";
        assert_eq!(run_and_read(config, &["d.count"]), ["3"]);
        assert!(errors("Idle -> CheckAlign(1, 0) -> Discard").contains("modulus must be > 1"));
        assert!(errors("Idle -> CheckAlign(4, 0, ASSERT maybe) -> Discard").contains("ASSERT"));
    }
}
