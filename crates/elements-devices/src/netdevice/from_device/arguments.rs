//! What FromDevice is told.

use crate::netdevice::hardware::Hardware;
use crate::netdevice::host_rules::HostRules;
use device::capture::LinkType;
use device::packet_socket::Options;
use device::port::{Method, Shape};
use device::xdp::{self, Rule};
use elements_shared::encap;
use packet::{BATCH_MAX, DEFAULT_HEADROOM};
use router::{Config, ConfigError};
use std::time::Duration;

/// What is wanted of an interface.
pub(in crate::netdevice) struct Wishes {
    pub(in crate::netdevice) interface: String,
    pub(in crate::netdevice) method: Method,
    pub(in crate::netdevice) queue: Option<u16>,
    pub(in crate::netdevice) outbound: bool,
    pub(in crate::netdevice) shape: Shape,
    pub(in crate::netdevice) protocol: u16,
    pub(in crate::netdevice) force_ip: bool,
    pub(in crate::netdevice) linktype: LinkType,
    pub(in crate::netdevice) burst: usize,
    pub(in crate::netdevice) wait: Option<Duration>,
    pub(in crate::netdevice) hardware: Option<Hardware>,
}

impl Wishes {
    /// All Ethernet frames that others send, with their times.
    pub(in crate::netdevice) fn new(interface: String, method: Method) -> Wishes {
        Wishes {
            interface,
            method,
            queue: None,
            outbound: false,
            shape: Shape { headroom: DEFAULT_HEADROOM + 2, timestamp: true },
            protocol: 0,
            force_ip: false,
            linktype: LinkType::Ethernet,
            burst: BATCH_MAX,
            wait: None,
            hardware: None,
        }
    }
}

/// Frames received at a time unless the configuration says otherwise. Packets of one tunnel that several workers protect are out of order by as
/// many as are on their way, and a peer whose window is small takes the late ones for replays.
const BURST: usize = 32;

/// The arguments as they were given.
struct Arguments {
    interface: String,
    promiscuous: bool,
    outbound: bool,
    sniffer: bool,
    snaplen: Option<usize>,
    headroom: usize,
    burst: usize,
    method: Option<String>,
    /// METHOD by its older name, which counts if both are there.
    capture: Option<String>,
    link: String,
    filter: String,
    force_ip: bool,
    timestamp: bool,
    protocol: u16,
    queue: Option<u16>,
    host: HostRules,
    busy_poll: u32,
    wait: Duration,
    control: bool,
    gso: bool,
}

impl Arguments {
    fn read(config: &Config<'_>) -> Result<Arguments, ConfigError> {
        let mut given = Arguments::unless_given(config);
        config
            .args()
            .required("DEVNAME", &mut given.interface)
            .positional("PROMISC", &mut given.promiscuous)
            .positional("SNAPLEN", &mut given.snaplen)
            .keyword("SNIFFER", &mut given.sniffer)
            .keyword("FORCE_IP", &mut given.force_ip)
            .keyword("METHOD", &mut given.method)
            .keyword("CAPTURE", &mut given.capture)
            .keyword("BPF_FILTER", &mut given.filter)
            .keyword("PROTOCOL", &mut given.protocol)
            .keyword("OUTBOUND", &mut given.outbound)
            .keyword("HEADROOM", &mut given.headroom)
            .keyword("ENCAP", &mut given.link)
            .keyword("BURST", &mut given.burst)
            .keyword("TIMESTAMP", &mut given.timestamp)
            .keyword("QUEUE", &mut given.queue)
            .keyword("HOST", &mut given.host)
            .keyword("BUSY_POLL", &mut given.busy_poll)
            .keyword("WAIT", &mut given.wait)
            .keyword("CONTROL", &mut given.control)
            .keyword("GSO", &mut given.gso)
            .finish()?;
        given.method = given.capture.take().or(given.method);
        Ok(given)
    }

    fn unless_given(config: &Config<'_>) -> Arguments {
        Arguments {
            interface: String::new(),
            promiscuous: false,
            outbound: false,
            sniffer: true,
            snaplen: None,
            headroom: DEFAULT_HEADROOM + 2,
            burst: config.vector().min(BURST),
            method: None,
            capture: None,
            link: "ETHER".to_owned(),
            filter: String::new(),
            force_ip: false,
            timestamp: true,
            protocol: 0,
            queue: None,
            host: HostRules::default(),
            busy_poll: 0,
            wait: Duration::ZERO,
            control: true,
            gso: true,
        }
    }

    /// Whether each has a value that makes sense.
    fn check(&self) -> Result<(), ConfigError> {
        if self.interface.is_empty() {
            return Err("interface not set".into());
        }
        if self.snaplen.is_some_and(|snaplen| !(14..=65535).contains(&snaplen)) {
            return Err("SNAPLEN out of range".into());
        }
        if self.headroom > 8190 {
            return Err("HEADROOM out of range".into());
        }
        if self.burst == 0 {
            return Err("BURST out of range".into());
        }
        if !self.filter.is_empty() && !ignores_filters(self.method.as_deref()) {
            return Err("BPF_FILTER is not supported; put an IPClassifier behind".into());
        }
        Ok(())
    }
}

/// What the arguments ask for.
pub(super) fn wishes(config: &mut Config<'_>) -> Result<Wishes, ConfigError> {
    let given = Arguments::read(config)?;
    given.check()?;
    if given.method.is_none() && !given.filter.is_empty() {
        config.warn("BPF_FILTER is ignored, all packets come; put an IPClassifier behind");
    }
    let Arguments { queue, outbound, protocol, force_ip, burst, wait, .. } = given;
    // The kernel holds packets back by the millisecond; for a shorter time they wait here.
    let wait_ms = u32::try_from(wait.as_millis()).map_err(|_| "WAIT out of range")?;
    let (promiscuous, snaplen) = (given.promiscuous, given.snaplen);
    let (control, segments) = (given.control, given.gso);
    let options = Options { promiscuous, outbound, snaplen, wait_ms, queue, control, segments };
    let name = given.method.unwrap_or_else(|| "LINUX".to_owned());
    let method = method(config, name, options, given.host.0, given.sniffer, given.busy_poll)?;
    let waits_here = matches!(method, Method::Xdp(_)) || wait < Duration::from_millis(1);
    let wait = Some(wait).filter(|wait| waits_here && !wait.is_zero());
    let linktype = encap::parse(&given.link).ok_or("bad encapsulation type")?;
    let shape = Shape { headroom: given.headroom, timestamp: given.timestamp };
    let wishes = Wishes::new(given.interface, method);
    Ok(Wishes { queue, outbound, shape, protocol, force_ip, linktype, burst, wait, ..wishes })
}

/// The METHOD of this name. `left` says what is the kernel's alone; with packet sockets the kernel has everything as long as they are a
/// `sniffer`.
pub(in crate::netdevice) fn method(
    config: &mut Config<'_>,
    name: String,
    options: Options,
    left: Vec<Rule>,
    sniffer: bool,
    busy_poll: u32,
) -> Result<Method, ConfigError> {
    match crate::netdevice::method::method(config, name).as_str() {
        "LINUX" | "PCAP" => Ok(Method::Packet(options, (!sniffer).then_some(left))),
        "XDP" => {
            // The packet socket beside it would get those of other queues, too.
            let control = options.control && options.queue.is_none();
            Ok(Method::Xdp(xdp::Options { promiscuous: options.promiscuous, left, busy_poll, control }))
        }
        _ => Err("bad METHOD".into()),
    }
}

/// Whether Click ignores filters with this METHOD; without one it is LINUX.
fn ignores_filters(method: Option<&str>) -> bool {
    matches!(method, None | Some("LINUX" | "NETMAP" | "DPDK"))
}
