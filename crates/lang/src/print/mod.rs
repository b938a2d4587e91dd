//! Printers for configurations.

mod flat;
mod pretty;
mod tools;

pub use flat::flatten;
pub use pretty::pretty;
pub use tools::tool_text;
