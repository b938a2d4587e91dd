//! The example of a filter for words in HTTP: they do not arrive, the rest does, and messages say how long they are.

use device::memory::{Config, Interface, Interfaces, TapConfig};
use elements_testing::run_to_end;
use router::{Call, Clock, Log, Options, Resources, Router};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use wire::tcp::{self, flag};
use wire::{ip_proto, ipv4};

fn router(interfaces: &[Arc<Interface>]) -> Router {
    let registry = Interfaces::new();
    interfaces.iter().for_each(|interface| registry.add(interface.clone()).expect("names differ"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/http-filter.click");
    let text = std::fs::read_to_string(path).expect("readable") + "Script(wait 1, stop);";
    let parsed = lang::parse(&text, "http-filter.click", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = elements::classes();
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let mut resources = Resources::default();
    resources.insert(registry);
    let log = Log::Memory(Default::default());
    let options = Options { resources, log, clock: Clock::simulated(), ..Options::default() };
    let built = router::build(layout, text, &known, options);
    built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e))).0
}

const CLIENT: (Ipv4Addr, u16) = (Ipv4Addr::new(192, 0, 2, 7), 4000);
const SERVER: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 51, 100, 9), 80);
const ETHERNET: usize = 14;
const HEADERS: usize = 40;

fn frame(from: (Ipv4Addr, u16), to: (Ipv4Addr, u16), number: u32, flags: u8, data: &str) -> Vec<u8> {
    let mut bytes = vec![0; HEADERS];
    bytes.extend(data.as_bytes());
    let len = bytes.len() as u16;
    let mut ip = ipv4::Header::new_checked_mut(&mut bytes).expect("long enough");
    ip.set_version_and_header_len(ipv4::HEADER_LEN);
    ip.set_total_len(len);
    ip.set_ttl(64);
    ip.set_protocol(ip_proto::TCP);
    ip.set_src(from.0);
    ip.set_dst(to.0);
    ip.fill_checksum();
    let segment = &mut bytes[ipv4::HEADER_LEN..];
    segment[12] = 0x50;
    let mut tcp = tcp::Header::new_checked_mut(&mut *segment).expect("long enough");
    tcp.set_src_port(from.1);
    tcp.set_dst_port(to.1);
    tcp.set_sequence(number);
    tcp.set_flags(flags);
    tcp.set_window(65535);
    tcp::fill_checksum_v4(from.0, to.0, segment).expect("long enough");
    [vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], bytes].concat()
}

/// The stream in frames that arrived, and whether it has ended.
fn stream(interface: &Interface, first: u32) -> (String, bool) {
    let (mut got, mut ended) = (Vec::new(), false);
    interface.drain_tap(100, |frame| {
        assert_eq!(frame[..ETHERNET], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        let packet = &frame[ETHERNET..];
        let ip = ipv4::Header::new_checked(packet).expect("a header");
        assert_eq!(usize::from(ip.total_len()), packet.len());
        let segment = &packet[ipv4::HEADER_LEN..];
        tcp::verify_checksum_v4(ip.src(), ip.dst(), segment).expect("a right checksum");
        let header = tcp::Header::new_checked(segment).expect("a header");
        let data = &packet[HEADERS..];
        if !data.is_empty() || header.flags() & flag::FIN != 0 {
            assert_eq!(header.sequence(), first + got.len() as u32, "in order");
        }
        got.extend_from_slice(data);
        ended |= header.flags() & flag::FIN != 0;
    });
    (String::from_utf8(got).expect("text"), ended)
}

#[test]
fn http_filter() {
    let interfaces = ["eth0", "eth1"].map(|name| {
        let tap = Some(TapConfig { every: 1, capacity: 100 });
        Interface::new(name, Config { tap, ..Config::rings(1, 64) })
    });
    let mut router = router(&interfaces);
    let up = |number, flags, data| {
        interfaces[0].inject(0, &frame(CLIENT, SERVER, number, flags, data)).expect("room")
    };
    let down = |number, flags, data| {
        interfaces[1].inject(0, &frame(SERVER, CLIENT, number, flags, data)).expect("room")
    };
    up(99, flag::SYN, "");
    up(100, flag::ACK, "GET / HTTP/1.1\r\nHost: a\r\nAcc");
    up(128, flag::ACK, "ept-Encoding: gzip\r\nVia: rascal\r\n\r\n");
    let text = "What a rascal! And you,\nscoundrel, rasc";
    let answer = format!("HTTP/1.1 200 OK\r\nrascal: x\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    down(499, flag::SYN | flag::ACK, "");
    let (places, mut parts) = ([0, 20, 60, 65, answer.len() - 10, answer.len()], Vec::new());
    for place in places.windows(2) {
        parts.push((500 + place[0] as u32, &answer[place[0]..place[1]]));
    }
    parts.swap(1, 3); // They come in another order,
    parts.push(parts[0]); // and one twice.
    parts.into_iter().for_each(|(number, part)| down(number, flag::ACK, part));
    down(500 + answer.len() as u32, flag::ACK | flag::FIN, "");
    run_to_end(&mut router);

    let (request, _) = stream(&interfaces[1], 100);
    assert_eq!(request, "GET / HTTP/1.1\r\nHost: a\r\nVia: rascal\r\n\r\n");
    let text = "What a [...]! And you,\n[...], rasc";
    let expected = format!("HTTP/1.1 200 OK\r\nrascal: x\r\nContent-Length: {}\r\n\r\n{text}", text.len());
    assert_eq!(stream(&interfaces[0], 500), (expected, true));
    assert_eq!(router.call(Call::read("words.found", "")).as_deref(), Ok("2"));
}
