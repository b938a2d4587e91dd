//! The example of a NAT gateway, from one interface to the other and back.

use clique_elements as elements;
use device::memory::{Config, Interface, Interfaces, TapConfig};
use router::{Call, Clock, Log, Options, Resources};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use wire::{ip_proto, ipv4};

/// A UDP packet, or an ICMP message about one, in an Ethernet frame to the gateway.
fn frame(mac: u8, protocol: u8, from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
    let mut data = vec![2, 0, 0, 0, 0, mac, 2, 0, 0, 0, 0, 99, 8, 0];
    data.extend(packet(protocol, from, to, payload));
    data
}

fn packet(protocol: u8, from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
    let (src, dst): (Ipv4Addr, Ipv4Addr) =
        (from.parse().expect("an address"), to.parse().expect("an address"));
    let mut payload = payload.to_vec();
    match protocol {
        ip_proto::UDP => wire::udp::fill_checksum_v4(src, dst, &mut payload).expect("a datagram"),
        _ => wire::icmpv4::fill_checksum(&mut payload).expect("a message"),
    }
    let mut data = vec![0; ipv4::HEADER_LEN];
    data.extend(&payload);
    let len = data.len() as u16;
    let mut header = ipv4::Header::new_checked_mut(&mut data).expect("long enough");
    header.set_version_and_header_len(ipv4::HEADER_LEN);
    header.set_total_len(len);
    header.set_ttl(64);
    header.set_protocol(protocol);
    header.set_src(src);
    header.set_dst(dst);
    header.fill_checksum();
    data
}

fn datagram(from: u16, to: u16) -> Vec<u8> {
    let mut bytes = [from.to_be_bytes(), to.to_be_bytes(), [0, 12], [0, 0]].concat();
    bytes.extend(b"data");
    bytes
}

/// What an interface has sent, without Ethernet headers and with the hops that they had at first.
fn sent(interface: &Interface) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    interface.drain_tap(100, |frame| {
        let mut packet = frame[14..].to_vec();
        ipv4::check(&packet, true).expect("correct headers");
        packet[8] = 64;
        ipv4::fill_checksum(&mut packet).expect("a header");
        packets.push(packet);
    });
    packets
}

/// A host's packet goes out under the gateway's address, the answer and an error come back to it, strangers do not.
#[test]
fn gateway() {
    let interfaces: Vec<Arc<Interface>> = ["eth0", "eth1"]
        .map(|name| {
            let tap = Some(TapConfig { every: 1, capacity: 100 });
            Interface::new(name, Config { tap, ..Config::rings(1, 64) })
        })
        .into();
    let registry = Interfaces::new();
    interfaces.iter().for_each(|interface| registry.add(interface.clone()).expect("names differ"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/nat.click");
    let text = std::fs::read_to_string(path).expect("readable") + "Script(wait 1, stop);";
    let parsed = lang::parse(&text, "nat.click", &[]);
    let known = elements::classes();
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let mut resources = Resources::default();
    resources.insert(registry);
    let log = Log::Memory(Default::default());
    let options = Options { resources, log, clock: Clock::simulated(), ..Options::default() };
    let (mut router, _) =
        router::build(layout, text, &known, options).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    for (arp, neighbour) in [("in/arp", "10.0.0.5"), ("in/arp", "10.0.0.80"), ("out/arp", "203.0.113.1")] {
        let value = format!("{neighbour} 2:0:0:0:0:99");
        router.call(Call::write(format!("{arp}.insert"), value)).expect("written");
    }

    const UDP: u8 = ip_proto::UDP;
    let about =
        [vec![3, 1, 0, 0, 0, 0, 0, 0], packet(UDP, "203.0.113.2", "198.51.100.7", &datagram(5000, 53))]
            .concat();
    let told =
        [vec![3, 1, 0, 0, 0, 0, 0, 0], packet(UDP, "10.0.0.5", "198.51.100.7", &datagram(5000, 53))].concat();
    let inject = |at: usize, frame: Vec<u8>| interfaces[at].inject(0, &frame).expect("room");
    // The task of eth0 runs first.
    inject(0, frame(1, UDP, "10.0.0.5", "198.51.100.7", &datagram(5000, 53)));
    inject(1, frame(2, UDP, "198.51.100.7", "203.0.113.2", &datagram(53, 5000)));
    inject(1, frame(2, UDP, "198.51.100.7", "203.0.113.2", &datagram(54, 5000)));
    inject(1, frame(2, ip_proto::ICMP, "198.51.100.9", "203.0.113.2", &about));
    router.run();

    assert_eq!(sent(&interfaces[1]), [packet(UDP, "203.0.113.2", "198.51.100.7", &datagram(5000, 53))]);
    let back = [
        packet(UDP, "198.51.100.7", "10.0.0.5", &datagram(53, 5000)),
        packet(ip_proto::ICMP, "198.51.100.9", "10.0.0.5", &told),
    ];
    assert_eq!(sent(&interfaces[0]), back);
}
