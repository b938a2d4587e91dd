//! Any bytes as operations on a route table: the golden table's answers.
//!
//! The corpus is replayed by `crates/lpm/tests/corpus.rs`.

#![no_main]

#[path = "../../crates/lpm/tests/operations/mod.rs"]
mod operations;

use libfuzzer_sys::fuzz_target;

/// Bytes that are looked at: the table, and 64 operations. After each all that it touches is compared, so that many take long.
const BYTES: usize = 1 + 64 * 8;

fuzz_target!(|data: &[u8]| {
    operations::run(&data[..data.len().min(BYTES)]);
});
