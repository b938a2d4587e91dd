//! Receives packets from this machine's kernel.
//!
//! ```click
//! FromHost(DEVNAME [, DST, GATEWAY, TYPE, ETHER, HEADROOM, MTU, BURST, QUEUE, GSO])
//! ```
//!
//! Creates an interface DEVNAME and emits the packets that the kernel sends to it; use ToHost with the same name to
//! send packets to the kernel. Needs root, or the capability CAP_NET_ADMIN. Without DST the interface gets no
//! address. IP headers are marked, and destination annotations set, also in Ethernet frames. While all queues
//! downstream are full, packets stay in the kernel's queue.
//!
//! If the interface is deleted, the element says so, drops and counts what is for it, and looks twice a second whether there is one of
//! its name again (`ip tuntap add`), which it opens and sets up as before. With a new configuration it makes the interface itself.
//!
//! When the configuration is replaced, an element with the same DEVNAME takes over the interface as it is, with its
//! addresses and the packets in its queue.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: push. Workers: an instance on each.
//!
//! # Arguments
//! - `DEVNAME` (word): the interface's name.
//! - `DST` (IP prefix): the kernel's address and network on the interface.
//! - `GATEWAY` (IP address in that network): the kernel's default gateway.
//! - `TYPE` (word, default ETHER): ETHER for Ethernet frames, IP for IP packets. With TYPE IP, other packets leave by
//!   output 1 if it is connected.
//! - `ETHER` (Ethernet address): the kernel's address.
//! - `HEADROOM` (integer, at most 8192): free bytes before each packet.
//! - `MTU` (integer, default 1500): the maximum packet size, without link-layer header.
//! - `BURST` (integer, default: packets in a batch): packets read at a time.
//! - `QUEUE` (integer): only worker QUEUE modulo the number of workers reads, and the interface has one queue.
//! - `GSO` (boolean, default true): whether the kernel may hand over long TCP segments, and gets them.
//!
//! # Handlers
//! - `dev_name` (read): the interface's name.
//! - `packets` (read): packets read.
//! - `segmented` (read): long segments that were cut into packets.
//! - `selected_calls` (read): how often it checked for packets.
//! - `signal` (read): whether there is room downstream.
//!
//! # Example
//! ```click
//! FromHost(fake0, 192.0.2.1/24) -> ARPResponder(0.0.0.0/0 1:1:1:1:1:1) -> ToHost(fake0)
//! ```
//!
//! # See also
//! ToHost, KernelTun, KernelTap

use super::host_port::create_host;
use router::Class;

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "FromHost",
    ports: "0/1-2",
    processing: "/h",
    create: create_host,
    doc: include_str!("from_host.rs"),
    ..super::kernel_tun::CLASS
};
