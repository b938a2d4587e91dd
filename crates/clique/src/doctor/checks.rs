//! What a machine and its interfaces are looked at for.

use super::machine::Machine;
use serde::Serialize;

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Weight {
    /// As it should be, or a fact to know.
    Fine,
    /// It costs speed, or may surprise.
    Advice,
    /// The router cannot work, or not rightly.
    Problem,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The interface, or `machine`.
    pub(super) subject: String,
    pub(super) weight: Weight,
    pub(super) found: String,
    /// The command that mends it.
    pub(super) remedy: Option<String>,
}

/// Findings about one subject.
struct About<'f> {
    subject: &'f str,
    findings: &'f mut Vec<Finding>,
}

impl About<'_> {
    fn add(&mut self, weight: Weight, found: impl Into<String>, remedy: Option<String>) {
        self.findings.push(Finding { subject: self.subject.to_owned(), weight, found: found.into(), remedy });
    }

    fn fine(&mut self, found: impl Into<String>) {
        self.add(Weight::Fine, found, None);
    }

    fn advice(&mut self, found: impl Into<String>, remedy: impl Into<String>) {
        self.add(Weight::Advice, found, Some(remedy.into()));
    }

    fn problem(&mut self, found: impl Into<String>, remedy: impl Into<String>) {
        self.add(Weight::Problem, found, Some(remedy.into()));
    }
}

/// Drivers that run XDP programs themselves (Linux 6.12).
const NATIVE_XDP: [&str; 27] = [
    "atlantic",
    "bnxt_en",
    "bonding",
    "cpsw",
    "dpaa2_eth",
    "ena",
    "enetc",
    "gve",
    "hv_netvsc",
    "i40e",
    "ice",
    "igb",
    "igc",
    "ixgbe",
    "ixgbevf",
    "mana",
    "mlx4_en",
    "mlx5_core",
    "mvneta",
    "mvpp2",
    "nfp",
    "qede",
    "sfc",
    "stmmac",
    "tun",
    "veth",
    "virtio_net",
];
/// Those of them whose AF_XDP sockets need no copy.
const ZERO_COPY: [&str; 7] = ["i40e", "ice", "igc", "ixgbe", "mlx5_core", "nfp", "stmmac"];

/// Bits of capabilities, see capabilities(7).
const NET_ADMIN: u32 = 12;
const NET_RAW: u32 = 13;

/// The longest MTU with which native XDP takes frames in one page.
const XDP_MTU_MAX: i64 = 3498;
/// A receive ring with fewer places loses bursts.
const RING_MIN: u32 = 1024;

/// A number of things.
pub(super) fn plural(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Looks at the machine.
pub(super) fn machine(machine: &Machine, workers: usize, findings: &mut Vec<Finding>) {
    let mut about = About { subject: "machine", findings };
    let processors = machine.names("/sys/devices/system/cpu");
    let number = |name: &&String| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
    match processors.iter().filter(number).count() {
        0 => {}
        have if have < workers => {
            about.advice(
                format!("{workers} workers share {have} processors"),
                format!("clique run -j {have} ..."),
            );
        }
        have => about.fine(format!("{} for {}", plural(have, "processor"), plural(workers, "worker"))),
    }
    rights(machine, &mut about);
    let pages = machine.text("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if pages.contains("[never]") {
        about.advice(
            "huge pages are off: large tables and pools of packets cost more misses of the TLB",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        );
    } else if !pages.is_empty() {
        about.fine("transparent huge pages can be had");
    }
    if machine.number("/proc/sys/net/core/bpf_jit_enable") == Some(0) {
        about.advice("filters and XDP programs are interpreted", "sysctl -w net.core.bpf_jit_enable=1");
    }
    let governor = machine.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if let Some(governor) = governor.filter(|governor| governor != "performance") {
        about.advice(
            format!("processors are slowed down when there is little to do (governor {governor})"),
            "cpupower frequency-set -g performance",
        );
    }
}

/// Says that a router has nothing to forward between.
pub(super) fn no_interface(machine: &Machine, findings: &mut Vec<Finding>) {
    let remedy = match machine.interfaces().first() {
        Some(name) => format!("ip link set {name} up"),
        None => "ip -brief link".to_owned(),
    };
    About { subject: "machine", findings }.problem("no interface but loopback is up", remedy);
}

/// Whether the program may do what it has to.
fn rights(machine: &Machine, about: &mut About<'_>) {
    let status = machine.text("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let Some(set) = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()) else { return };
    let missing: Vec<&str> = [(NET_ADMIN, "CAP_NET_ADMIN"), (NET_RAW, "CAP_NET_RAW")]
        .into_iter()
        .filter(|(bit, _)| set >> bit & 1 == 0)
        .map(|(_, name)| name)
        .collect();
    if missing.is_empty() {
        about.fine("rights to open interfaces");
    } else {
        about.problem(
            format!("this user may not open interfaces: {} missing", missing.join(" and ")),
            "sudo clique ...   # or the unit clique@NAME",
        );
    }
}

/// Looks at an interface.
pub(super) fn interface(machine: &Machine, name: &str, workers: usize, findings: &mut Vec<Finding>) {
    let mut about = About { subject: name, findings };
    let file = |what: &str| format!("/sys/class/net/{name}/{what}");
    let Some(index) = machine.number(&file("ifindex")) else {
        about.problem("there is no such interface", "ip -brief link");
        return;
    };
    let flags = machine.text(&file("flags")).unwrap_or_default();
    let is_up = u32::from_str_radix(flags.trim_start_matches("0x"), 16).is_ok_and(|flags| flags & 1 == 1);
    if !is_up {
        about.problem("it is down", format!("ip link set {name} up"));
    } else if machine.number(&file("carrier")) == Some(0) {
        about.problem("it has no carrier", "ip -details link   # a cable, or the interface at the other end");
    }
    let details = machine.link_details(name);
    let kind = details["linkinfo"]["info_kind"].as_str().unwrap_or_default().to_owned();
    let driver = machine.link(&file("device/driver")).unwrap_or_else(|| kind.clone());
    if let Some(master) = details["master"].as_str() {
        about.problem(
            format!("it belongs to {master}, which gets the packets, too"),
            format!("ip link set {name} nomaster"),
        );
    }
    xdp(machine, name, &driver, &details, &mut about);
    queues(machine, name, workers, &mut about);
    placement(machine, name, workers, &mut about);
    if let Some((have, most)) = machine.receive_ring(name) {
        match most.min(2 * RING_MIN) {
            better if have < RING_MIN && have < better => about.advice(
                format!("the receive ring has {have} places of {most}: bursts are lost"),
                format!("ethtool -G {name} rx {better}"),
            ),
            _ => about.fine(format!("a receive ring of {have} places")),
        }
    }
    offloads(machine, name, &driver, &mut about);
    for (version, what) in [("ipv4", "forwarding"), ("ipv6", "forwarding")] {
        if machine.number(&format!("/proc/sys/net/{version}/conf/{name}/{what}")) == Some(1) {
            about.advice(
                format!(
                    "the kernel forwards {version} from it as well: packets are forwarded twice, unless the router keeps \
                     them (--from-host, SNIFFER false, METHOD XDP)"
                ),
                format!("sysctl -w net.{version}.conf.{}.forwarding=0", name.replace('.', "/")),
            );
        }
    }
    others(machine, index, &mut about);
}

/// How XDP runs on it, and whether it does already.
fn xdp(machine: &Machine, name: &str, driver: &str, details: &serde_json::Value, about: &mut About<'_>) {
    let called = if driver.is_empty() { "a driver without name" } else { driver };
    let how = match driver {
        driver if ZERO_COPY.contains(&driver) => "native XDP, AF_XDP without copies",
        driver if NATIVE_XDP.contains(&driver) => "native XDP, AF_XDP with copies",
        _ => "generic XDP, slower than packet sockets: METHOD LINUX",
    };
    about.fine(format!("{called}: {how}"));
    if details["xdp"].is_object() {
        let id = &details["xdp"]["prog"]["id"];
        about.advice(
            format!("an XDP program (number {id}) gets its frames first, another router's perhaps"),
            format!("ip link set dev {name} xdp off"),
        );
    }
    let mtu = machine.number(&format!("/sys/class/net/{name}/mtu")).unwrap_or(0);
    if mtu > XDP_MTU_MAX && NATIVE_XDP.contains(&driver) {
        about.advice(
            format!("with an MTU of {mtu} many drivers refuse XDP"),
            format!("ip link set {name} mtu {XDP_MTU_MAX}   # or METHOD LINUX"),
        );
    }
}

/// Whether each worker can have a receive queue.
fn queues(machine: &Machine, name: &str, workers: usize, about: &mut About<'_>) {
    let queues = machine.names(&format!("/sys/class/net/{name}/queues"));
    let receive = queues.iter().filter(|queue| queue.starts_with("rx-")).count();
    if receive >= workers {
        about.fine(format!("{} for {}", plural(receive, "receive queue"), plural(workers, "worker")));
    } else {
        about.advice(
            format!(
                "{} for {workers} workers: with METHOD XDP the others get no packets",
                plural(receive, "receive queue")
            ),
            format!("ethtool -L {name} combined {workers}"),
        );
    }
}

/// Whether interrupts and memory are where the workers are: on the first processors.
fn placement(machine: &Machine, name: &str, workers: usize, about: &mut About<'_>) {
    let interrupts = machine.interrupts(name);
    let on =
        |(number, _): &(u32, String)| machine.text(&format!("/proc/irq/{number}/effective_affinity_list"));
    let places: Vec<String> = interrupts.iter().filter_map(on).collect();
    let (first, several) = (places.first().cloned(), interrupts.len() > 1 && workers > 1);
    if several && places.iter().all(|place| Some(place) == first.as_ref()) {
        let set = |(at, (number, _)): (usize, &(u32, String))| {
            format!("echo {} > /proc/irq/{number}/smp_affinity_list", at % workers)
        };
        let commands: Vec<String> = interrupts.iter().enumerate().map(set).collect();
        about.advice(
            format!("all {} interrupts go to processor {}", interrupts.len(), places[0]),
            commands.join("; "),
        );
    } else if !places.is_empty() {
        about.fine(format!("interrupts on processors {}", places.join(", ")));
    }
    let node = machine.number(&format!("/sys/class/net/{name}/device/numa_node")).filter(|node| *node >= 0);
    let Some(node) = node else { return };
    let list = machine.text(&format!("/sys/devices/system/node/node{node}/cpulist")).unwrap_or_default();
    let local = processors(&list);
    let far: Vec<String> = (0..workers as u32)
        .filter(|number| !local.contains(number))
        .map(|number| number.to_string())
        .collect();
    if !local.is_empty() && !far.is_empty() {
        about.advice(
            format!("it is at NUMA node {node}, and workers on processors {} are not", far.join(", ")),
            format!("taskset -c {list} clique run -j {} ...", workers.min(local.len())),
        );
    }
}

/// The numbers in a list such as `0-3,8`.
fn processors(list: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<u32>().ok()?..=last.trim().parse::<u32>().ok()?)
    };
    list.split(',').filter_map(range).flatten().collect()
}

/// What the interface or its other end does to segments.
fn offloads(machine: &Machine, name: &str, driver: &str, about: &mut About<'_>) {
    let Some(features) = machine.features(name) else {
        about.advice(
            "offloads and rings are not known: there is no ethtool, or it may not ask",
            "apt install ethtool",
        );
        return;
    };
    let on = |feature: &str| features.iter().any(|(name, on)| name == feature && *on);
    if on("large-receive-offload") {
        about.advice(
            "received segments are merged (large-receive-offload) into packets longer than the MTU, which cannot be forwarded",
            format!("ethtool -K {name} lro off"),
        );
    }
    for feature in ["generic-receive-offload", "rx-gro-hw"] {
        if on(feature) {
            about.fine(format!("received segments are merged ({feature}); packet sockets cut them again"));
        }
    }
    if driver == "veth"
        && ["tcp-segmentation-offload", "tx-checksum-ip-generic"].iter().any(|feature| on(feature))
    {
        about.fine(
            "the other end of a veth pair may send long segments without checksums: packet sockets take them; for METHOD XDP, \
             'ethtool -K PEER tso off gso off tx off' in its namespace",
        );
    }
}

/// Who else receives from the interface.
fn others(machine: &Machine, index: i64, about: &mut About<'_>) {
    let (sockets, owners) = machine.packet_sockets(index);
    if sockets > 0 && owners.is_empty() {
        about.fine(format!("packet sockets of other programs: {sockets}"));
    }
    let is_router = |command: &str| command.starts_with("clique") || command.starts_with("click");
    // One router is as it should be; another one beside it is not.
    let several = owners.iter().filter(|(_, command)| is_router(command)).count() > 1;
    for (process, command) in owners {
        let found = format!("process {process} ({command}) receives from it, too");
        if is_router(&command) && !several {
            about.fine(format!(
                "process {process} ({command}) is a router on it; a second one would forward everything twice"
            ));
        } else if is_router(&command) {
            about.problem(
                found,
                format!("kill {process}   # two routers on one interface answer and forward twice"),
            );
        } else {
            about.fine(found);
        }
    }
}
