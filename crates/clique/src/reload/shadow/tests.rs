use super::*;
use click_tools::Text;

/// A UDP datagram in a frame.
fn frame(dport: u16, ttl: u8) -> Vec<u8> {
    let mut ip = [0; 32];
    let mut header = wire::ipv4::Header::new_checked_mut(&mut ip[..]).expect("long enough");
    header.set_version_and_header_len(20);
    header.set_total_len(32);
    header.set_ttl(ttl);
    header.set_protocol(17);
    header.set_src([10, 0, 1, 2].into());
    header.set_dst([10, 0, 2, 2].into());
    header.fill_checksum();
    ip[20..22].copy_from_slice(&1000_u16.to_be_bytes());
    ip[22..24].copy_from_slice(&dport.to_be_bytes());
    ip[25] = 12;
    [&[2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 2, 8, 0][..], &ip].concat()
}

/// Packets that came from eth0, ten milliseconds apart.
fn recording(frames: &[Vec<u8>]) -> Recording {
    let arrived = |(number, bytes): (usize, &Vec<u8>)| Arrived {
        at_ns: 1_700_000_000_000_000_000 + number as i64 * 10_000_000,
        port: 0,
        bytes: bytes.clone(),
    };
    let packets = frames.iter().enumerate().map(arrived).collect();
    Recording { ports: vec!["shadow0".to_owned()], packets, ..Recording::default() }
}

fn compare(recording: &Recording, running: &str, new: &str) -> Result<Report, String> {
    let source = |text: &str| Source {
        text: Text { name: "config".to_owned(), text: text.to_owned() },
        parameters: Vec::new(),
        clickpath: String::new(),
    };
    replay(recording, &source(running), &source(new), &crate::classes(&[]), &Routes::default())
}

const RUNNING: &str = "FromDevice(shadow0) -> Strip(14) -> CheckIPHeader -> f :: IPFilter(allow all)
    -> q :: ARPQuerier(10.0.2.1, 02:00:00:00:02:01) -> Queue -> out :: ToDevice(shadow1);
    FromDevice(shadow1) -> [1] q";

/// The same text, and one in which elements have other names and come in another order, make the same of each packet.
#[test]
fn names_make_no_difference() {
    let packets = recording(&[frame(53, 64), frame(80, 64), frame(53, 1)]);
    let renamed = "x :: ARPQuerier(10.0.2.1, 02:00:00:00:02:01); FromDevice(shadow1) -> [1] x; x -> queue :: Queue
        -> ToDevice(shadow1); FromDevice(shadow0) -> Strip(14) -> CheckIPHeader -> filter :: IPFilter(allow all) -> x";
    for new in [RUNNING, renamed] {
        let report = compare(&packets, RUNNING, new).expect("compared");
        assert!(!report.differs, "{}", report.text());
        // An ARP query, and what waited for its answer.
        assert_eq!(
            report.text(),
            "shadow: 3 packets to both\n  sent by shadow1: 4 running, 4 new\nshadow: no difference\n"
        );
    }
}

/// What is dropped by one is named, with the element and its reason.
#[test]
fn what_only_one_drops_is_named() {
    let packets = recording(&[frame(53, 64), frame(80, 64), frame(53, 64)]);
    let new = RUNNING.replace("allow all", "deny udp port 53, allow all");
    let report = compare(&packets, RUNNING, &new).expect("compared");
    assert!(report.differs);
    assert_eq!(report.interfaces["shadow1"].alone, comparison::Both { running: 2, new: 0 });
    let example = &report.examples[0];
    assert!(example.packet.starts_with("udp 10.0.1.2:1000 > 10.0.2.2:53"), "{}", example.packet);
    assert_eq!(example.interface, "shadow0");
    assert_eq!(example.running, "sent by shadow1");
    assert!(example.new.starts_with("dropped by 'f': "), "{}", example.new);
}

/// A packet that goes by another interface, with other bytes, or twice, is a difference; and so is an interface that is not listened to.
#[test]
fn other_ways_are_found() {
    let packets = recording(&[frame(53, 64)]);
    let running = "FromDevice(shadow0) -> ToDevice(shadow1)";
    for new in [
        "FromDevice(shadow0, PROTOCOL 0x86dd) -> ToDevice(shadow1)",
        "FromDevice(shadow0) -> ToDevice(shadow2)",
        "FromDevice(shadow0) -> Strip(14) -> DecIPTTL -> Unstrip(14) -> ToDevice(shadow1)",
        "FromDevice(shadow0) -> t :: Tee -> q :: Queue -> ToDevice(shadow1); t[1] -> q",
        "FromDevice(shadow3) -> ToDevice(shadow1)",
    ] {
        assert!(compare(&packets, running, new).expect("compared").differs, "{new}");
    }
}

/// What is held back for a time leaves before the end, and what is not the running text's fault is not a difference.
#[test]
fn queues_are_emptied() {
    let packets = recording(&vec![frame(80, 64); 20]);
    let slow = "FromDevice(shadow0) -> Queue -> Shaper(20) -> ToDevice(shadow1)";
    let report = compare(&packets, "FromDevice(shadow0) -> ToDevice(shadow1)", slow).expect("compared");
    assert!(!report.differs, "{}", report.text());
}

/// Packets of the kernel, bare or in frames, come in and go out as on interfaces.
#[test]
fn the_host_is_an_interface() {
    let mut packets = recording(&[frame(53, 64)[14..].to_vec()]);
    let running = "FromHost(shadow0, TYPE IP) -> c :: IPClassifier(dst udp port 53, -); c[0] -> ToHost(shadow0); c[1] -> Discard";
    let report = compare(&packets, running, running).expect("compared");
    assert_eq!(
        (report.differs, report.interfaces["shadow0"].sent),
        (false, comparison::Both { running: 1, new: 1 })
    );
    packets.packets[0].bytes = frame(53, 64);
    // The only interface to the kernel need not be named, and what it sends has its IP header marked.
    let frames = "FromDevice(a0) -> Discard; FromDevice(z0) -> Discard;
        FromHost(shadow0) -> c :: IPClassifier(dst udp port 53, -); c[0] -> ToHost; c[1] -> Discard";
    let report = compare(&packets, frames, frames).expect("compared");
    assert_eq!(report.interfaces["shadow0"].sent, comparison::Both { running: 1, new: 1 });
    let tap = "k :: KernelTap(10.0.0.1/24, DEVNAME shadow0) -> k";
    let report = compare(&packets, tap, tap).expect("compared");
    assert_eq!(report.interfaces["shadow0"].sent, comparison::Both { running: 1, new: 1 });
}

/// Without packets there is no difference, and nothing is shown either.
#[test]
fn silence_shows_nothing() {
    let report = compare(&recording(&[]), RUNNING, RUNNING).expect("compared");
    assert!(!report.differs && !report.is_good() && report.text().ends_with("which shows nothing\n"));
    assert!(compare(&recording(&[frame(80, 64)]), RUNNING, RUNNING).expect("compared").is_good());
}

/// What cannot run in shadow is refused and named.
#[test]
fn refusals_are_plain() {
    let packets = recording(&[]);
    let passes = "FromDevice(shadow0) -> Discard";
    let said = |new| compare(&packets, passes, new).expect_err("refused");
    let expected = "config cannot run in shadow:\n's' (Socket) opens a socket";
    assert_eq!(said("s :: Socket(TCP, 127.0.0.1, 80) -> Discard"), expected);
    assert!(said("InfiniteSource -> Discard").contains("without end"));
    assert!(
        said("a :: FromDevice(x) -> Discard; b :: FromDevice(x) -> Discard")
            .contains("'a' and 'b' receive from 'x'")
    );
}

/// Where another element comes before it, a translator chooses the same ports.
#[test]
fn ports_are_chosen_alike() {
    let packets: Vec<_> = (0..50).map(|port| frame(1000 + port, 64)).collect();
    let text = "FromDevice(shadow0) -> Strip(14) -> CheckIPHeader -> rw :: IPRewriter(pattern 10.0.2.1 1024-65535 - - 0 1)
        -> EtherEncap(0x0800, 02:00:00:00:00:01, 02:00:00:00:00:02) -> ToDevice(shadow1); rw[1] -> Discard";
    let new = format!("Idle -> c :: Counter -> Discard; {text}");
    let report = compare(&recording(&packets), text, &new).expect("compared");
    assert!(!report.differs, "{}", report.text());
    assert_eq!(report.interfaces["shadow1"].sent, comparison::Both { running: 50, new: 50 });
}
