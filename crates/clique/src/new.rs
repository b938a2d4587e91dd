//! `clique new`: writes a configuration to begin with, for the interfaces of this machine.

use crate::status::Status;
use crate::{console, takeover};
use clap::{ValueEnum, ValueHint};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::Command;

/// Arguments of `clique new`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// What the configuration is to do.
    #[arg(value_enum)]
    kind: Kind,

    /// The interfaces that lead inside and outside [default: that of the default route leads outside, another one inside].
    #[arg(num_args = 2, value_names = ["INSIDE", "OUTSIDE"])]
    interfaces: Vec<String>,

    /// Write to FILE, which must not be there yet [default: standard output].
    #[arg(short = 'o', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<String>,
}

/// What a configuration does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Forward between two networks.
    Router,
    /// Share the outside address among the hosts inside.
    Nat,
    /// Let pass in the cable between inside and outside what rules allow.
    Firewall,
}

/// An interface as `ip` shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Interface {
    name: String,
    is_up: bool,
    /// The first address that the world may know, with the length of its network.
    v4: Option<(Ipv4Addr, u8)>,
    v6: Option<String>,
}

/// Where packets go that have no other route.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Default4 {
    interface: String,
    gateway: Option<Ipv4Addr>,
}

/// Runs `clique new`.
pub(crate) fn run(args: &Args) -> Status {
    let written = machine().and_then(|(interfaces, way)| {
        let [inside, outside] = choose(&interfaces, way.as_ref(), &args.interfaces)?;
        let gateway = way.filter(|way| way.interface == outside.name).and_then(|way| way.gateway);
        Ok(configuration(args.kind, inside, outside, gateway))
    });
    let written = written.and_then(|text| match args.output.as_deref() {
        None | Some("-") => {
            console::print(&text).map_err(|error| format!("standard output: {}", console::reason(&error)))
        }
        Some(file) => write(file, &text),
    });
    match written {
        Ok(()) => Status::Fine,
        Err(message) => {
            console::complain(&format!("clique new: {message}\n"));
            Status::Failure
        }
    }
}

/// Writes a file that is not there yet.
fn write(file: &str, text: &str) -> Result<(), String> {
    let new = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    new.and_then(|mut new| new.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => format!("{file} is there already, and is left as it is"),
        _ => format!("{file}: {}", console::reason(&error)),
    })
}

/// The Ethernet interfaces of this machine, and its default route.
fn machine() -> Result<(Vec<Interface>, Option<Default4>), String> {
    let interfaces = takeover::addresses()?;
    let routes = Command::new("ip").args(["-json", "route", "show", "default"]).output();
    let routes = routes.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok());
    Ok((ports(&interfaces), routes.as_ref().and_then(default_route)))
}

/// The interfaces in the output of `ip -json address` that can be a router's port.
fn ports(all: &Value) -> Vec<Interface> {
    let is_port = |link: &&Value| {
        let without_arp = link["flags"].as_array().into_iter().flatten().any(|flag| flag == "NOARP");
        // A bridge's or bond's members belong to it.
        link["link_type"] == "ether" && link["master"].is_null() && !takeover::is_vrf(link) && !without_arp
    };
    all.as_array().into_iter().flatten().filter(is_port).filter_map(interface).collect()
}

fn interface(link: &Value) -> Option<Interface> {
    let mut interface = Interface { name: link["ifname"].as_str()?.to_owned(), ..Interface::default() };
    interface.is_up = link["flags"].as_array().into_iter().flatten().any(|flag| flag == "UP");
    for address in
        link["addr_info"].as_array().into_iter().flatten().filter(|address| address["scope"] == "global")
    {
        let (Some(local), Some(len)) = (address["local"].as_str(), address["prefixlen"].as_u64()) else {
            continue;
        };
        match local.parse() {
            Ok(v4) if interface.v4.is_none() => interface.v4 = u8::try_from(len).ok().map(|len| (v4, len)),
            Err(_) if interface.v6.is_none() => interface.v6 = Some(format!("{local}/{len}")),
            _ => {}
        }
    }
    Some(interface)
}

/// The first route in the output of `ip -json route show default`.
fn default_route(routes: &Value) -> Option<Default4> {
    let route = routes.as_array()?.first()?;
    let gateway = route["gateway"].as_str().and_then(|gateway| gateway.parse().ok());
    Some(Default4 { interface: route["dev"].as_str()?.to_owned(), gateway })
}

/// The interfaces that lead inside and outside.
fn choose<'i>(
    all: &'i [Interface],
    way: Option<&Default4>,
    names: &[String],
) -> Result<[&'i Interface; 2], String> {
    let known = || match all.iter().map(|interface| interface.name.as_str()).collect::<Vec<_>>() {
        names if names.is_empty() => "it has none".to_owned(),
        names => format!("it has {}", names.join(", ")),
    };
    let find = |name: &str| {
        let found = all.iter().find(|interface| interface.name == name);
        found.ok_or_else(|| {
            format!("{name} is no Ethernet interface of this machine that is a port of its own; {}", known())
        })
    };
    if let [inside, outside] = names {
        if inside == outside {
            return Err(format!("inside and outside are two interfaces, and {inside} is given for both"));
        }
        return Ok([find(inside)?, find(outside)?]);
    }
    let outside = all.iter().find(|interface| way.is_some_and(|way| way.interface == interface.name));
    // Those that are up and have an address first, and otherwise as the kernel numbers them.
    let mut others: Vec<&Interface> = all.iter().filter(|&interface| Some(interface) != outside).collect();
    others.sort_by_key(|interface| (!interface.is_up, interface.v4.is_none()));
    match (outside, &others[..]) {
        (Some(outside), &[inside, ..]) | (None, &[inside, outside, ..]) => Ok([inside, outside]),
        _ => Err(format!("two Ethernet interfaces are needed; {}", known())),
    }
}

/// The network of an address.
fn network((address, len): (Ipv4Addr, u8)) -> String {
    let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    format!("{}/{len}", Ipv4Addr::from(u32::from(address) & mask))
}

/// The example for a kind, with what is known of the interfaces.
fn configuration(kind: Kind, inside: &Interface, outside: &Interface, gateway: Option<Ipv4Addr>) -> String {
    let net = |interface: &Interface| interface.v4.map(|(address, len)| format!("{address}/{len}"));
    let gateway = gateway.map(|gateway| gateway.to_string());
    let (name, mut text) = match kind {
        Kind::Router => ("router", include_str!("../../../conf/linux-router.click").to_owned()),
        Kind::Nat => ("nat", include_str!("../../../conf/nat.click").to_owned()),
        Kind::Firewall => ("firewall", include_str!("../../../conf/firewall.click").to_owned()),
    };
    let names = |[a, b]: [&'static str; 2]| [(a, Some(inside.name.clone())), (b, Some(outside.name.clone()))];
    let values: Vec<(&str, Option<String>)> = match kind {
        Kind::Router => [
            &names(["IF0", "IF1"])[..],
            &[
                ("NET0", net(inside)),
                ("SIX0", inside.v6.clone()),
                ("NET1", net(outside)),
                ("SIX1", outside.v6.clone()),
            ],
        ]
        .concat(),
        Kind::Nat => [
            &names(["IN", "OUT"])[..],
            &[
                ("INSIDE", net(inside)),
                ("OUTSIDE", net(outside)),
                ("PROVIDER", gateway.clone()),
                ("WEB", None),
            ],
        ]
        .concat(),
        Kind::Firewall => [
            &names(["IN", "OUT"])[..],
            &[
                ("NET4", inside.v4.map(network)),
                ("NET6", None),
                ("WEB4", None),
                ("WEB6", None),
                ("MAIL4", None),
                ("MAIL6", None),
            ],
        ]
        .concat(),
    };
    for (name, value) in values.iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
        set_default(&mut text, name, value);
    }
    if let (Kind::Router, Some(gateway)) = (kind, gateway) {
        text = text.replacen(DIRECT, &format!("{DIRECT} 0.0.0.0/0 {gateway} 2,"), 1);
    }
    let unknown: Vec<&str> =
        values.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect();
    head(name, [inside, outside], &unknown) + &text
}

/// The routes of the example of a router that need no gateway.
const DIRECT: &str = "port0:ipnet 1, port1:ipnet 2,";

/// What its reader has to know first.
fn head(kind: &str, [inside, outside]: [&Interface; 2], unknown: &[&str]) -> String {
    let mut head = format!(
        "// Made by `clique new {kind}`: {} leads inside, {} outside.\n//\n//   clique check --here FILE\n//   clique run FILE\n//\n",
        inside.name, outside.name
    );
    if !unknown.is_empty() {
        let _ = writeln!(
            head,
            "// This machine does not tell {}: examples stand in their places.",
            unknown.join(", ")
        );
    }
    let addressed =
        [inside, outside].into_iter().filter(|interface| interface.v4.is_some() || interface.v6.is_some());
    let flush: Vec<String> =
        addressed.map(|interface| format!("ip address flush dev {}", interface.name)).collect();
    if !flush.is_empty() {
        let _ = writeln!(
            head,
            "// The kernel has to give up its addresses there, which ends connections to this machine by them (`clique run --from-host` goes without):\n//\n//   {}",
            flush.join("; ")
        );
    }
    head + "\n"
}

/// Sets the value of a variable in the text's first `define`.
fn set_default(text: &mut String, name: &str, value: &str) {
    let Some(begin) = text.find("define(") else { return };
    let end = text[begin..].find(");").map_or(text.len(), |len| begin + len);
    let Some(at) = text[begin..end].find(&format!("${name} ")).map(|at| begin + at + name.len() + 2) else {
        return;
    };
    let len = text[at..end].find(',').unwrap_or(end - at);
    text.replace_range(at..at + len, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn example() -> Vec<Interface> {
        let address =
            |local: &str, len: u8, scope: &str| json!({ "local": local, "prefixlen": len, "scope": scope });
        ports(&json!([
            { "ifname": "lo", "link_type": "loopback", "flags": ["UP"], "addr_info": [] },
            { "ifname": "ifb0", "link_type": "ether", "flags": ["NOARP"], "addr_info": [] },
            { "ifname": "eth0", "link_type": "ether", "flags": ["UP"], "addr_info": [address("203.0.113.2", 24, "global"),
                address("fe80::1", 64, "link"), address("2001:db8:f::2", 64, "global")] },
            { "ifname": "eth1", "link_type": "ether", "flags": [], "addr_info": [] },
            { "ifname": "eth2", "link_type": "ether", "flags": ["UP"], "master": "br0", "addr_info": [] },
            { "ifname": "eth3", "link_type": "ether", "flags": ["UP"], "addr_info": [address("192.168.7.1", 22, "global")] },
        ]))
    }

    fn way() -> Default4 {
        default_route(&json!([{ "dst": "default", "gateway": "203.0.113.1", "dev": "eth0" }]))
            .expect("a route")
    }

    #[test]
    fn the_default_route_leads_outside() {
        let (all, way) = (example(), way());
        let names = |way, chosen: &[&str]| {
            let chosen: Vec<String> = chosen.iter().map(|name| (*name).to_owned()).collect();
            choose(&all, way, &chosen).map(|both| both.map(|interface| interface.name.clone()))
        };
        assert_eq!(names(Some(&way), &[]), Ok(["eth3", "eth0"].map(str::to_owned)));
        assert_eq!(names(None, &[]), Ok(["eth0", "eth3"].map(str::to_owned)));
        assert_eq!(names(Some(&way), &["eth1", "eth3"]), Ok(["eth1", "eth3"].map(str::to_owned)));
        let error = names(None, &["eth0", "eth0"]).expect_err("one interface");
        assert!(error.contains("eth0 is given for both"), "{error}");
        let error = names(None, &["eth0", "eth2"]).expect_err("a bridge has it");
        assert!(error.starts_with("eth2 is no") && error.ends_with("it has eth0, eth1, eth3"), "{error}");
        assert!(
            choose(&all[..1], Some(&way), &[])
                .expect_err("one")
                .starts_with("two Ethernet interfaces are needed")
        );
    }

    /// Each kind gets what the machine knows, names what it does not, and reads as before otherwise.
    #[test]
    fn what_is_known_is_filled_in() {
        let all = example();
        let text = |kind, inside: usize| configuration(kind, &all[inside], &all[0], way().gateway);
        let nat = text(Kind::Nat, 2);
        assert!(nat.contains("define($IN eth3, $INSIDE 192.168.7.1/22, $OUT eth0, $OUTSIDE 203.0.113.2/24, $PROVIDER 203.0.113.1,"), "{nat}");
        assert!(
            nat.contains("does not tell WEB:")
                && nat.contains("ip address flush dev eth3; ip address flush dev eth0"),
            "{nat}"
        );
        let router = text(Kind::Router, 1);
        assert!(router.contains("$IF1 eth0, $NET1 203.0.113.2/24, $SIX1 2001:db8:f::2/64"), "{router}");
        assert!(router.contains("port1:ipnet 2, 0.0.0.0/0 203.0.113.1 2, NOROUTE 3"), "{router}");
        assert!(
            router.contains("does not tell NET0, SIX0:") && !router.contains("flush dev eth1"),
            "{router}"
        );
        let firewall = text(Kind::Firewall, 2);
        assert!(
            firewall.contains("define($IN eth3, $OUT eth0, $NET4 192.168.4.0/22, $NET6 2001:"),
            "{firewall}"
        );
        for (text, name) in [(nat, "nat"), (router, "linux-router"), (firewall, "firewall")] {
            let shipped =
                std::fs::read_to_string(format!("{}/../../conf/{name}.click", env!("CARGO_MANIFEST_DIR")));
            let shipped = shipped.expect("an example");
            let changed = shipped.lines().filter(|line| !text.contains(line)).count();
            assert!((1..6).contains(&changed), "{name}: {changed}");
        }
    }
}
