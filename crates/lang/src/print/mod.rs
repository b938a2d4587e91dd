//! Printers for configurations.

mod flat;
mod html;
mod pretty;
mod tools;

pub use flat::{connections_text, flatten};
pub use html::{Anchors, escape_markup, html};
pub use pretty::pretty;
pub use tools::tool_text;
