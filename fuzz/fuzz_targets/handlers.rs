//! Any texts for any handler of any element of `tests/stages.txt`: never a panic, and every run comes to its end.
//!
//! The corpus is replayed by `crates/elements/tests/handler_calls.rs`.

#![no_main]

#[path = "../../crates/elements/tests/handlers/mod.rs"]
mod handlers;
#[path = "../../crates/elements/tests/stages/mod.rs"]
#[allow(dead_code)] // the ordinary tests use the rest
mod stages;

use libfuzzer_sys::fuzz_target;
use router::Classes;
use std::sync::LazyLock;

static KNOWN: LazyLock<Classes> = LazyLock::new(|| stages::known(&elements::classes(), None));

fuzz_target!(|data: &[u8]| handlers::run(data, &KNOWN));
