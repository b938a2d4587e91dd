//! What the nodes of a cluster on this machine do to keep packets of a flow in order.

use clap::ValueEnum;
use std::fmt;

/// What nodes do to keep packets of a flow in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OrderArgument {
    None,
    Pinned,
    Flowlet,
    Strict,
}

/// The argument of the elements that are nodes.
impl fmt::Display for OrderArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OrderArgument::None => "ORDER NONE",
            OrderArgument::Pinned => "ORDER PINNED",
            OrderArgument::Flowlet => "ORDER FLOWLET",
            OrderArgument::Strict => "ORDER STRICT",
        })
    }
}
