//! Transformations of flat graphs, as Click's tools do them.

mod draft;
mod undead;
mod xform;

pub use undead::{Role, undead};
pub use xform::{Pattern, xform};
