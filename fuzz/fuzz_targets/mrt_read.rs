//! Any bytes as an MRT file: routes, which read back the same when they are written.
//!
//! The corpus is replayed by `crates/lpm/tests/corpus.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/lpm/tests/round_trip/mod.rs"]
mod round_trip;

fuzz_target!(|data: &[u8]| round_trip::same(&lpm::import::mrt::list(data)));
