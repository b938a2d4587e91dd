//! Which nodes a cluster has, from a server that all of them ask.
//!
//! [`http`] speaks HTTP over a [`stream`], which may be encrypted ([`tls`]), [`etcd`] speaks with etcd's JSON gateway by it, [`cache`] keeps what
//! was heard last. A thread of the element asks and waits; whatever the server does, packets are forwarded.

pub(crate) mod etcd_roster;

mod cache;
mod etcd;
mod http;
mod stream;
#[cfg(all(feature = "tls", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tls;
#[cfg(not(all(feature = "tls", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "without_tls.rs"]
mod tls;

#[cfg(test)]
mod tests;
