//! Accepted for compatibility: tests of Click's own libraries.
//!
//! ```click
//! BitvectorTest, BHMTest, CLPTest, DequeTest, HeapTest, JSONTest, JsonTest, ListTest, NeighborhoodTest, QueueYankTest, VectorTest
//! ```
//!
//! In Click these classes test Click's own libraries when the router starts: its vectors, lists, heaps and trees, its
//! command line, JSON, and taking packets from the middle of a queue. Those libraries are not part of this program,
//! so there is nothing to test: the element warns about that when it is configured, and does nothing. ConfParseTest,
//! PacketTest and others test the corresponding parts of this program.
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
//! BigintTest, ConfParseTest, CryptoTest, ErrorTest, FunctionTest, HashTableTest, NotifierTest, PacketTest, SortTest, TimerTest,
//! TokenBucketTest

use router::{Class, Config, ConfigError, Element};

/// A class of this kind.
const fn class(name: &'static str) -> Class {
    Class { name, ..Class::new("BitvectorTest", create).ports("0/0").doc(include_str!("self_test.rs")) }
}

/// The classes.
pub(crate) const CLASSES: [Class; 11] = [
    class("BitvectorTest"),
    class("BHMTest"),
    class("CLPTest"),
    class("DequeTest"),
    class("HeapTest"),
    class("JSONTest"),
    class("JsonTest"),
    class("ListTest"),
    class("NeighborhoodTest"),
    class("QueueYankTest"),
    class("VectorTest"),
];

struct SelfTest;

impl Element for SelfTest {}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.warn("this would test a part of Click that Clique does not have; nothing is tested");
    Ok(Box::new(SelfTest))
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn accepted() {
        let config = "a :: BitvectorTest; b :: CLPTest(x); Script(stop)";
        assert_eq!(run_and_read(config, &["a.class", "b.class"]), ["BitvectorTest", "CLPTest"]);
    }
}
