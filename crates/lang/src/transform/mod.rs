//! Transformations of flat graphs, as Click's tools do them.

mod combine;
mod draft;
mod undead;
mod xform;

pub use combine::{Component, Endpoint, combine, uncombine};
pub use undead::{Role, undead};
pub use xform::{Pattern, xform};
