//! Any bytes as operations on a route table: the golden table's answers.
//!
//! The corpus is replayed by `crates/lpm/tests/corpus.rs`.

#![no_main]

#[path = "../../crates/lpm/tests/operations/mod.rs"]
mod operations;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    operations::run(data);
});
