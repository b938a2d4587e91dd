//! Any bytes as a route list: a list, which reads back the same when it is written, or an error.
//!
//! The corpus is replayed by `crates/lpm/tests/corpus.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lpm/tests/round_trip/mod.rs"]
mod round_trip;

fuzz_target!(|data: &[u8]| round_trip::run(data));
