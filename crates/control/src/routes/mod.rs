//! Routes, and neighbours, that zebra or the kernel knows of.
//!
//! [`netlink`] reads messages, [`fib`] keeps what they said, [`install`] brings the changes into the tables of lookup
//! elements, by their ports. A thread for each source waits for messages ([`crate::feed`]); packets never wait for it, and while a source is away the routes stay.

pub(crate) mod addresses;
pub(crate) mod fpm_server;
pub(crate) mod kernel_neighbours;
pub(crate) mod kernel_routes;

mod arguments;
mod details;
mod fib;
mod install;
mod links;
mod listening;
pub(crate) mod netlink;

#[cfg(test)]
mod tests;
