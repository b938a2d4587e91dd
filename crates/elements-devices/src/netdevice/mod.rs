//! Packets from and to the kernel: its interfaces, interfaces of Clique's own, sockets.

mod device_balancer;
mod dpdk_ring;
mod faults;
mod from_device;
mod from_dpdk_device;
mod from_host;
mod hardware;
mod host_port;
mod host_rules;
mod host_writer;
mod kernel_tap;
mod kernel_tun;
mod left;
mod link;
mod mcast_socket;
mod method;
mod raw_socket;
mod shares;
mod socket;
mod sockets;
mod to_device;
mod to_dpdk_device;
mod to_host;
mod to_host_sniffers;

pub use hardware::DpdkPorts;
use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &device_balancer::CLASS,
    &dpdk_ring::FROM,
    &dpdk_ring::TO,
    &faults::CLASS,
    &from_device::CLASS,
    &from_dpdk_device::CLASS,
    &from_dpdk_device::NETMAP,
    &from_dpdk_device::XDP,
    &from_host::CLASS,
    &kernel_tap::CLASS,
    &kernel_tun::CLASS,
    &mcast_socket::CLASS,
    &raw_socket::CLASS,
    &raw_socket::FROM,
    &raw_socket::TO,
    &socket::CLASS,
    &socket::FROM,
    &socket::TO,
    &to_device::CLASS,
    &to_dpdk_device::CLASS,
    &to_dpdk_device::NETMAP,
    &to_dpdk_device::XDP,
    &to_host::CLASS,
    &to_host_sniffers::CLASS,
];
