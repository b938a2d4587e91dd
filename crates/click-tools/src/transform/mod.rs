//! Transformations of flat graphs, as Click's tools do them.

mod align;
mod alignment;
mod classifiers;
mod combine;
mod draft;
mod undead;
mod xform;

pub(crate) use align::{align, assert_alignment};
pub(crate) use classifiers::merge_classifiers;
pub(crate) use combine::{Component, Endpoint, LINK, combine, uncombine};
pub(crate) use undead::{Role, undead};
pub(crate) use xform::{Pattern, xform};

/// Whether packets that enter an element, given by its index, at an input can leave it at an output.
pub(crate) type Flows<'a> = dyn Fn(usize, u32, u32) -> bool + 'a;
