//! Accepted where a configuration would test a part of Click itself.
//!
//! ```click
//! BigintTest, BitvectorTest, BHMTest, ConfParseTest, CryptoTest, DequeTest, FunctionTest, HashTableTest, HeapTest, ListTest,
//! NeighborhoodTest, PacketTest, SortTest, TokenBucketTest, VectorTest
//! ```
//!
//! In Click these classes try Click's own libraries when the router starts. Those are not here, so there is nothing to try: the
//! element warns of that when it is configured, and does nothing.
//!
//! Ports: none. Workers: replicated.
//!
//! # Arguments
//! Ignored.
//!
//! # Example
//! ```click
//! BitvectorTest
//! ```
//!
//! # See also
//! AlignmentInfo

use router::{Class, Config, ConfigError, Element};

/// A class of this kind.
const fn class(name: &'static str) -> Class {
    Class { name, ..Class::new("BigintTest", create).ports("0/0").doc(include_str!("self_test.rs")) }
}

/// The classes.
pub(crate) const CLASSES: [Class; 15] = [
    class("BigintTest"),
    class("BitvectorTest"),
    class("BHMTest"),
    class("ConfParseTest"),
    class("CryptoTest"),
    class("DequeTest"),
    class("FunctionTest"),
    class("HashTableTest"),
    class("HeapTest"),
    class("ListTest"),
    class("NeighborhoodTest"),
    class("PacketTest"),
    class("SortTest"),
    class("TokenBucketTest"),
    class("VectorTest"),
];

struct SelfTest;

impl Element for SelfTest {}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.warn("this would test a part of Click that this program has not; nothing is tested");
    Ok(Box::new(SelfTest))
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn accepted() {
        let config = "a :: BitvectorTest; b :: SortTest(STRINGS true); Script(stop)";
        assert_eq!(run_and_read(config, &["a.class", "b.class"]), ["BitvectorTest", "SortTest"]);
    }
}
