//! Packets from and to the kernel: its interfaces, interfaces of Clique's own, sockets.

mod faults;
mod from_device;
mod from_dpdk_device;
mod from_host;
mod from_socket;
mod hardware;
mod host_port;
mod kernel_tap;
mod kernel_tun;
mod socket;
mod to_device;
mod to_dpdk_device;
mod to_host;
mod to_socket;

pub use hardware::DpdkPorts;
use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &faults::CLASS,
    &from_device::CLASS,
    &from_device::POLL,
    &from_dpdk_device::CLASS,
    &from_dpdk_device::NETMAP,
    &from_host::CLASS,
    &from_socket::CLASS,
    &kernel_tap::CLASS,
    &kernel_tun::CLASS,
    &socket::CLASS,
    &to_device::CLASS,
    &to_dpdk_device::CLASS,
    &to_dpdk_device::NETMAP,
    &to_host::CLASS,
    &to_socket::CLASS,
];
