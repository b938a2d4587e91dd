//! How arguments are assigned and read, seen through a toy element that only reports what it got.

use clique_router as router;
use packet::Anno;
use router::{
    AnnoOf, Bandwidth, Bytes, Class, Classes, Config, ConfigError, Element, FromArg, InterfaceAddresses,
    IpMask, IpPort, NetOrHost, Options, Value,
};
use std::fmt::Debug;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use wire::{Ipv4Net, Ipv6Net, MacAddr};

type Made = Result<Box<dyn Element>, ConfigError>;

/// Reports the arguments A (mandatory), B, C (keyword only).
fn slots(config: &mut Config<'_>) -> Made {
    let (mut a, mut b, mut c) = (0_i32, None::<String>, false);
    config.args().required("A", &mut a).positional("B", &mut b).keyword("C", &mut c).finish()?;
    Err(format!("{a} {b:?} {c}").into())
}

fn many(config: &mut Config<'_>) -> Made {
    let (mut keys, mut rest) = (Vec::<u8>::new(), Vec::new());
    config.args().keywords("K", &mut keys).rest(&mut rest).finish()?;
    Err(format!("{keys:?} {rest:?}").into())
}

fn list(config: &mut Config<'_>) -> Made {
    let (mut list, mut b, mut others) = (Vec::<u8>::new(), None::<u8>, Vec::<u8>::new());
    config.args().list("L", &mut list).required("B", &mut b).list("M", &mut others).finish()?;
    Err(format!("{list:?} {b:?} {others:?}").into())
}

/// Typed(TYPE, TEXT): what TEXT is as a TYPE, with some names defined.
fn typed(config: &mut Config<'_>) -> Made {
    let address = Ipv4Addr::new(10, 1, 2, 3);
    for value in [Value::Ip(address), Value::IpPrefix(address, 16), Value::Ether(MacAddr([1; 6]))] {
        config.define("gate", value);
    }
    fn show<T: FromArg + Debug>(config: &Config<'_>) -> Made {
        let (mut kind, mut value) = (String::new(), None::<T>);
        config.args().required("TYPE", &mut kind).required("TEXT", &mut value).finish()?;
        Err(value.map_or(String::new(), |value| format!("{value:?}")).into())
    }
    let kind = config.text().split(',').next().unwrap_or("");
    match kind {
        "u8" => show::<u8>(config),
        "i32" => show::<i32>(config),
        "bool" => show::<bool>(config),
        "string" => show::<String>(config),
        "bytes" => show::<Bytes>(config),
        "ip" => show::<Ipv4Addr>(config),
        "ip6" => show::<Ipv6Addr>(config),
        "ether" => show::<MacAddr>(config),
        "net" => show::<Ipv4Net>(config),
        "net6" => show::<Ipv6Net>(config),
        "mask" => show::<IpMask>(config),
        "host" => show::<NetOrHost<Ipv4Net>>(config),
        "time" => show::<Duration>(config),
        "rate" => show::<Bandwidth>(config),
        "port" => show::<IpPort>(config),
        "anno" => show::<Anno>(config),
        "anno4" => show::<AnnoOf<4>>(config),
        "call" => show::<router::CallArg>(config),
        _ => Err("no such type".into()),
    }
}

static CLASSES: [Class; 4] = [
    Class::new("Slots", slots),
    Class::new("Many", many),
    Class::new("List", list),
    Class::new("Typed", typed),
];

/// Two interfaces: `eth0`, to which a gateway belongs, and `eth1`.
const INTERFACES: InterfaceAddresses = InterfaceAddresses {
    ipv4: |name| {
        let addr = match name {
            "eth0" => Ipv4Addr::new(192, 168, 7, 9),
            "eth1" | "gate" => Ipv4Addr::new(172, 16, 1, 2),
            _ => return None,
        };
        Some((addr, Ipv4Addr::new(255, 255, 255, 0)))
    },
    gateway: |name| (name == "eth0").then_some(Ipv4Addr::new(192, 168, 7, 254)),
    ether: |name| (name == "eth0").then_some(wire::MacAddr([2, 0, 0, 0, 0, 9])),
};

/// What the element said.
fn said(config: &str) -> String {
    let known = Classes::new(CLASSES.iter().map(|class| class as &'static Class));
    let parsed = lang::parse(&format!("x :: {config}"), "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    static PORTLESS: &str = "0/0";
    let known = Classes::new(known.iter().map(|class| &*Box::leak(Box::new(class.ports(PORTLESS)))))
        .with_interfaces(INTERFACES);
    let layout = router::layout(parsed.graph, &known, 1).expect("no ports, nothing to connect");
    match router::build(layout, config.to_owned(), &known, Options::default()) {
        Ok(_) => panic!("these elements never come into being"),
        Err(errors) => {
            let said = |error: lang::Diagnostic| match error.expected {
                Some(expected) => format!("{} (expected {expected})", error.message),
                None => error.message,
            };
            errors.into_iter().map(said).collect::<Vec<_>>().join("; ")
        }
    }
}

#[test]
fn positions_and_keywords() {
    for (config, expected) in [
        ("Slots(1)", "1 None false"),
        ("Slots(1, x, C true)", "1 Some(\"x\") true"),
        ("Slots(B y, A 2)", "2 Some(\"y\") false"),
        ("Slots(1, A 2)", "2 None false"),
        ("Slots(C true, 1)", "A: invalid number (expected integer, not 'C true')"),
        ("Slots(1, C true, x)", "too many arguments"),
        ("Slots()", "A: required argument missing"),
        ("Slots(1, x, true)", "too many arguments"),
        ("Slots(1, D 2)", "D: unknown argument"),
        ("Slots(x 1)", "A: invalid number (expected integer, not 'x 1')"),
        ("Slots(1, C maybe)", "C: parse error (expected boolean, not 'maybe')"),
        ("Many(K 1, a, K 2, b c)", "[1, 2] [\"a\", \"b c\"]"),
        ("List(1, 2 3, B 4)", "[1, 2, 3] Some(4) []"),
        ("List(1, B 4, L 2, L 3 5)", "[1, 2, 3, 5] Some(4) []"),
        ("List(B 4, M 6 7)", "[] Some(4) [6, 7]"),
        ("List(1, 2)", "B: required argument missing"),
        ("List(1, B 4, 5)", "too many arguments"),
        ("List(1, 2 300, B 4)", "L: out of range, bound 255"),
    ] {
        assert_eq!(said(config), expected, "{config}");
    }
}

#[test]
fn each_type_is_read_or_refused() {
    for (text, expected) in [
        ("u8, 0xFf", "255"),
        ("u8, 0b11", "3"),
        ("u8, 017", "15"),
        ("u8, 1_0", "10"),
        ("u8, 256", "TEXT: out of range, bound 255"),
        ("u8, -1", "TEXT: invalid number (expected unsigned integer, not '-1')"),
        ("i32, 09", "TEXT: invalid number (expected integer, not '09')"),
        ("i32, -99999999999999999999999999999999999999999", "TEXT: out of range, bound -2147483648"),
        ("bool, t", "true"),
        ("string, \"a b\"c", "\"a bc\""),
        ("string, a b", "TEXT: parse error (expected string, not 'a b')"),
        ("bytes, \\<00 ff>", "Bytes([0, 255])"),
        ("ip, 1.2.3.04", "1.2.3.4"),
        ("ip, gate", "10.1.2.3"),
        ("ip, gate:ip", "10.1.2.3"),
        ("ip, gate:bcast", "10.1.255.255"),
        ("ip, gate:gw", "10.1.0.1"),
        ("ip, gate:eth", "TEXT: parse error (expected IP address, not 'gate:eth')"),
        ("ip, eth0", "192.168.7.9"),
        ("ip, eth0:ip", "192.168.7.9"),
        ("ip, eth1:bcast", "172.16.1.255"),
        ("ip, eth0:gw", "192.168.7.254"),
        ("ip, eth1:gw", "172.16.1.1"),
        ("ip, eth2", "TEXT: parse error (expected IP address, not 'eth2')"),
        ("net, eth0", "192.168.7.0/24"),
        ("mask, eth0:net", "IpMask { addr: 192.168.7.9, mask: 255.255.255.0 }"),
        ("mask, eth0/16", "IpMask { addr: 192.168.7.9, mask: 255.255.0.0 }"),
        ("host, eth1", "NetOrHost(172.16.1.2/32)"),
        ("ether, gate:ETH", "01-01-01-01-01-01"),
        ("ether, 0:1:2:a:b:c", "00-01-02-0A-0B-0C"),
        ("net, 18.26/16", "18.26.0.0/16"),
        ("net, gate:ipnet", "10.1.0.0/16"),
        ("net, gate/24", "10.1.2.0/24"),
        ("net, 1.2.3.4", "TEXT: parse error (expected IP prefix, not '1.2.3.4')"),
        ("host, 1.2.3.4", "NetOrHost(1.2.3.4/32)"),
        ("host, gate", "NetOrHost(10.1.2.3/32)"),
        ("mask, 1.2.3.4/255.0.0.255", "IpMask { addr: 1.2.3.4, mask: 255.0.0.255 }"),
        ("net6, 2001:db8::1/32", "2001:db8::/32"),
        ("ip6, ::1", "::1"),
        ("time, 1.5", "1.5s"),
        ("time, 20 ms", "20ms"),
        ("time, 1e3us", "1ms"),
        ("time, 2hr", "7200s"),
        ("rate, 10Mbps", "Bandwidth { bytes_per_second: 1250000 }"),
        ("rate, 2 kB/s", "Bandwidth { bytes_per_second: 2000 }"),
        ("rate, 7", "Bandwidth { bytes_per_second: 7 }"),
        ("rate, 1 mile", "TEXT: parse error (expected bandwidth, not '1 mile')"),
        ("port, domain", "IpPort(53)"),
        ("anno, PAINT", "Anno { offset: 16, size: 1 }"),
        ("anno4, 20", "AnnoOf(Anno { offset: 20, size: 4 })"),
        ("anno4, PAINT", "TEXT: parse error (expected annotation, not 'PAINT')"),
        ("anno4, 45", "TEXT: parse error (expected annotation, not '45')"),
        ("call, y.reset", "TEXT: no element named 'y'"),
    ] {
        assert_eq!(said(&format!("Typed({text})")), expected, "{text}");
    }
}
