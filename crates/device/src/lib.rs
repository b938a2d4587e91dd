//! Packet input and output: the kernel's interfaces, capture files and in-memory interfaces.
//!
//! - [`capture`] reads and writes pcap and pcapng files as streams. A packet is a slice of bytes with its time,
//!   original length and link type; the caller copies it into a packet buffer.
//! - [`port`] accesses the kernel's interfaces, through [`packet_socket`], which copies frames, or [`xdp`], which
//!   shares the memory of packet buffers with the kernel. When the kernel refuses something, [`Trouble`] explains it.
//! - [`segments`] cuts the long segments that hosts on virtual links send, and merges segments into long ones.
//! - [`tap`] creates TUN and TAP interfaces; [`ethtool`] queries and configures drivers; [`addresses`] lists the
//!   addresses of interfaces.
//! - [`memory`] has interfaces without hardware for demonstrations, benchmarks and tests, fed with sets of
//!   [`frames`].
//! - [`traffic`] makes such sets, from a seed or from a capture.
//! - [`files`] opens files by their names, without waiting for other programs.
//!
//! This crate knows nothing of the router, and of protocols only the few header bytes that lead to the IP packet in a
//! captured frame. Its tests are in `tests/`, one file or folder for each module. Unsafe code is in the modules that
//! call the kernel or share memory with it.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod addresses;
pub mod capture;
pub mod control;
#[allow(unsafe_code)]
mod driver;
#[allow(unsafe_code)]
pub mod ethtool;
#[allow(unsafe_code)]
pub mod files;
mod frame;
pub mod frames;
#[allow(unsafe_code)]
pub mod inherited;
pub mod kept;
pub mod links;
pub mod memory;
pub mod offload;
#[allow(unsafe_code)]
pub mod packet_socket;
pub mod port;
mod rule;
pub mod segments;
mod shape;
#[allow(unsafe_code)]
mod sys;
#[allow(unsafe_code)]
pub mod tap;
pub mod traffic;
mod trouble;
#[allow(unsafe_code)]
pub mod xdp;

pub use sys::interfaces;
pub use trouble::{Trouble, plain};

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
