//! Any bytes to a ControlSocket: the router goes on, and the connection comes to its end.
//!
//! The corpus is replayed by `crates/control/tests/hostile.rs`.

#![no_main]

#[path = "../../crates/control/tests/doors/mod.rs"]
#[allow(dead_code)] // another target uses the rest
mod doors;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| doors::control(data));
