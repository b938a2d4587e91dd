//! `clique run --from-host`: forwards between this machine's own interfaces, in the place of its kernel.
//!
//! The kernel keeps addresses, answers for them, and keeps the routing tables and neighbours, which are mirrored; it
//! only stops forwarding what arrives on these interfaces and merging received segments. When addresses change, as
//! DHCP has them, so does the configuration, while packets are forwarded. What is changed is written to a file first,
//! and put back at the end of the run; if the program is killed the next one that takes interfaces over does it.

use crate::console::complain;
use device::ethtool;
use rustix::io::Errno;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{io, thread};

/// The part of the configuration that is the same for each interface.
const PORT: &str = include_str!("takeover.click");
/// In the place of an IPv6 address that an interface does not have: no host has this one (RFC 6666).
const NOBODY: Ipv6Addr = Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0);
/// Where what was changed is written down.
const FOLDER: &str = "/run/clique";
/// Whether the kernel forwards IPv6 packets, whatever their interface.
const IPV6_FORWARDING: &str = "/proc/sys/net/ipv6/conf/all/forwarding";

/// An interface of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    name: String,
    mtu: u64,
    v4: Vec<(Ipv4Addr, u8)>,
    v6: Vec<Ipv6Addr>,
}

/// Finds the Ethernet interfaces that are up and have an address; if names are given, these.
///
/// # Errors
/// A sentence for the user.
pub(crate) fn find(names: &[String]) -> Result<Vec<Interface>, String> {
    let all = addresses()?;
    let mut found = interfaces(&all);
    if let Some(missing) = names.iter().find(|name| !found.iter().any(|i| i.name == **name)) {
        return Err(why_not(missing, &all));
    }
    found.retain(|interface| names.is_empty() || names.contains(&interface.name));
    match found.len() {
        0 => Err("no Ethernet interface is up and has an address".to_owned()),
        _ => Ok(found),
    }
}

/// Why an interface is not taken over.
fn why_not(name: &str, all: &Value) -> String {
    let link = all.as_array().into_iter().flatten().find(|link| link["ifname"] == name);
    match link.and_then(|link| link["master"].as_str()) {
        Some(master) => {
            format!("{name} belongs to {master}: no member of a bridge, bond or VRF is taken over")
        }
        None if link.is_some_and(is_vrf) => {
            format!(
                "{name} is a VRF: its members and its routes stay the kernel's, and the default VRF is taken over alone"
            )
        }
        None => format!("{name} is no Ethernet interface that is up and has an address"),
    }
}

/// Whether it is the device of a VRF, which looks like an Ethernet interface: what its members receive seems to come from it.
pub(crate) fn is_vrf(link: &Value) -> bool {
    link["linkinfo"]["info_kind"] == "vrf"
}

/// What the operator should know of interfaces that stay the kernel's: it forwards IPv6 between all of them or none.
///
/// # Errors
/// A sentence for the user.
pub(crate) fn left_to_kernel(taken: &[Interface]) -> Result<Option<String>, String> {
    let forwards = std::fs::read_to_string(IPV6_FORWARDING).is_ok_and(|value| value.trim() != "0");
    let rest = if forwards { others(taken, &addresses()?) } else { Vec::new() };
    let warn =
        |names: String| format!("{names}: not taken over, and the kernel forwards no IPv6 there meanwhile");
    Ok((!rest.is_empty()).then(|| warn(rest.join(", "))))
}

/// Names of the interfaces that are up, have an address that the world knows, and are not taken over.
fn others(taken: &[Interface], all: &Value) -> Vec<String> {
    let up = |link: &&Value| {
        link["flags"].as_array().into_iter().flatten().any(|flag| flag == "UP")
            && link["link_type"] != "loopback"
    };
    // Those first in the list are such.
    let known =
        |interface: &Interface| interface.v6.first().is_some_and(|v6| v6.segments()[0] & 0xffc0 != 0xfe80);
    let up = all.as_array().into_iter().flatten().filter(up).filter_map(interface).filter(known);
    up.map(|i| i.name).filter(|name| taken.iter().all(|taken| taken.name != *name)).collect()
}

/// The output of `ip -json address`, with the kinds of devices.
pub(crate) fn addresses() -> Result<Value, String> {
    let output = Command::new("ip").args(["-details", "-json", "address", "show"]).output();
    let output = output.map_err(|error| format!("ip (of iproute2) cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("ip -json address: {}", String::from_utf8_lossy(&output.stderr).trim_end()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("ip -json address: {error}"))
}

/// What it says of one interface.
fn interface(link: &Value) -> Option<Interface> {
    let mut interface = Interface {
        name: link["ifname"].as_str()?.to_owned(),
        mtu: link["mtu"].as_u64()?,
        v4: Vec::new(),
        v6: Vec::new(),
    };
    for address in link["addr_info"].as_array().into_iter().flatten() {
        let text = address["local"].as_str().unwrap_or_default();
        let len = address["prefixlen"].as_u64().and_then(|len| u8::try_from(len).ok()).unwrap_or(32);
        if let Ok(v4) = text.parse() {
            interface.v4.push((v4, len));
        } else if let Ok(v6) = text.parse::<Ipv6Addr>() {
            interface.v6.push(v6);
        }
    }
    // Addresses that the world knows first.
    interface.v6.sort_by_key(|address| address.segments()[0] & 0xffc0 == 0xfe80);
    Some(interface)
}

/// These interfaces as they are now; one that is not there stays as it was.
fn now(taken: &[Interface], all: &Value) -> Vec<Interface> {
    let known: Vec<Interface> = all.as_array().into_iter().flatten().filter_map(interface).collect();
    let as_is =
        |taken: &Interface| known.iter().find(|found| found.name == taken.name).unwrap_or(taken).clone();
    taken.iter().map(as_is).collect()
}

/// Whenever the addresses of these interfaces change, has `replace` put another configuration in the place of the one that runs, from a
/// thread of its own, as long as the program lives.
///
/// # Errors
/// A sentence for the user.
pub(crate) fn follow(
    interfaces: Vec<Interface>,
    replace: impl Fn(String) -> Result<(), String> + Send + 'static,
    say: impl Fn(&str) + Send + 'static,
) -> Result<(), String> {
    let changes = control::AddressChanges::new()?;
    let mut current = interfaces;
    let mut keep_up = move || {
        let new = now(&current, &addresses()?);
        if new != current {
            replace(configuration(&new))?;
            say("addresses have changed: forwarding goes on with the new ones");
            current = new;
        }
        Ok::<(), String>(())
    };
    let work = move || {
        let why = loop {
            match changes.wait().map(|()| keep_up()) {
                Ok(Ok(())) => {}
                Ok(Err(message)) => {
                    complain(&format!("clique run: addresses have changed: {message}\n"));
                }
                Err(why) => break why,
            }
        };
        complain(&format!("clique run: changes of addresses are not followed any longer: {why}\n"));
    };
    let spawned: io::Result<_> = thread::Builder::new().name("addresses".to_owned()).spawn(work);
    spawned.map(drop).map_err(|error| format!("thread: {error}"))
}

/// The interfaces in the output of `ip -json address` that can forward.
fn interfaces(all: &Value) -> Vec<Interface> {
    let usable = |link: &&Value| {
        let flags = link["flags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        // A bridge's or bond's members belong to it.
        link["link_type"] == "ether"
            && link["master"].is_null()
            && !is_vrf(link)
            && flags.clone().any(|flag| flag == "UP")
    };
    let has_address = |interface: &Interface| !interface.v4.is_empty() || !interface.v6.is_empty();
    all.as_array().into_iter().flatten().filter(usable).filter_map(interface).filter(has_address).collect()
}

/// The configuration that forwards between interfaces.
pub(crate) fn configuration(interfaces: &[Interface]) -> String {
    let mut text = format!("{PORT}\n");
    let own4 = interfaces.iter().flat_map(|i| &i.v4);
    let broadcast = |(address, len): &(Ipv4Addr, u8)| {
        let rest = u32::MAX.checked_shr((*len).into()).unwrap_or(0);
        (*len < 31).then(|| Ipv4Addr::from(u32::from(*address) | rest))
    };
    let words = |all: &mut dyn Iterator<Item = String>| all.collect::<Vec<_>>().join(" ");
    let no_host = own4.clone().map(|(address, _)| *address).chain(own4.clone().filter_map(broadcast));
    let no_host =
        words(&mut no_host.chain([Ipv4Addr::UNSPECIFIED, Ipv4Addr::BROADCAST]).map(|a| a.to_string()));
    let own6 = interfaces.iter().flat_map(|i| &i.v6);
    let no_host6 = [Ipv6Addr::UNSPECIFIED, Ipv6Addr::LOCALHOST];
    let no_host6 = words(&mut no_host6.iter().chain(own6).map(|address| address.to_string()));
    let mut here4: Vec<String> = own4.clone().map(|(address, _)| format!("{address}/32 0")).collect();
    here4.extend(own4.filter_map(broadcast).map(|address| format!("{address}/32 0")));
    // What is no host's the kernel sees to by itself, too.
    here4.extend(
        ["255.255.255.255/32", "224.0.0.0/4", "0.0.0.0/8", "127.0.0.0/8"].map(|net| format!("{net} 0")),
    );
    once(&mut here4);
    let mut here6: Vec<String> =
        interfaces.iter().flat_map(|i| &i.v6).map(|address| format!("{address}/128 0")).collect();
    here6.extend(["fe80::/10", "ff00::/8", "::1/128"].map(|net| format!("{net} 0")));
    once(&mut here6);
    // Output 0 is this machine, whose kernel has got its packets already.
    let end = interfaces.len() + 1;
    let _ = writeln!(text, "routes :: IPLookup({}, NOROUTE {});", here4.join(", "), end + 3);
    let _ = writeln!(text, "routes6 :: IP6Lookup({}, NOROUTE {end});", here6.join(", "));
    // Behind those for what leads nowhere: the outputs for IPv4 packets to IPv6 gateways.
    let across = end + 4;
    let ports = interfaces.iter().enumerate();
    let ports = ports.map(|(i, interface)| format!("{} {} {}", interface.name, i + 1, across + i));
    let ports = ports.collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        text,
        "kernel :: KernelRoutes({ports}, IPV4 routes, IPV6 routes6, BLACKHOLE {end}, UNREACHABLE {}, PROHIBIT {});",
        end + 1,
        end + 2
    );
    // Addresses of other interfaces, and those that come while it runs.
    let _ = writeln!(text, "addresses :: KernelRoutes(IPV4 routes, IPV6 routes6, TABLE 255, LOCAL 0);");
    let tables = interfaces.iter().enumerate().map(|(i, of)| format!("{} p{1}/arp p{1}/nd", of.name, i + 1));
    let _ = writeln!(text, "neighbours :: KernelNeighbours({});", tables.collect::<Vec<_>>().join(", "));
    let _ = writeln!(text, "routes[0] -> Discard; routes6[0] -> Discard;");
    for (i, Interface { name, mtu, v4, v6 }) in interfaces.iter().enumerate() {
        let ip = v4.first().map_or(Ipv4Addr::UNSPECIFIED, |(address, _)| *address);
        let ip6 = v6.first().copied().unwrap_or(NOBODY);
        let (port, colour) = (i + 1, i % 255 + 1);
        let nets = words(&mut v4.iter().map(|(address, len)| format!("{address}/{len}")));
        let nets = if nets.is_empty() { "0.0.0.0/32" } else { &nets };
        let _ = writeln!(
            text,
            "p{port} :: HostPort({name}, {ip}, {ip6}, {mtu}, {colour}, {nets}, {no_host}, {no_host6});"
        );
        let _ = writeln!(text, "p{port} -> routes; p{port}[1] -> routes6;");
        let _ = writeln!(text, "routes[{port}] -> p{port}; routes6[{port}] -> [1]p{port};");
        let _ = writeln!(text, "routes[{}] -> [2]p{port};", across + i);
    }
    let ip =
        interfaces.iter().flat_map(|i| &i.v4).next().map_or(Ipv4Addr::UNSPECIFIED, |(address, _)| *address);
    // About IPv6 packets that no route leads anywhere, the kernel, which receives them too, sends errors even if it does not forward.
    let _ = writeln!(text, "routes[{end}] -> Discard; nowhere6 :: Discard; routes6[{end}] -> nowhere6;");
    let _ = writeln!(text, "routes6[{}] -> nowhere6; routes6[{}] -> nowhere6;", end + 1, end + 2);
    // About wrong options the kernel has sent an error, whether there is a way or not.
    for (number, code) in [(1, "host"), (2, "filterprohibited"), (3, "net")] {
        let _ = writeln!(
            text,
            "routes[{}] -> IPGWOptions({ip}) -> ICMPError({ip}, unreachable, {code}, RATE 1000) -> routes;",
            end + number
        );
    }
    text
}

/// Keeps the first of several equal routes: VLAN devices have the link-local address of the interface below them.
fn once(routes: &mut Vec<String>) {
    let mut seen = HashSet::new();
    routes.retain(|route| seen.insert(route.clone()));
}

/// A setting of the kernel, and what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Setting {
    /// A file below `/proc/sys`.
    File(PathBuf, String),
    /// Whether an interface merges received segments.
    Merges(String, bool),
}

impl Setting {
    fn json(&self) -> Value {
        match self {
            Setting::File(path, value) => json!({ "file": path, "value": value }),
            Setting::Merges(interface, merges) => json!({ "interface": interface, "merges": merges }),
        }
    }

    fn of_json(value: &Value) -> Option<Setting> {
        match value["file"].as_str() {
            // Nothing else is written, whatever the file says.
            Some(path) if path.starts_with("/proc/sys/net/") && !path.contains("..") => {
                Some(Setting::File(path.into(), value["value"].as_str()?.to_owned()))
            }
            Some(_) => None,
            None => {
                Some(Setting::Merges(value["interface"].as_str()?.to_owned(), value["merges"].as_bool()?))
            }
        }
    }

    /// Puts it back, and says so if that is impossible. An interface that is gone has no settings.
    fn put_back(&self) {
        let (result, what) = match self {
            Setting::File(path, value) => (std::fs::write(path, value), path.display().to_string()),
            Setting::Merges(interface, merges) => {
                let set = ethtool::set_merges(interface, *merges);
                (set.map_err(|trouble| trouble.error), format!("{interface}: generic receive offload"))
            }
        };
        let Err(error) = result else { return };
        if !matches!(Errno::from_io_error(&error), Some(Errno::NOENT | Errno::NODEV)) {
            complain(&format!("clique run: a setting of the kernel is not put back: {what}: {error}\n"));
        }
    }
}

/// The machine's interfaces in Clique's hands. Dropping it gives them back.
#[derive(Debug)]
pub(crate) struct Takeover {
    interfaces: Vec<Interface>,
    file: PathBuf,
    settings: Vec<Setting>,
}

/// When a process started, by which it is told from a later one of the same number.
fn started(pid: u64) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit(')').next()?.split_whitespace().nth(19).map(str::to_owned)
}

impl Takeover {
    /// The interfaces, as they were when they were taken over.
    pub(crate) fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// What gives the interfaces back, for a program that is to end at once.
    pub(crate) fn give_back(&self) -> impl FnOnce() + Send + 'static + use<> {
        let (settings, file) = (self.settings.clone(), self.file.clone());
        move || put_back(&settings, &file)
    }

    /// The interfaces with their addresses, for people.
    pub(crate) fn summary(&self) -> String {
        let one = |interface: &Interface| {
            let v4 = interface.v4.iter().map(|(address, len)| format!("{address}/{len}"));
            let addresses: Vec<String> = v4.chain(interface.v6.iter().map(Ipv6Addr::to_string)).collect();
            format!("{} ({})", interface.name, addresses.join(", "))
        };
        let all: Vec<String> = self.interfaces.iter().map(one).collect();
        format!(
            "{} taken over: the kernel does not forward there, nor merge received segments, until the end",
            all.join(", ")
        )
    }

    /// Takes interfaces over; puts back first what a program that was killed has left behind, and says so through `say`.
    ///
    /// # Errors
    /// A sentence for the user; everything is as it was then.
    pub(crate) fn of(interfaces: &[Interface], say: impl Fn(&str)) -> Result<Takeover, String> {
        let namespace = std::fs::read_link("/proc/self/ns/net").unwrap_or_default();
        let number: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
        let file = Path::new(FOLDER).join(format!("from-host-{number}.json"));
        if let Some(pid) = clean_up(&file)? {
            say(&format!("process {pid} was killed: what it had changed is put back"));
        }
        let mut settings = Vec::new();
        for name in interfaces.iter().map(|interface| &interface.name) {
            settings.extend(ethtool::merges(name).ok().map(|merges| Setting::Merges(name.clone(), merges)));
            settings.extend(saved(format!("/proc/sys/net/ipv4/conf/{name}/forwarding")));
        }
        // What all interfaces do decides for IPv6; setting it sets each, so these are put back after it.
        settings.extend(saved(IPV6_FORWARDING.to_owned()));
        let each = std::fs::read_dir("/proc/sys/net/ipv6/conf").into_iter().flatten().flatten();
        let each = each.map(|entry| entry.path()).filter(|path| !path.ends_with("all"));
        settings.extend(each.filter_map(|path| saved(path.join("forwarding").display().to_string())));
        let pid = std::process::id();
        let list: Vec<Value> = settings.iter().map(Setting::json).collect();
        let note = json!({ "pid": pid, "started": started(pid.into()), "settings": list });
        std::fs::create_dir_all(FOLDER)
            .and_then(|()| std::fs::write(&file, note.to_string()))
            .map_err(|error| format!("{}: {error}; --from-host needs root", file.display()))?;
        let taken = Takeover { interfaces: interfaces.to_vec(), file, settings };
        for setting in &taken.settings {
            match setting {
                Setting::File(path, value) if value.trim() != "0" => std::fs::write(path, "0")
                    .map_err(|error| format!("{}: {error}; --from-host needs root", path.display()))?,
                Setting::File(..) => {}
                Setting::Merges(interface, _) => {
                    ethtool::set_merges(interface, false).map_err(|trouble| trouble.to_string())?;
                }
            }
        }
        Ok(taken)
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        put_back(&self.settings, &self.file);
    }
}

/// Puts settings back, and removes the note of them.
fn put_back(settings: &[Setting], note: &Path) {
    settings.iter().for_each(Setting::put_back);
    let _ = std::fs::remove_file(note); // then there is nothing to clean up
}

/// A setting as it is; `None` if there is no such.
fn saved(path: String) -> Option<Setting> {
    let value = std::fs::read_to_string(&path).ok()?;
    Some(Setting::File(path.into(), value))
}

/// Puts back what a process that does not live any more wrote down; its number, if there was one.
fn clean_up(file: &Path) -> Result<Option<u64>, String> {
    let Ok(text) = std::fs::read_to_string(file) else { return Ok(None) };
    let note: Value = serde_json::from_str(&text).unwrap_or_default();
    let pid = note["pid"].as_u64().unwrap_or(0);
    if started(pid).is_some_and(|started| note["started"] == started.as_str()) {
        return Err(format!("process {pid} has taken this machine's interfaces over already"));
    }
    note["settings"].as_array().into_iter().flatten().filter_map(Setting::of_json).for_each(|s| s.put_back());
    let _ = std::fs::remove_file(file); // it will be written anew
    Ok(Some(pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Vec<Interface> {
        interfaces(&json!([
            { "ifname": "lo", "link_type": "loopback", "flags": ["UP"], "mtu": 65536,
              "addr_info": [{ "local": "127.0.0.1", "prefixlen": 8 }] },
            { "ifname": "eth0", "link_type": "ether", "flags": ["BROADCAST", "UP"], "mtu": 1500, "addr_info": [
              { "local": "10.0.1.1", "prefixlen": 24 }, { "local": "fe80::1", "prefixlen": 64 },
              { "local": "2001:db8::1", "prefixlen": 64 }] },
            { "ifname": "eth1", "link_type": "ether", "flags": ["BROADCAST"], "mtu": 1500,
              "addr_info": [{ "local": "10.0.2.1", "prefixlen": 24 }] },
            { "ifname": "eth2", "link_type": "ether", "flags": ["UP"], "mtu": 9000, "master": "br0",
              "addr_info": [{ "local": "10.0.3.1", "prefixlen": 24 }] },
            { "ifname": "br0", "link_type": "ether", "flags": ["UP"], "mtu": 1400,
              "addr_info": [{ "local": "10.0.4.1", "prefixlen": 31 }] },
            { "ifname": "eth3", "link_type": "ether", "flags": ["UP"], "mtu": 1500, "addr_info": [] },
        ]))
    }

    #[test]
    fn interfaces_that_forward() {
        let found = machine();
        assert_eq!(found.iter().map(|i| i.name.as_str()).collect::<Vec<_>>(), ["eth0", "br0"]);
        assert_eq!(found[0].v6[0], "2001:db8::1".parse::<Ipv6Addr>().unwrap(), "global addresses come first");
    }

    /// A VRF and its members stay the kernel's; the program says so instead of denying that they are there.
    #[test]
    fn interfaces_that_stay_the_kernels() {
        let all = json!([
            { "ifname": "lo", "link_type": "loopback", "flags": ["UP"], "mtu": 65536,
              "addr_info": [{ "local": "::1", "prefixlen": 128 }] },
            { "ifname": "eth0", "link_type": "ether", "flags": ["UP"], "mtu": 1500,
              "addr_info": [{ "local": "2001:db8::1", "prefixlen": 64 }] },
            { "ifname": "eth1", "link_type": "ether", "flags": ["UP"], "mtu": 1500, "master": "red",
              "addr_info": [{ "local": "2001:db8:1::1", "prefixlen": 64 }] },
            { "ifname": "eth2", "link_type": "ether", "flags": ["UP"], "mtu": 1500,
              "addr_info": [{ "local": "fe80::1", "prefixlen": 64 }] },
            { "ifname": "red", "link_type": "ether", "flags": ["UP"], "mtu": 65575,
              "linkinfo": { "info_kind": "vrf", "info_data": { "table": 10 } },
              "addr_info": [{ "local": "198.51.100.1", "prefixlen": 32 }] },
        ]);
        let mut taken = interfaces(&all);
        assert_eq!(taken.iter().map(|i| i.name.as_str()).collect::<Vec<_>>(), ["eth0", "eth2"]);
        taken.retain(|interface| interface.name == "eth0");
        assert_eq!(others(&taken, &all), ["eth1"]);
        assert_eq!(
            why_not("eth1", &all),
            "eth1 belongs to red: no member of a bridge, bond or VRF is taken over"
        );
        assert!(why_not("red", &all).starts_with("red is a VRF: "));
        assert_eq!(why_not("eth7", &all), "eth7 is no Ethernet interface that is up and has an address");
    }

    /// A VLAN device has the link-local address of the interface below it, for which one route is enough.
    #[test]
    fn an_address_of_two_interfaces() {
        let mut both = machine();
        both.truncate(1);
        both.push(Interface { name: "eth0.10".to_owned(), ..both[0].clone() });
        let text = configuration(&both);
        assert_eq!(text.matches("fe80::1/128 0").count(), 1, "{text}");
        assert_eq!(text.matches("10.0.1.1/32 0").count(), 1, "{text}");
    }

    /// An interface keeps what it had while it is not there; one that has lost its addresses has none.
    #[test]
    fn addresses_that_change() {
        let taken = machine();
        assert_eq!(now(&taken, &json!([])), taken);
        let changed = now(
            &taken,
            &json!([
                { "ifname": "eth0", "mtu": 1400, "addr_info": [{ "local": "10.0.1.7", "prefixlen": 24 }] },
                { "ifname": "br0", "mtu": 1400, "addr_info": [] },
                { "ifname": "eth9", "mtu": 1400, "addr_info": [] },
            ]),
        );
        assert_eq!((changed.len(), changed[0].mtu), (2, 1400));
        assert_eq!(
            (&changed[0].v4[..], &changed[0].v6[..]),
            (&[(Ipv4Addr::new(10, 0, 1, 7), 24)][..], &[][..])
        );
        assert!(changed[1].v4.is_empty());
    }

    #[test]
    fn the_configurations_ports_lead_where_the_tables_say() {
        let text = configuration(&machine());
        assert!(
            text.contains("IPLookup(10.0.1.1/32 0, 10.0.4.1/32 0, 10.0.1.255/32 0, 255.255.255.255/32 0")
        );
        assert!(text.contains(
            "p1 :: HostPort(eth0, 10.0.1.1, 2001:db8::1, 1500, 1, 10.0.1.1/24, \
             10.0.1.1 10.0.4.1 10.0.1.255 0.0.0.0 255.255.255.255, :: ::1 2001:db8::1 fe80::1);"
        ));
        assert!(text.contains("p2 :: HostPort(br0, 10.0.4.1, 100::, 1400, 2, 10.0.4.1/31, "));
        assert!(text.contains("KernelNeighbours(eth0 p1/arp p1/nd, br0 p2/arp p2/nd);"));
        assert!(text.contains("KernelRoutes(eth0 1 7, br0 2 8, IPV4 routes, IPV6 routes6, BLACKHOLE 3,"));
        let parsed = lang::parse(&text, "config", &[]);
        assert!(!parsed.has_errors(), "{}", parsed.render_click());
        let layout = router::layout(parsed.graph, &crate::classes(&[]), 2);
        assert!(layout.is_ok(), "{:?}", layout.err());
    }

    #[test]
    fn settings_are_read_back() {
        let settings = [
            Setting::File("/proc/sys/net/ipv4/conf/eth0/forwarding".into(), "1\n".into()),
            Setting::Merges("eth0".into(), true),
        ];
        for setting in settings {
            assert_eq!(Setting::of_json(&setting.json()), Some(setting));
        }
        for path in ["/etc/passwd", "/proc/sys/net/../kernel/core_pattern"] {
            assert_eq!(Setting::of_json(&json!({ "file": path, "value": "x" })), None);
        }
    }
}
