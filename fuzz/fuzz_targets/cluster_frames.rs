//! Any bytes as what comes over the links of a cluster's node, or as its roster: never a panic.
//!
//! The corpus is replayed by `crates/cluster/tests/frames.rs`.

#![no_main]

#[path = "../../crates/cluster/tests/frames/mod.rs"]
mod frames;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| frames::run(data));
