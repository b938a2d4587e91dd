//! The example of a firewall: what may pass does, unchanged, and answers with it; the rest is refused and counted, and leaves nothing behind.

use device::memory::{Config, Interface, Interfaces, TapConfig};
use elements_testing::run_to_end;
use router::{Call, Clock, Log, Options, Resources, Router};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use wire::{ip_proto, ipv4};

fn router(interfaces: &[Arc<Interface>]) -> Router {
    let registry = Interfaces::new();
    interfaces.iter().for_each(|interface| registry.add(interface.clone()).expect("names differ"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/firewall.click");
    let text = std::fs::read_to_string(path).expect("readable") + "Script(wait 1, stop);";
    let text = text
        .replace("FromDevice($device, PROMISC true, METHOD $METHOD)", "FromMemory($device)")
        .replace("ToDevice($device, METHOD $METHOD)", "ToMemory($device)");
    let parsed = lang::parse(&text, "firewall.click", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = elements::classes();
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let mut resources = Resources::default();
    resources.insert(registry);
    let log = Log::Memory(Default::default());
    let options = Options { resources, log, clock: Clock::simulated(), ..Options::default() };
    let built = router::build(layout, text, &known, options);
    let (router, warnings) = built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    assert!(warnings.is_empty(), "{}", lang::render_click(&warnings));
    router
}

/// A TCP segment without data that begins a connection, or is the first answer of one.
fn tcp(from: u16, to: u16, flags: u8) -> Vec<u8> {
    let mut segment = [from.to_be_bytes(), to.to_be_bytes()].concat();
    let acknowledgement = if flags & 16 == 0 { 0 } else { 2 };
    segment.extend([0, 0, 0, 1, 0, 0, 0, acknowledgement, 0x50, flags, 1, 0, 0, 0, 0, 0]);
    segment
}

fn frame4(protocol: u8, from: &str, to: &str, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let (src, dst): (Ipv4Addr, Ipv4Addr) =
        (from.parse().expect("an address"), to.parse().expect("an address"));
    let mut data = vec![0; ipv4::HEADER_LEN];
    data.extend(payload);
    let len = data.len() as u16;
    let mut header = ipv4::Header::new_checked_mut(&mut data).expect("long enough");
    header.set_version_and_header_len(ipv4::HEADER_LEN);
    header.set_total_len(len);
    header.set_fragment_field(fragment);
    header.set_ttl(64);
    header.set_protocol(protocol);
    header.set_src(src);
    header.set_dst(dst);
    header.fill_checksum();
    [vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], data].concat()
}

fn frame6(next: u8, from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
    let (src, dst): (Ipv6Addr, Ipv6Addr) =
        (from.parse().expect("an address"), to.parse().expect("an address"));
    let mut frame =
        vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0xdd, 0x60, 0, 0, 0, 0, payload.len() as u8, next, 64];
    frame.extend(src.octets());
    frame.extend(dst.octets());
    frame.extend(payload);
    frame
}

#[test]
fn what_the_rules_allow_passes_and_nothing_else() {
    const SYN: u8 = 2;
    const ACK: u8 = 16;
    let (inside, outside) = ("192.0.2.7", "198.51.100.9");
    let to =
        |host: &str, port: u16, flags: u8| frame4(ip_proto::TCP, outside, host, 0, &tcp(5000, port, flags));
    let udp = |from: u16, to: u16| [from.to_be_bytes(), to.to_be_bytes(), [0, 8], [0, 0]].concat();
    // A fragment of IPv6: its place in the upper 13 bits, and whether more follow.
    let part = |next: u8, field: u16, rest: &[u8]| {
        [&[next, 0][..], &field.to_be_bytes(), &[0, 0, 0, 7], rest].concat()
    };
    let arp = [vec![0xff; 6], vec![2, 0, 0, 0, 0, 2, 8, 6], vec![0; 28]].concat();
    let (in6, out6) = ("2001:db8:2::7", "2001:db8:9::9");
    let pass_out = [
        arp.clone(),
        frame4(ip_proto::TCP, inside, outside, 0, &tcp(4000, 80, SYN)),
        frame4(ip_proto::UDP, inside, outside, 0, &udp(5353, 99)),
        frame4(ip_proto::TCP, "192.0.2.25", outside, 0, &tcp(4000, 25, SYN)),
        frame6(ip_proto::UDP, in6, out6, &udp(5353, 53)),
    ];
    let stay_in = [
        frame4(ip_proto::TCP, inside, outside, 0, &tcp(4000, 25, SYN)),
        frame4(ip_proto::UDP, "10.0.0.1", outside, 0, &udp(4000, 53)),
        frame6(ip_proto::TCP, in6, out6, &tcp(4000, 25, SYN)),
    ];
    // An error about a packet that came in such a frame.
    let about = |frame: &[u8]| [&[3, 1, 0, 0, 0, 0, 0, 0], &frame[14..14 + 28]].concat();
    let pass_in = [
        arp.clone(),
        to("192.0.2.80", 443, SYN),
        to("192.0.2.25", 25, SYN),
        frame4(ip_proto::TCP, outside, inside, 0, &tcp(80, 4000, SYN | ACK)),
        frame4(ip_proto::UDP, outside, inside, 0, &udp(99, 5353)),
        frame4(ip_proto::ICMP, "198.51.100.1", inside, 0, &about(&pass_out[1])),
        frame6(ip_proto::UDP, out6, in6, &udp(53, 5353)),
        frame4(ip_proto::UDP, outside, inside, 0x20, &[0; 16]),
        frame6(ip_proto::TCP, out6, "2001:db8:2::80", &tcp(5000, 80, SYN)),
        frame6(ip_proto::ICMPV6, out6, in6, &[128, 0, 0, 0, 0, 0, 0, 0]),
        frame6(ip_proto::FRAGMENT, out6, in6, &part(ip_proto::UDP, 0x05a8, &[0; 16])),
    ];
    let stay_out = [
        to("192.0.2.80", 22, SYN),
        to(inside, 443, SYN),
        to(inside, 4000, SYN | ACK),
        frame4(ip_proto::TCP, outside, inside, 0, &tcp(80, 4001, ACK)),
        frame4(ip_proto::ICMP, "198.51.100.1", inside, 0, &about(&stay_in[0])),
        frame6(ip_proto::UDP, out6, in6, &udp(53, 5354)),
        frame4(ip_proto::TCP, inside, "192.0.2.80", 0, &tcp(5000, 80, ACK)),
        frame4(ip_proto::UDP, outside, inside, 0, &udp(53, 53)),
        frame4(ip_proto::ICMP, outside, inside, 0, &[8, 0, 0, 0, 0, 0, 0, 0]),
        frame4(ip_proto::TCP, outside, inside, 1, &[0; 16]),
        frame6(ip_proto::TCP, out6, in6, &tcp(5000, 80, SYN)),
        frame6(ip_proto::FRAGMENT, out6, in6, &part(ip_proto::UDP, 1, &udp(53, 5354))),
        frame6(ip_proto::FRAGMENT, out6, "2001:db8:3::7", &part(ip_proto::UDP, 0x05a8, &[0; 16])),
    ];

    let interfaces = ["eth0", "eth1"].map(|name| {
        let tap = Some(TapConfig { every: 1, capacity: 100 });
        Interface::new(name, Config { tap, ..Config::rings(1, 64) })
    });
    let mut router = router(&interfaces);
    pass_in.iter().chain(&stay_out).for_each(|frame| interfaces[1].inject(0, frame).expect("room"));
    pass_out.iter().chain(&stay_in).for_each(|frame| interfaces[0].inject(0, frame).expect("room"));
    run_to_end(&mut router);
    for (interface, expected) in interfaces.iter().zip([&pass_in[..], &pass_out[..]]) {
        let mut sent = Vec::new();
        interface.drain_tap(100, |frame| sent.push(frame.to_vec()));
        sent.sort();
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(sent, expected);
    }
    let mut read = |path: &str| router.call(Call::read(path, "")).expect("readable");
    assert_eq!(read("refused_in.count"), stay_out.len().to_string());
    assert_eq!(read("refused_out.count"), stay_in.len().to_string());
    // Only what passed is remembered: four from inside, four from outside.
    assert_eq!(read("ct.count"), "8");
    assert!(
        read("from_outside.rule_packets")
            .lines()
            .any(|line| line == "3\t3: allow state established or related")
    );
}
