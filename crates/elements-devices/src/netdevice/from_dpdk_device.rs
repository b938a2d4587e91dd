//! Receives packets from a network interface, with the arguments of FastClick's DPDK, netmap and XDP elements.
//!
//! ```click
//! FromDPDKDevice(PORT [, QUEUE, PROMISC, KEYWORDS])
//! FromNetmapDevice(DEVNAME [, QUEUE, PROMISC, KEYWORDS])
//! XDPFromDevice(DEV [, KEYWORDS])
//! ```
//!
//! Does what FromDevice does, with the arguments and handlers of FastClick's elements, so that its configurations run
//! unchanged. The kernel keeps the interface: packets come through a packet socket or, with METHOD XDP, an AF_XDP
//! socket.
//!
//! XDPFromDevice uses METHOD XDP, as does FromXDP, another name for it. FromDPDKDeviceXCHG is another name for FromDPDKDevice.
//!
//! PORT is the name of an interface, the PCI address of a device for which the kernel has an interface, or a port
//! number. Port numbers are assigned as for DPDK:
//! `clique click --dpdk -a 0000:51:00.0 --vdev net_af_packet0,iface=eth0 -- FILE` makes the device's interface port 0
//! and eth0 port 1. A prefix `netmap:` of a name is removed.
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: an instance on each.
//!
//! # Arguments
//! - `PORT` (FromNetmapDevice: `DEVNAME`, XDPFromDevice: `DEV`): the interface.
//! - `QUEUE` (integer, default -1): receive only from this queue; negative: from all.
//! - `PROMISC` (boolean, default true): whether to receive frames for other hosts too.
//! - `BURST` (integer, default 32): frames received at a time.
//! - `MAC` (Ethernet address): if it is not the interface's address, frames for other hosts are received, whatever
//!   PROMISC says.
//! - `RSS_AGGREGATE` (boolean, default false): whether to set the aggregate annotation to a hash of addresses,
//!   protocol and ports.
//! - `PAINT_QUEUE` (boolean, default false): whether to set the paint annotation to the worker's number among those
//!   that receive.
//! - `ACTIVE` (boolean, default true): whether to receive packets.
//! - `ALLOW_NONEXISTENT` (boolean, default false): whether the interface may be missing; then nothing is received.
//! - `TIMESTAMP` (boolean, default true): whether to set timestamps.
//! - `METHOD`, `SNIFFER`: as for FromDevice.
//! - `MODE`: accepted. For XDPFromDevice it must be `xdp`, `skb` or `copy`; the driver's capabilities decide.
//! - `VLAN_STRIP` (boolean, default false): accepted with a warning; VLAN headers stay.
//! - `N_QUEUES`, `MINQUEUES`, `MAXQUEUES`, `MINTHREADS`, `MAXTHREADS`, `VLAN_FILTER`, `VLAN_EXTEND`, `LRO`, `JUMBO`,
//!   `THREADOFFSET`, `NUMA`, `NUMA_NODE`, `SCALE`, `NDESC`, `MTU`, `FLOW_ISOLATE`, `FLOW_RULES_FILE`,
//!   `FLOW_DIR_RULES_FILE`, `VF_POOLS`, `VF_VLAN`, `MAX_RSS`, `RETA_SIZE`, `RX_INTR`, `SLEEP_MODE`, `PAUSE`, `CLEAR`,
//!   `IPCO`, `TCO`, `UCO`, `KEEPHAND`, `PREFETCH_SECOND`, `VERBOSE`, `PROG`, `LOAD`, `VNI`, `TRACE`: accepted. Every
//!   worker receives, and all packets of a flow go to one worker.
//!
//! # Handlers
//! Those of FromDevice, and:
//! - `active` (read, write): the argument.
//! - `hw_count`, `hw_bytes`, `hw_dropped`, `hw_errors`, `nombufs`, `xstats` (read): the kernel's counters for the
//!   interface since the router started: packets, bytes, packets missed by the hardware, errors, packets dropped by
//!   the kernel; and all of them. `xstats NAME` is a single one, also under DPDK's names (`rx_good_packets`).
//! - `mac`, `mtu`, `carrier`, `speed`, `duplex`, `vendor`, `driver`, `device` (read): properties of the interface;
//!   `vendor` is a number, the PCI vendor ID.
//! - `nb_rx_queues`, `nb_tx_queues` (read): how many queues the kernel uses for it.
//!
//! # Example
//! ```click
//! FromDPDKDevice(eth0, PROMISC false) -> Print -> Discard
//! ```
//!
//! # See also
//! ToDPDKDevice, FromDevice

use super::from_device::{self, Wishes};
use super::hardware::{self, Hardware};
use device::packet_socket::Options;
use device::port::Shape;
use packet::DEFAULT_HEADROOM;
use router::{Class, Config, ConfigError, Element};
use wire::ethernet::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class {
    name: "FromDPDKDevice",
    ports: "0/1",
    create: |config| create(config, "PORT"),
    doc: include_str!("from_dpdk_device.rs"),
    ..from_device::CLASS
};
/// The same for netmap.
pub(crate) const NETMAP: Class =
    Class { name: "FromNetmapDevice", create: |config| create(config, "DEVNAME"), ..CLASS };
/// The same with AF_XDP.
pub(crate) const XDP: Class =
    Class { name: "XDPFromDevice", create: |config| create(config, hardware::XDP_PORT), ..CLASS };
/// Bytes of a frame, at most.
const SNAPLEN: usize = 2046;
/// Arguments that mean nothing here.
const OTHERS: [&str; 36] = [
    "N_QUEUES",
    "MINQUEUES",
    "MAXQUEUES",
    "MINTHREADS",
    "MAXTHREADS",
    "VLAN_FILTER",
    "VLAN_EXTEND",
    "LRO",
    "JUMBO",
    "THREADOFFSET",
    "NUMA",
    "NUMA_NODE",
    "SCALE",
    "NDESC",
    "MTU",
    "FLOW_ISOLATE",
    "FLOW_RULES_FILE",
    "FLOW_DIR_RULES_FILE",
    "SLEEP_MODE",
    "VF_POOLS",
    "VF_VLAN",
    "MAX_RSS",
    "RETA_SIZE",
    "RX_INTR",
    "PAUSE",
    "CLEAR",
    "IPCO",
    "TCO",
    "UCO",
    "KEEPHAND",
    "PREFETCH_SECOND",
    "VERBOSE",
    "PROG",
    "LOAD",
    "VNI",
    "TRACE",
];

fn create(config: &mut Config<'_>, port_name: &'static str) -> Result<Box<dyn Element>, ConfigError> {
    let (mut port, mut queue, mut promiscuous) = (String::new(), -1i32, true);
    let (mut burst, mut mac, mut aggregate, mut paint) = (32usize, None::<MacAddr>, false, false);
    let (mut active, mut missing, mut timestamp) = (true, false, true);
    let (mut method, mut sniffer) = (hardware::usual_method(port_name), true);
    let (mut strip, mut mode) = (false, String::new());
    let args = config
        .args()
        .required(port_name, &mut port)
        .positional("QUEUE", &mut queue)
        .positional("PROMISC", &mut promiscuous)
        .keyword("BURST", &mut burst)
        .keyword("MAC", &mut mac)
        .keyword("RSS_AGGREGATE", &mut aggregate)
        .keyword("PAINT_QUEUE", &mut paint)
        .keyword("ACTIVE", &mut active)
        .keyword("ALLOW_NONEXISTENT", &mut missing)
        .keyword("TIMESTAMP", &mut timestamp)
        .keyword("METHOD", &mut method)
        .keyword("SNIFFER", &mut sniffer)
        .keyword("MODE", &mut mode)
        .keyword("VLAN_STRIP", &mut strip);
    hardware::finish_without(args, OTHERS)?;
    if burst == 0 {
        return Err("BURST out of range".into());
    }
    hardware::check_mode(port_name, &mode)?;
    if strip {
        config.warn("VLAN_STRIP: VLAN headers stay; VLANDecap takes them off");
    }
    let mut hardware = Hardware::of(config, &port);
    hardware.active = active;
    if aggregate {
        hardware.aggregate = Some(config.common_seed());
    }
    let queue = u16::try_from(queue).ok();
    let promiscuous = promiscuous || mac.is_some_and(|mac| !hardware.has_mac(mac));
    let snaplen = Some(SNAPLEN);
    let (wait_ms, control, segments) = (0, true, true);
    let options = Options { promiscuous, outbound: false, snaplen, wait_ms, queue, control, segments };
    let method = from_device::method(config, method, options, Vec::new(), sniffer, 0)?;
    if paint {
        let place = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
        hardware.paint = Some(place as u8);
    }
    hardware.may_be_missing = missing;
    let shape = Shape { headroom: DEFAULT_HEADROOM + 2, timestamp };
    let interface = hardware.interface().to_owned();
    from_device::make(
        config,
        Wishes { burst, queue, shape, hardware: Some(hardware), ..Wishes::new(interface, method) },
    )
}
