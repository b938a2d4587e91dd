//! Would keep the kernel from processing packets that the router handles; rejected here.
//!
//! ```click
//! KernelFilter(FILTER, ...)
//! ```
//!
//! Click's element runs `iptables` to make the kernel drop packets that arrive at a device. A user-space router
//! should not change the machine's firewall behind its administrator's back, so a configuration with this element
//! does not start. Instead, drop the packets with an nftables rule before the router starts, use an interface on
//! which the kernel has no address, or read from it by AF_XDP, where packets never reach the kernel.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Example
//! ```click
//! KernelFilter(drop dev eth0)   // refused
//! ```
//!
//! # See also
//! KernelHandlerProxy

use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelFilter", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("kernel_filter.rs"));

fn create(_config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Err("the kernel's packet filter is not touched by a router in user space; \
         set a rule with nft or iptables before it starts"
        .into())
}
