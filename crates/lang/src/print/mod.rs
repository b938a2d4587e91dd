//! Printers for configurations.

mod flat;
mod highlight;
mod pretty;

pub use flat::{connections_text, declaration_text, flatten, requirements_text};
pub use highlight::{Highlight, highlights};
pub use pretty::pretty;
