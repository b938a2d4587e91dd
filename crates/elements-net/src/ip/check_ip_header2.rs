//! Checks IP headers, but not their checksums.
//!
//! ```click
//! CheckIPHeader2([OFFSET, KEYWORDS])
//! CheckIPHeader2(BADSRC [, OFFSET, KEYWORDS])
//! ```
//!
//! Like CheckIPHeader, but with a different default for CHECKSUM.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `CHECKSUM` (boolean, default false): whether the checksum must be correct.
//! - `BADSRC`, `INTERFACES`, `GOODDST`, `OFFSET`, `VERBOSE`, `DETAILS`: as for CheckIPHeader.
//!
//! # Handlers
//! - `count`, `drops` (read): valid packets and bad ones. `count` is FastClick's.
//! - `drop_details` (read, with DETAILS): bad packets by reason.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIPHeader2 -> Discard
//! ```
//!
//! # See also
//! CheckIPHeader, MarkIPHeader, SetIPChecksum

use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("CheckIPHeader2", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("check_ip_header2.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    super::check_ip_header::configure(config, false)
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::udp;

    #[test]
    fn checksums_only_on_request() {
        let mut wrong = udp(3);
        wrong[10] ^= 1;
        let mut version = udp(3);
        version[0] = 0x65;
        let both = [wrong.clone(), version];
        assert_eq!(send("Inject -> CheckIPHeader2 -> Collect(0)", both.clone()).data(0), [wrong]);
        assert!(send("Inject -> CheckIPHeader2(CHECKSUM true) -> Collect(0)", both).seen.is_empty());
    }
}
