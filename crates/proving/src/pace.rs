//! How fast simulated time passes.

/// While nothing moves, timers of routers may be late by so much, as on a busy machine: polling for frames that cannot come is
/// most of what there is to skip.
pub const STRIDE_MAX_NS: i64 = 5_000_000;
