//! Transformations of flat graphs, as Click's tools do them.

mod draft;
mod undead;

pub use undead::{Role, undead};
