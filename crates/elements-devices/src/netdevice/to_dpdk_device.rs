//! Sends packets to a network interface, with the arguments of FastClick's DPDK, netmap and XDP elements.
//!
//! ```click
//! ToDPDKDevice(PORT [, QUEUE, KEYWORDS])
//! ToNetmapDevice(DEVNAME [, QUEUE, KEYWORDS])
//! XDPToDevice(DEV [, KEYWORDS])
//! ```
//!
//! Does what ToDevice does, with the arguments and handlers of FastClick's elements, so that its configurations run
//! unchanged. PORT names an interface as for FromDPDKDevice; the kernel keeps the interface.
//!
//! XDPToDevice uses METHOD XDP, as does ToXDP, another name for it. ToDPDKDeviceXCHG is another name for ToDPDKDevice.
//!
//! Pushed packets are dropped while the interface's queue is full; pulled packets wait.
//!
//! Ports: 1 input, no outputs. Processing: agnostic. Workers: replicated, a socket for each.
//!
//! # Arguments
//! - `PORT` (ToNetmapDevice: `DEVNAME`, XDPToDevice: `DEV`): the interface.
//! - `QUEUE` (integer, default -1): with METHOD XDP, the queue to use, unless it is negative.
//! - `BURST` (integer, default 32): packets pulled at a time.
//! - `ALLOW_NONEXISTENT` (boolean, default false): whether the interface may be missing; then packets are dropped.
//! - `METHOD`: as for ToDevice. `MODE`: accepted; for XDPToDevice it must be `xdp`, `skb` or `copy`.
//! - `BLOCKING`, `IQUEUE`, `TIMEOUT`, `N_QUEUES`, `MAXQUEUES`, `MAXTHREADS`, `NDESC`, `SET_VLAN`, `ALLOC`, `TSO`,
//!   `IPCO`, `TCO`, `UCO`, `ACTIVE`, `VERBOSE`, `PROG`, `TRACE`: accepted. Checksums are computed before packets
//!   arrive here.
//!
//! # Handlers
//! Those of ToDevice, and:
//! - `n_sent` (read): packets sent. `dropped`, `n_dropped` (read): packets dropped here.
//! - `hw_count`, `hw_bytes`, `hw_errors`, `xstats` (read): the kernel's counters for the interface since the router
//!   started.
//! - `mac`, `mtu`, `carrier`, `speed`, `duplex`, `vendor`, `driver`, `device`, `nb_rx_queues`, `nb_tx_queues` (read):
//!   properties of the interface.
//!
//! # Example
//! ```click
//! FromDPDKDevice(eth0) -> EtherMirror -> ToDPDKDevice(eth0, BLOCKING true)
//! ```
//!
//! # See also
//! FromDPDKDevice, ToDevice

use super::hardware::{self, Hardware};
use super::to_device::{self, Wishes};
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "ToDPDKDevice",
    ports: "1/0",
    processing: "a/",
    create: |config| create(config, "PORT"),
    doc: include_str!("to_dpdk_device.rs"),
    ..to_device::CLASS
};
/// The same for netmap.
pub(crate) const NETMAP: Class =
    Class { name: "ToNetmapDevice", create: |config| create(config, "DEVNAME"), ..CLASS };
/// The same with AF_XDP.
pub(crate) const XDP: Class =
    Class { name: "XDPToDevice", create: |config| create(config, hardware::XDP_PORT), ..CLASS };
/// Arguments that mean nothing here.
const OTHERS: [&str; 17] = [
    "BLOCKING",
    "IQUEUE",
    "TIMEOUT",
    "N_QUEUES",
    "MAXQUEUES",
    "MAXTHREADS",
    "NDESC",
    "SET_VLAN",
    "ALLOC",
    "TSO",
    "IPCO",
    "TCO",
    "UCO",
    "ACTIVE",
    "VERBOSE",
    "PROG",
    "TRACE",
];

fn create(config: &mut Config<'_>, port_name: &'static str) -> Result<Box<dyn Element>, ConfigError> {
    let (mut port, mut queue, mut burst, mut missing) = (String::new(), -1i32, 32usize, false);
    let (mut method, mut mode) = (hardware::usual_method(port_name), String::new());
    let args = config
        .args()
        .required(port_name, &mut port)
        .positional("QUEUE", &mut queue)
        .keyword("BURST", &mut burst)
        .keyword("ALLOW_NONEXISTENT", &mut missing)
        .keyword("MODE", &mut mode)
        .keyword("METHOD", &mut method);
    hardware::finish_without(args, OTHERS)?;
    if burst == 0 {
        return Err("bad BURST".into());
    }
    hardware::check_mode(port_name, &mode)?;
    let mut hardware = Hardware::of(config, &port);
    hardware.may_be_missing = missing;
    let method = super::method::method(config, method);
    // Of a packet socket the kernel chooses the queue.
    let queue = u32::try_from(queue).ok().filter(|_| method == "XDP");
    let interface = hardware.interface().to_owned();
    to_device::make(
        config,
        interface,
        &method,
        Wishes { queue, burst, debug: false, gso: true, hardware: Some(hardware) },
    )
}
