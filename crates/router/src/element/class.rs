//! Classes of elements that can be made.

use crate::configuration::class;
use crate::configuration::layout;
use crate::element::behaviour::Element;
use crate::element::config::{Config, Resources};
use crate::error::ConfigError;
use crate::shared::info::Info;
use lang::Diagnostic;
use std::collections::HashMap;

/// Makes an instance of an element.
pub type Create = fn(&mut Config<'_>) -> Result<Box<dyn Element>, ConfigError>;

/// An element class, with what makes its elements.
pub type Class = class::Class<Create>;

/// The classes that a program knows.
pub type Classes = class::Classes<Create>;

/// A configuration whose classes, ports and placement are settled: everything but the elements themselves.
pub type Layout = layout::Layout<Create>;

/// Makes an instance of an element with other arguments: one of a [`Class::live`] class.
///
/// # Errors
/// What is wrong with the arguments. What is odd about them is added to `said`.
pub(crate) fn again(
    class: &Class,
    info: &Info,
    element: usize,
    worker: usize,
    text: &str,
    said: &mut Vec<Diagnostic>,
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut shared, mut names, mut driver_manager) = (HashMap::new(), info.names().clone(), None);
    let mut config = Config {
        plan: &info.plan,
        current: &info.made.current,
        element,
        worker,
        shared: &mut shared,
        names: &mut names,
        resources: &Resources::default(),
        said,
        driver_manager: &mut driver_manager,
        text: Some(text),
    };
    (class.create)(&mut config)
}
