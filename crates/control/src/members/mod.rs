//! Which nodes a cluster has, from a server that all of them ask.
//!
//! [`http`] speaks HTTP, [`etcd`] speaks with etcd's JSON gateway by it, [`cache`] keeps what was heard last. A thread of the
//! element asks and waits; whatever the server does, packets are forwarded.

pub(crate) mod etcd_roster;

mod cache;
mod etcd;
mod http;

#[cfg(test)]
mod tests;
