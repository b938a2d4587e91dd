//! Messages are read as they are written, and as the kernel writes them.

use super::*;
use elements_shared::route_port::Destination;

fn hop(gateway: &str, interface: u32, weight: u32) -> NextHop {
    NextHop { gateway: gateway.parse().ok(), interface, weight, encapsulated: false }
}

fn route(prefix: &str, len: u8, forwarding: Forwarding) -> Route {
    Route {
        destination: Destination { address: prefix.parse().expect("an address"), len },
        table: 254,
        metric: 20,
        tos: 0,
        protocol: 186,
        scope: 0,
        mtu: 0,
        source: None,
        expires: None,
        placing: Placing::Replace,
        forwarding,
    }
}

fn samples() -> Vec<Message> {
    let encapsulated = NextHop { encapsulated: true, ..hop("192.0.2.1", 3, 1) };
    let special = |special| Forwarding::Special(special);
    let object = |id, object| Message::AddObject { id, object, is_new: false };
    vec![
        Message::Add(route("10.0.0.0", 8, Forwarding::Hop(hop("192.0.2.1", 3, 1)))),
        Message::Add(route(
            "10.1.0.0",
            16,
            Forwarding::Hops(vec![hop("192.0.2.1", 3, 256), hop("", 4, 5), hop("192.0.2.2", 5, 0)]),
        )),
        Message::Add(Route {
            tos: 16,
            placing: Placing::Last,
            mtu: 1400,
            source: "192.0.2.7".parse().ok(),
            expires: Some(-200),
            ..route("10.9.0.0", 16, Forwarding::Hop(hop("fe80::1", 3, 1)))
        }),
        Message::Add(route("10.8.0.0", 16, Forwarding::Hop(encapsulated))),
        Message::Add(route("10.8.0.0", 16, Forwarding::Hops(vec![encapsulated, hop("", 4, 5)]))),
        Message::Add(route("2001:db8::", 32, Forwarding::Hop(hop("fe80::1", 3, 1)))),
        Message::Add(Route { placing: Placing::Listed, ..route("::", 0, Forwarding::Object(7)) }),
        Message::Remove(route("10.1.0.0", 16, special(Special::Blackhole))),
        Message::Add(Route { placing: Placing::Only, ..route("10.2.0.0", 16, special(Special::Prohibit)) }),
        Message::Add(Route { placing: Placing::First, ..route("10.2.0.0", 16, special(Special::Throw)) }),
        object(7, Object::Group(vec![(8, 1), (9, 300), (10, 65_536)])),
        object(8, Object::Hop(hop("192.0.2.9", 2, 1))),
        object(8, Object::Hop(encapsulated)),
        object(9, Object::Blackhole),
        object(10, Object::Bridge),
        Message::Link(Link { index: 7, name: "red".to_owned(), is_up: true, vrf_table: Some(1001) }),
        Message::Link(Link { index: 8, name: "eth0".to_owned(), is_up: false, vrf_table: None }),
    ]
}

fn written(message: &Message) -> Vec<u8> {
    match message {
        Message::Add(route) => write::route(true, route),
        Message::Remove(route) => write::route(false, route),
        Message::AddObject { id, object, .. } => write::object(*id, object),
        Message::Link(link) => write::link(true, link),
        other => panic!("cannot write {other:?}"),
    }
}

#[test]
fn what_is_written_is_read() {
    let samples = samples();
    let bytes: Vec<u8> = samples.iter().flat_map(written).collect();
    assert_eq!(messages(&bytes), (samples, bytes.len()));
}

/// An IPv4 route with a gateway as `ip monitor` sees it from the kernel, byte for byte.
#[test]
fn a_message_of_the_kernel() {
    let bytes = [
        &68u32.to_ne_bytes()[..],
        &24u16.to_ne_bytes(),
        &0x600u16.to_ne_bytes(),
        &[0; 8],
        &[2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0],
        &8u16.to_ne_bytes(),
        &15u16.to_ne_bytes(),
        &254u32.to_ne_bytes(),
        &8u16.to_ne_bytes(),
        &1u16.to_ne_bytes(),
        &[198, 51, 100, 0],
        &8u16.to_ne_bytes(),
        &5u16.to_ne_bytes(),
        &[10, 0, 0, 1],
        &8u16.to_ne_bytes(),
        &4u16.to_ne_bytes(),
        &2u32.to_ne_bytes(),
        &8u16.to_ne_bytes(),
        &6u16.to_ne_bytes(),
        &100u32.to_ne_bytes(),
    ]
    .concat();
    let (found, used) = messages(&bytes);
    let [Message::Add(route)] = &found[..] else { panic!("{found:?}") };
    let to = Destination { address: "198.51.100.0".parse().expect("an address"), len: 24 };
    assert_eq!((used, route.destination, route.metric, route.placing), (68, to, 100, Placing::Only));
    assert_eq!(route.forwarding, Forwarding::Hop(hop("10.0.0.1", 2, 1)));
    // The type is the eighth byte of the body: those of this machine's own addresses, and multicast.
    for (kind, forwarding) in [
        (2, Some(Forwarding::Special(Special::Local))),
        (3, Some(Forwarding::Special(Special::Local))),
        (4, Some(Forwarding::Special(Special::Local))),
        (5, None),
    ] {
        let mut bytes = bytes.clone();
        bytes[HEADER + 7] = kind;
        let (found, _) = messages(&bytes);
        let read = match &found[..] {
            [Message::Add(route)] => Some(route.forwarding.clone()),
            _ => None,
        };
        assert_eq!(read, forwarding, "{kind}");
    }
}

#[test]
fn each_neighbour_state_has_its_standing() {
    let of = |address: &str, standing| Neighbour {
        address: address.parse().expect("an address"),
        interface: 3,
        mac: Some([2, 0, 0, 0, 0, 9]),
        standing,
    };
    for (state, standing) in [
        (0x80, Standing::Permanent),
        (2, Standing::Reachable),
        (4, Standing::Heard),
        (8, Standing::Heard),
        (0x10, Standing::Heard),
        (1, Standing::Unknown),
        (0x20, Standing::Unknown),
        (0x40, Standing::Unknown),
    ] {
        for address in ["10.0.0.9", "fe80::9"] {
            let one = of(address, standing);
            assert_eq!(messages(&write::neighbour(true, &one, state, 0)).0, [Message::Neighbour(one)]);
            let gone = Neighbour { standing: Standing::Unknown, ..one };
            assert_eq!(messages(&write::neighbour(false, &one, state, 0)).0, [Message::Neighbour(gone)]);
            assert_eq!(messages(&write::neighbour(true, &one, state, 8)).0, [Message::Other]);
        }
    }
}

/// A message that is not there whole is left for later; one whose inside is nonsense does not hide the next.
#[test]
fn cut_off_and_damaged() {
    let sample = &samples()[0];
    let bytes = written(sample);
    for len in 0..bytes.len() {
        assert_eq!(messages(&bytes[..len]), (vec![], 0), "{len}");
    }
    for at in HEADER..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            damaged.extend(&bytes);
            let (found, used) = messages(&damaged);
            assert_eq!((found.len(), &found[1], used), (2, sample, damaged.len()));
        }
    }
}
