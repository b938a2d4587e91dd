//! An interface to this machine's kernel that carries IP packets.
//!
//! ```click
//! KernelTun(ADDR/MASK [, GATEWAY, TAP, HEADROOM, BURST, ETHER, IGNORE_QUEUE_OVERFLOWS, MTU, DEVNAME, QUEUE])
//! ```
//!
//! Makes an interface on which the kernel has the address ADDR. IP packets that the kernel sends there are emitted, with
//! their headers marked and their destination annotations set; IP packets that arrive at the input, whose header must be
//! marked, the kernel receives. What is no IP packet leaves at output 1, if it is connected. Needs root, or the capability CAP_NET_ADMIN.
//!
//! The kernel hands over TCP data in pieces of up to 64 KiB and without checksums (virtio's header): they are cut into packets that fit the
//! MTU, and completed, here, which is cheaper than a system call for each packet.
//!
//! With several workers each has a descriptor of its own, and the kernel keeps each flow to one of them. The interface goes when Clique
//! ends.
//!
//! When the configuration is replaced, an element with the same DEVNAME goes on with the interface as it is, with its addresses and what
//! waits in its queue.
//!
//! Ports: up to 1 input, 1 or 2 outputs. Processing: agnostic input, push outputs. Workers: an instance on each.
//!
//! # Arguments
//! - `ADDR/MASK` (IP prefix): the kernel's address, and the network around it.
//! - `GATEWAY` (IP address in that network): the kernel's default route leads there.
//! - `TAP` (boolean, default false): carry Ethernet frames, as KernelTap does.
//! - `HEADROOM` (integer, at most 8192): free bytes in front of each packet.
//! - `BURST` (integer, default: packets in a batch): packets that are read or asked for at a time.
//! - `ETHER` (Ethernet address): the kernel's, with TAP.
//! - `IGNORE_QUEUE_OVERFLOWS` (boolean, default false): report only the first error of a series.
//! - `MTU` (integer, default 1500): the longest packet, without link-layer header.
//! - `QUEUE` (integer): only worker QUEUE modulo the number of workers reads; the interface has one queue.
//! - `DEVNAME` (word): the interface's name. The default is one that the kernel chooses.
//!
//! # Handlers
//! - `dev_name` (read): the interface's name.
//! - `packets` (read): packets read.
//! - `selected_calls` (read): how often it looked for packets.
//!
//! # Example
//! ```click
//! tun :: KernelTun(192.0.2.1/24) -> IPMirror -> tun;
//! ```
//!
//! # See also
//! KernelTap, FromHost, ToHost, FromDevice

use super::host_port::{Kind, create_tun};
use router::{Activity, Class};

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelTun", |config| create_tun(config, Kind::Tun))
    .ports("0-1/1-2")
    .processing("a/h")
    .flow("x/y")
    .activity(Activity::PerWorker)
    .doc(include_str!("kernel_tun.rs"));
