//! Values that are written to the element that runs: read as its arguments are.

use crate::context::cx::Cx;
use crate::error::REFUSED;
use crate::text::args::{Args, FromArg, Scope};

/// A reader of a new configuration string of the element that runs.
pub fn arguments<'a, 'v>(cx: &'a Cx<'_>, config: &str) -> Args<'a, 'v> {
    Args::new(lang::conf::split_args(config), scope(cx))
}

/// Where a value that was written to a handler of the element that runs is read.
pub fn scope<'a>(cx: &'a Cx<'_>) -> Scope<'a> {
    let info = cx.info();
    info.scope(cx.index())
}

/// Reads a value that was written to a handler of the element that runs.
///
/// # Errors
/// What is wrong with it.
pub fn value<T: FromArg>(cx: &Cx<'_>, text: &str) -> Result<T, String> {
    let read = T::from_arg(&lang::conf::uncomment(text), scope(cx));
    if T::EXPECTED.is_empty() { read } else { read.map_err(|_| format!("expected {}", T::EXPECTED)) }
}

/// The same for a handler that stands for an argument of the element: the error names the argument.
///
/// # Errors
/// What is wrong with it.
pub fn keyword_value<T: FromArg>(cx: &Cx<'_>, keyword: &str, text: &str) -> Result<T, String> {
    let read = T::from_arg(&lang::conf::uncomment(text), scope(cx));
    read.map_err(|error| {
        cx.core.status.set(Some(REFUSED));
        format!("{keyword}: {error}")
    })
}
