//! Which packets an observer means.

use crate::text::args::Scope;
use packet::Packet;
use std::sync::Arc;

/// Says which packets are meant.
pub type Filter = Arc<dyn Fn(&Packet) -> bool + Send + Sync>;

/// Makes a filter of an expression, in which the configuration's names stand for addresses.
///
/// # Errors
/// What is wrong with it, in a sentence for the user.
pub type CompileFilter = fn(&str, Scope<'_>) -> Result<Filter, String>;
