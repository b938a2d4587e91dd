//! Exchanges Ethernet frames with this machine's kernel.
//!
//! ```click
//! KernelTap(ADDR/MASK [, GATEWAY, HEADROOM, BURST, ETHER, IGNORE_QUEUE_OVERFLOWS, MTU, DEVNAME, QUEUE, GSO])
//! ```
//!
//! Like KernelTun, but with Ethernet headers. The kernel sends ARP queries for the addresses it sends to; some
//! element has to answer them, with any Ethernet address.
//!
//! Ports: up to 1 input, 1 or 2 outputs. Processing: agnostic input, push outputs. Workers: an instance on each.
//!
//! # Arguments
//! Those of KernelTun.
//!
//! # Handlers
//! Those of KernelTun.
//!
//! # Example
//! ```click
//! tap :: KernelTap(192.0.2.1/24) -> kind :: Classifier(12/0806 20/0001, 12/0800);
//! kind[0] -> ARPResponder(0.0.0.0/0 1:1:1:1:1:1) -> tap;
//! kind[1] -> Print -> Discard;
//! ```
//!
//! # See also
//! KernelTun, FromHost, ToHost

use super::host_port::{Kind, create_tun};
use router::Class;

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "KernelTap",
    create: |config| create_tun(config, Kind::Tap),
    doc: include_str!("kernel_tap.rs"),
    ..super::kernel_tun::CLASS
};
