//! Interfaces as FastClick's elements name them: by the numbers and PCI addresses that DPDK knows them by. And what
//! the kernel says of them.

use elements_shared::flow_key::key_of_frame;
use packet::{Anno, Batch};
use router::{Args, Config, ConfigError, Cx, Handlers, Merge};
use std::any::Any;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use wire::ethernet::MacAddr;

/// The devices that the command line gave to DPDK, by port number: names of interfaces, or PCI addresses.
#[derive(Clone, Debug, Default)]
pub struct DpdkPorts(pub Vec<String>);

/// What the argument is called that names the interface of elements that use AF_XDP.
pub(super) const XDP_PORT: &str = "DEV";

/// The METHOD of elements whose interface is in this argument.
pub(super) fn usual_method(port_name: &str) -> String {
    if port_name == XDP_PORT { "XDP".to_owned() } else { "LINUX".to_owned() }
}

/// Whether elements whose interface is in this argument have this MODE.
pub(super) fn check_mode(port_name: &str, mode: &str) -> Result<(), ConfigError> {
    match mode {
        "" | "xdp" | "skb" | "copy" => Ok(()),
        _ if port_name != XDP_PORT => Ok(()),
        _ => Err(format!("invalid mode \"{mode}\" must be (xdp|skb|copy)").into()),
    }
}

/// Reads arguments, and passes over those of these names, which mean nothing here.
pub(super) fn finish_without<const N: usize>(
    args: Args<'_, '_>,
    names: [&'static str; N],
) -> Result<(), ConfigError> {
    let mut values = [const { String::new() }; N];
    let others = names.into_iter().zip(&mut values);
    others.fold(args, |args, (name, value)| args.keyword(name, value)).finish()
}

/// Where the kernel tells of devices.
const SYS: &str = "/sys";
/// What netmap's names of interfaces begin with.
const NETMAP: &str = "netmap:";

/// The interface that is meant by a name, a PCI address, or a port number.
fn interface(port: &str, ports: &[String], sys: &Path) -> Result<String, String> {
    let name = port.strip_prefix(NETMAP).unwrap_or(port);
    if !name.is_empty() && !name.contains('/') && sys.join("class/net").join(name).exists() {
        return Ok(name.to_owned());
    }
    if let Ok(number) = name.parse::<usize>() {
        let device = ports.get(number).ok_or_else(|| {
            format!(
                "port {number}: which interface that is, 'clique click --dpdk --vdev net_af_packet0,iface=NAME --' says; or put its name there"
            )
        })?;
        return interface(device, &[], sys);
    }
    if !is_pci_address(name) {
        return Err(format!("{name}: Unknown or invalid PORT"));
    }
    let full = if name.matches(':').count() == 1 { format!("0000:{name}") } else { name.to_owned() };
    let folder = std::fs::read_dir(sys.join("bus/pci/devices").join(full.to_ascii_lowercase()).join("net"));
    let names = folder.into_iter().flatten().flatten();
    let least = names.filter_map(|entry| entry.file_name().into_string().ok()).min();
    least.ok_or_else(|| format!("{name}: the kernel has no interface for this device"))
}

/// Whether this is `[DOMAIN:]BUS:DEVICE.FUNCTION`, in hexadecimal.
fn is_pci_address(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '.']).collect();
    let hexadecimal = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    (3..=4).contains(&parts.len()) && text.matches('.').count() == 1 && parts.iter().all(hexadecimal)
}

/// What FastClick's device elements have beside an interface.
pub(super) struct Hardware {
    interface: String,
    /// Why there is none.
    problem: Option<String>,
    /// What the kernel had counted when the router began.
    before: [u64; COUNTS.len()],
    /// Whether the element is content without an interface.
    pub(super) may_be_missing: bool,
    /// Whether packets are received.
    pub(super) active: bool,
    /// A hash of the flow, with this secret, goes into the aggregate annotation.
    pub(super) aggregate: Option<u64>,
    /// The paint annotation says which worker's packets these are.
    pub(super) paint: Option<u8>,
}

/// What the kernel counts, and the handlers for it of elements that receive and that send.
const COUNTS: [(&str, &str, &str); 8] = [
    ("rx_packets", "hw_count", ""),
    ("rx_bytes", "hw_bytes", ""),
    ("rx_missed_errors", "hw_dropped", ""),
    ("rx_errors", "hw_errors", ""),
    ("rx_dropped", "nombufs", ""),
    ("tx_packets", "", "hw_count"),
    ("tx_bytes", "", "hw_bytes"),
    ("tx_errors", "", "hw_errors"),
];

/// What DPDK calls some of them, and what the kernel does.
const DPDK_NAMES: [(&str, &str); 5] = [
    ("rx_good_packets", "rx_packets"),
    ("rx_good_bytes", "rx_bytes"),
    ("rx_mbuf_allocation_errors", "rx_dropped"),
    ("tx_good_packets", "tx_packets"),
    ("tx_good_bytes", "tx_bytes"),
];

impl Hardware {
    /// What stands behind a port, if something does.
    pub(super) fn of(config: &Config<'_>, port: &str) -> Hardware {
        let ports = config.resource::<DpdkPorts>().map_or(&[][..], |ports| &ports.0);
        let (interface, problem) = match interface(port, ports, Path::new(SYS)) {
            Ok(interface) => (interface, None),
            Err(problem) => (String::new(), Some(problem)),
        };
        let before = [0; COUNTS.len()];
        Hardware {
            interface,
            problem,
            before,
            may_be_missing: false,
            active: true,
            aggregate: None,
            paint: None,
        }
    }

    pub(super) fn interface(&self) -> &str {
        &self.interface
    }

    /// Whether the interface has this address.
    pub(super) fn has_mac(&self, mac: MacAddr) -> bool {
        self.attribute("address").eq_ignore_ascii_case(&mac.to_string().replace('-', ":"))
    }

    /// Whether there is an interface. For `initialize`.
    pub(super) fn begin(&mut self) -> Result<bool, ConfigError> {
        if let Some(problem) = &self.problem {
            return if self.may_be_missing { Ok(false) } else { Err(problem.clone().into()) };
        }
        self.before = COUNTS.map(|(name, _, _)| self.count(name));
        Ok(true)
    }

    /// What the kernel says of the interface in a file; empty if nothing.
    fn attribute(&self, name: &str) -> String {
        let text = std::fs::read_to_string(Path::new(SYS).join("class/net").join(&self.interface).join(name));
        text.map(|text| text.trim().to_owned()).unwrap_or_default()
    }

    fn count(&self, name: &str) -> u64 {
        self.attribute(&format!("statistics/{name}")).parse().unwrap_or(0)
    }

    /// What has been counted since the router began.
    fn since(&self, place: usize) -> u64 {
        self.count(COUNTS[place].0).saturating_sub(self.before[place])
    }

    /// How many queues there are, of those whose names begin so.
    fn queues(&self, start: &str) -> usize {
        let folder = Path::new(SYS).join("class/net").join(&self.interface).join("queues");
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start)).count()
    }

    /// One of what has been counted, or all of it if no name is given.
    fn statistic(&self, name: &str) -> Result<String, String> {
        let meant = DPDK_NAMES.iter().find(|(dpdk, _)| *dpdk == name).map_or(name, |(_, kernel)| kernel);
        match COUNTS.iter().position(|(known, _, _)| *known == meant) {
            Some(place) => Ok(self.since(place).to_string()),
            None if name.is_empty() => Ok(self.list()),
            None => Err(format!("no statistic '{name}'")),
        }
    }

    /// All of that.
    fn list(&self) -> String {
        let line = |(place, (name, _, _)): (usize, &(&str, &str, &str))| {
            format!("{name}[{place}] = {}\n", self.since(place))
        };
        COUNTS.iter().enumerate().map(line).collect()
    }

    /// Sets the annotations that received packets are to have.
    #[inline]
    pub(super) fn annotate(&self, batch: &mut Batch) {
        if self.aggregate.is_none() && self.paint.is_none() {
            return;
        }
        for packet in batch.iter_mut() {
            if let Some(secret) = self.aggregate
                && let Some(key) = key_of_frame(packet)
            {
                let mut hasher = DefaultHasher::new();
                (secret, key.map(), key.id()).hash(&mut hasher);
                packet.set_anno(Anno::AGGREGATE, hasher.finish() & u64::from(u32::MAX));
            }
            if let Some(paint) = self.paint {
                packet.set_anno(Anno::PAINT, paint.into());
            }
        }
    }
}

/// Whether an element receives or sends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Receives,
    Sends,
}

/// Declares the handlers that FastClick's device elements have more than ours.
pub(super) fn handlers<E: Any>(h: &mut Handlers, side: Side, of: fn(&E) -> Option<&Hardware>) {
    for (place, (_, received, sent)) in COUNTS.into_iter().enumerate() {
        let name = if side == Side::Receives { received } else { sent };
        if !name.is_empty() {
            h.read(name, move |e: &mut E, _: &mut Cx<'_>| of(e).map_or(0, |hardware| hardware.since(place)));
        }
    }
    let attribute = |h: &mut Handlers, name: &'static str, file: &'static str| {
        h.read(name, move |e: &mut E, _: &mut Cx<'_>| {
            of(e).map_or_else(String::new, |hardware| hardware.attribute(file))
        });
    };
    for (name, file) in
        [("mac", "address"), ("mtu", "mtu"), ("carrier", "carrier"), ("speed", "speed"), ("duplex", "duplex")]
    {
        attribute(h, name, file);
    }
    h.read("device", move |e: &mut E, _: &mut Cx<'_>| {
        of(e).map_or_else(String::new, |hardware| hardware.interface().to_owned())
    });
    attribute(h, "vendor", "device/vendor");
    h.read("driver", move |e: &mut E, _: &mut Cx<'_>| {
        of(e).and_then(|hardware| device::ethtool::driver(hardware.interface())).unwrap_or_default()
    });
    for (name, start) in [("nb_rx_queues", "rx-"), ("nb_tx_queues", "tx-")] {
        h.read(name, move |e: &mut E, _: &mut Cx<'_>| of(e).map_or(0, |hardware| hardware.queues(start)));
    }
    h.read_with("xstats", move |e: &mut E, _: &mut Cx<'_>, name| {
        of(e).map_or_else(|| Ok(String::new()), |hardware| hardware.statistic(name.trim()))
    })
    .merged(Merge::First);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Interfaces are found by their names, by the addresses of their devices, and by the numbers that the command line gives them.
    #[test]
    fn interfaces_are_found_by_name_address_and_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |path: &str| std::fs::create_dir_all(folder.path().join(path)).expect("a folder");
        make("class/net/eth0");
        make("class/net/ens5f0");
        make("bus/pci/devices/0000:51:00.0/net/ens5f0");
        make("bus/pci/devices/0000:52:00.0");
        let ports = ["0000:51:00.0".to_owned(), "eth0".to_owned()];
        let found = |port: &str| interface(port, &ports, folder.path());
        for (port, name) in [
            ("eth0", "eth0"),
            ("netmap:eth0", "eth0"),
            ("51:00.0", "ens5f0"),
            ("0000:51:00.0", "ens5f0"),
            ("0", "ens5f0"),
            ("1", "eth0"),
        ] {
            assert_eq!(found(port), Ok(name.to_owned()), "{port}");
        }
        for (port, problem) in [
            ("2", "--vdev"),
            ("52:00.0", "the kernel has no interface"),
            ("eth7", "Unknown or invalid PORT"),
            ("", "Unknown or invalid PORT"),
            ("../net", "Unknown or invalid PORT"),
        ] {
            assert!(found(port).is_err_and(|text| text.contains(problem)), "{port}");
        }
    }
}
