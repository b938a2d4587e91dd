//! Transformations of flat graphs, as Click's tools do them.

mod align;
mod alignment;
mod classifiers;
mod combine;
mod draft;
mod undead;
mod xform;

pub use align::{Aligned, align, assert_alignment};
pub use classifiers::merge_classifiers;
pub use combine::{Component, Endpoint, combine, uncombine};
pub use undead::{Role, undead};
pub use xform::{Pattern, xform};

/// Whether packets that enter an element, given by its index, at an input can leave it at an output.
pub type Flows<'a> = dyn Fn(usize, u32, u32) -> bool + 'a;
