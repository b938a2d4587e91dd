//! Exchanges IP packets with this machine's kernel.
//!
//! ```click
//! KernelTun(ADDR/MASK [, GATEWAY, TAP, HEADROOM, BURST, ETHER, IGNORE_QUEUE_OVERFLOWS, MTU, DEVNAME, QUEUE, GSO])
//! ```
//!
//! Creates an interface on which the kernel has the address ADDR. IP packets that the kernel sends there are emitted,
//! with their headers marked and their destination annotations set. IP packets that arrive at the input, whose header
//! must be marked, go to the kernel. Packets from the kernel that are not IP leave by output 1 if it is connected.
//! Needs root, or the capability CAP_NET_ADMIN.
//!
//! The kernel hands over TCP data in segments of up to 64 KiB without checksums (with virtio's header). The element
//! splits them into packets that fit the MTU and completes the checksums, which is cheaper than a system call for
//! each packet. The kernel gets consecutive segments of a TCP flow as one long segment, too.
//!
//! With several workers, each has a descriptor of its own, and the kernel keeps each flow on one of them. The
//! interface disappears when Clique ends.
//!
//! If the interface is deleted, the element says so, drops and counts what is for it, and looks twice a second whether there is one of
//! its name again (`ip tuntap add`), which it opens and sets up as before. With a new configuration it makes the interface itself.
//!
//! When the configuration is replaced, an element with the same DEVNAME takes over the interface as it is, with its
//! addresses and the packets in its queue.
//!
//! Ports: up to 1 input, 1 or 2 outputs. Processing: agnostic input, push outputs. Workers: an instance on each.
//!
//! # Arguments
//! - `ADDR/MASK` (IP prefix): the kernel's address and network on the interface.
//! - `GATEWAY` (IP address in that network): the kernel's default gateway.
//! - `TAP` (boolean, default false): whether to carry Ethernet frames, as KernelTap does.
//! - `HEADROOM` (integer, at most 8192): free bytes before each packet.
//! - `BURST` (integer, default: packets in a batch): packets read or pulled at a time.
//! - `ETHER` (Ethernet address): the kernel's address, with TAP.
//! - `IGNORE_QUEUE_OVERFLOWS` (boolean, default false): whether to report only the first error of a series.
//! - `MTU` (integer, default 1500): the maximum packet size, without link-layer header.
//! - `QUEUE` (integer): only worker QUEUE modulo the number of workers reads, and the interface has one queue.
//! - `GSO` (boolean, default true): whether the kernel may hand over long TCP segments, and gets them.
//! - `DEVNAME` (word): the interface's name. By default the kernel chooses one.
//!
//! # Handlers
//! - `dev_name` (read): the interface's name.
//! - `packets` (read): packets read.
//! - `segmented` (read): long segments that were cut into packets.
//! - `merged` (read): packets that were written as parts of long segments.
//! - `selected_calls` (read): how often it checked for packets.
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
    .makes("packets")
    .absorbs("packets")
    .doc(router::manual!("kernel_tun.rs"));
