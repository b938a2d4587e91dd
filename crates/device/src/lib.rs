//! Packet input and output: the kernel's interfaces, capture files and in-memory interfaces.
//!
//! [`capture`] reads and writes pcap and pcapng files as streams. A packet is handed out as a slice of bytes and
//! a few figures beside it (time, original length, link type); copying it into a packet buffer is the caller's.
//! [`port`] reaches the kernel's interfaces, through [`packet_socket`], which copies frames, or [`xdp`], which shares the packet
//! buffers' memory with the kernel; what the kernel refuses is explained ([`Trouble`]).
//! [`tap`] makes interfaces behind which Clique is; [`ethtool`] asks and tells drivers; [`addresses`] has the addresses of interfaces.
//! [`memory`] has interfaces without hardware for demonstrations, benchmarks and tests, fed by sets of [`frames`].
//! [`traffic`] makes such sets, from a seed or from a capture.
//!
//! This crate knows nothing of the router or of what a protocol means beyond the few header
//! bytes that lead to the IP packet in a captured frame. Its tests are in `tests/`, one file or folder for each module.
//! Unsafe code is in the modules that call the kernel or share memory with it.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
pub mod addresses;
pub mod capture;
#[allow(unsafe_code)]
pub mod ethtool;
pub mod frames;
pub mod memory;
pub mod offload;
#[allow(unsafe_code)]
pub mod packet_socket;
pub mod port;
#[allow(unsafe_code)]
mod sys;
#[allow(unsafe_code)]
pub mod tap;
pub mod traffic;
mod trouble;
#[allow(unsafe_code)]
pub mod xdp;

pub use trouble::{Trouble, plain};
