//! Ways to talk to a running router, and the elements that belong to them.
//!
//! Everything here runs on its own threads and reaches elements only through handlers ([`router::Handle`]), so no
//! packet ever waits for the peer of a socket. [`Client`] is the client side of the control protocol.

#![forbid(unsafe_code)]

mod change_uid;
mod clicky_info;
mod client;
mod feed;
mod ipsec;
mod kernel;
mod kernel_filter;
mod kernel_handler_proxy;
mod limits;
mod members;
mod metrics;
#[cfg(test)]
#[path = "../../../fuzz/mutations.rs"]
mod mutations;
pub mod observe;
mod routes;
mod socket;
#[cfg(test)]
mod testing;

pub use client::{Client, Failure, Reply};
pub use routes::addresses::AddressChanges;
pub use socket::own::OwnSocket;
pub use socket::reload::{ReloadService, Reloads, reload_answered};

use router::Class;

/// The element classes of this crate.
pub const CLASSES: &[&Class] = &[
    &change_uid::CLASS,
    &clicky_info::CLASS,
    &ipsec::kernel_ipsec::CLASS,
    &kernel_filter::CLASS,
    &kernel_handler_proxy::CLASS,
    &members::etcd_roster::CLASS,
    &routes::fpm_server::CLASS,
    &routes::kernel_neighbours::CLASS,
    &routes::kernel_routes::CLASS,
    &socket::chatter::CLASS,
    &socket::control::CLASS,
    &socket::http::CLASS,
    &socket::metrics::CLASS,
];
