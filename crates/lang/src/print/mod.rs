//! Printers for configurations.

mod flat;
mod pretty;

pub use flat::flatten;
pub use pretty::pretty;
