//! Any bytes as an MRT file: routes or an error.
//!
//! The corpus is replayed by `crates/lpm/tests/corpus.rs`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = lpm::import::mrt::list(data);
});
