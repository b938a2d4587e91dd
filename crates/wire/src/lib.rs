//! Protocol headers as typed views over bytes, and Internet checksums.
//!
//! Each module describes one protocol. It has views whose length is checked once and whose accessors then neither
//! fail nor panic, functions that check what a router must check, constants, and iterators over options. The crate
//! does not know packets, buffers, annotations or elements, only bytes. It allocates nothing except to print. Known
//! test vectors are beside the code; `tests/` has the randomised tests: checksums against a naive sum, and arbitrary
//! bytes through every view.
//!
//! ```
//! use wire::ipv4;
//! # use clique_wire as wire;
//! let mut bytes = [0u8; 28];
//! let mut ip = ipv4::Header::new_checked_mut(&mut bytes)?;
//! ip.set_version_and_header_len(20);
//! ip.set_total_len(28);
//! ip.set_ttl(64);
//! ip.fill_checksum();
//! ip.decrement_ttl();
//! assert_eq!(ipv4::check(&bytes, true)?.header_len, 20);
//! # Ok::<(), wire::Error>(())
//! ```
#![forbid(unsafe_code)]

mod error;
mod field;

pub mod arp;
pub mod checksum;
pub mod describe;
pub mod esp;
pub mod ethernet;
pub mod gre;
pub mod icmpv4;
pub mod icmpv6;
pub mod ieee80211;
pub mod ip_proto;
pub mod ipv4;
pub mod ipv6;
pub mod net;
pub mod radiotap;
pub mod tcp;
pub mod udp;
pub mod vlan;

pub use error::{Error, ParseError};
pub use ethernet::MacAddr;
pub use net::{Ipv4Net, Ipv6Net};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
