//! Accepted for compatibility; packet data needs no alignment here.
//!
//! ```click
//! Align(MODULUS, OFFSET)
//! ```
//!
//! Passes packets on. Elements read headers byte by byte, at any alignment, so data never has to be moved.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `MODULUS` (integer), `OFFSET` (integer): checked, then ignored.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> Align(4, 0) -> CheckIPHeader -> Discard
//! ```
//!
//! # See also
//! AlignmentInfo, CheckAlign, Null

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Align", |config| create_with(config, None)).doc(router::manual!("align.rs"));

struct Align;

/// Makes an element that may be told something else by a keyword, which is true or false.
pub(super) fn create_with(
    config: &mut Config<'_>,
    keyword: Option<&'static str>,
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut modulus, mut offset) = (0i32, 0i32);
    let args = config.args().required("MODULUS", &mut modulus).required("OFFSET", &mut offset);
    match keyword {
        Some(keyword) => args.keyword(keyword, &mut false).finish()?,
        None => args.finish()?,
    }
    if keyword.is_none() {
        check(modulus, offset)?;
    }
    if modulus <= 1 {
        return Err("alignment modulus must be > 1".into());
    }
    if offset < 0 || offset >= modulus {
        return Err("alignment offset must be >= 0 and < modulus".into());
    }
    Ok(Box::new(PerPacket(Align)))
}

/// What Click's Align can align to.
fn check(modulus: i32, offset: i32) -> Result<(), &'static str> {
    match modulus {
        2 | 4 | 8 if offset >= modulus => Err("OFFSET must be smaller than MODULUS"),
        2 | 4 | 8 => Ok(()),
        _ => Err("MODULUS must be 2, 4, or 8"),
    }
}

impl Simple for Align {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, _packet: &mut Packet) -> Verdict {
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn packets_pass_and_impossible_alignments_are_refused() {
        let config =
            "InfiniteSource(LIMIT 3, STOP true) -> Align(4, 2) -> d :: Discard; AlignmentInfo(d 4 2)";
        assert_eq!(run_and_read(config, &["d.count"]), ["3"]);
        for (arguments, message) in [
            ("4, 4", "OFFSET must be smaller than MODULUS"),
            ("16, 0", "MODULUS must be 2, 4, or 8"),
            ("4, -1", "must be >= 0 and < modulus"),
        ] {
            assert!(errors(&format!("Idle -> Align({arguments}) -> Discard")).contains(message));
        }
    }
}
