//! Explicit congestion notification: marks go through tunnels as RFC 6040 has it, and through reassembly as RFC 3168 does.

use elements_testing::{Flow, send};
use wire::{ipv4, ipv6};

const KEY: &str = r"KEY \<00112233 44556677 8899aabb ccddeeff 01020304>";

/// The marks: not ECT, ECT(0), ECT(1), CE.
const MARKS: [u8; 4] = [0, 2, 1, 3];

/// A packet of either version with this mark, for `MarkIPHeader` or the like.
fn packet(six: bool, mark: u8) -> Vec<u8> {
    if six {
        return [&[0x60, mark << 4, 0, 0, 0, 8, 59, 64][..], &[0x20; 32], &[7; 8]].concat();
    }
    let mut data =
        [&[0x45, mark, 0, 28, 0, 1, 0, 0, 64, 99, 0, 0, 10, 0, 0, 1, 10, 0, 1, 2][..], &[7; 8]].concat();
    ipv4::fill_checksum(&mut data).expect("a header");
    data
}

/// The mark of a packet, whose header must be right.
fn mark(data: &[u8]) -> u8 {
    if data[0] >> 4 == 6 {
        assert_eq!(ipv6::check(data), Ok(data.len()));
        return data[1] >> 4 & 3;
    }
    assert!(ipv4::check(data, true).is_ok(), "{data:02x?}");
    data[1] & 3
}

fn run(config: &str, packets: Vec<Vec<u8>>) -> Flow {
    send(&elements::classes(), config, packets)
}

/// What puts packets into others, with the outer header left out, and what takes them out of those.
fn tunnels(six: bool) -> [(u8, String, String); 3] {
    let (own, ether) = if six { (41, "0x86dd") } else { (4, "0x0800") };
    let (esp, open) = (format!("ESPEncap(300, {KEY}) -> "), format!(" -> ESPDecap(300, {KEY})"));
    let gre = format!("GREEncap({ether}, KEY 5) -> ");
    [(own, String::new(), String::new()), (50, esp, open), (47, gre, " -> StripGREHeader".to_owned())]
}

/// In and out of each tunnel with each mark, and each mark that the way gives the outer header.
#[test]
fn marks_go_into_tunnels_and_come_out() {
    for (inner_six, outer_six) in [(false, false), (false, true), (true, false), (true, true)] {
        let [encap, ends, check, set] = if outer_six {
            ["IP6Encap", "2001:db8::1, 2001:db8::2", "CheckIP6Header", "SetIP6ECN"]
        } else {
            ["IPEncap", "192.0.2.1, 192.0.2.2", "CheckIPHeader", "SetIPECN"]
        };
        for (protocol, enter, leave) in tunnels(inner_six) {
            for (outer, column) in MARKS.into_iter().zip(0..) {
                let config = format!(
                    "Inject -> {enter}{encap}({protocol}, {ends}) -> between :: Tee -> Collect(0);
                     between[1] -> {check} -> {set}({outer}) -> StripIPHeader{leave} -> Collect(1)"
                );
                let flow = run(&config, MARKS.map(|mark| packet(inner_six, mark)).into());
                let entered: Vec<u8> = flow.data(0).iter().map(|data| mark(data)).collect();
                assert_eq!(entered, MARKS, "{config}");
                let left: Vec<u8> = flow.data(1).iter().map(|data| mark(data)).collect();
                // RFC 6040, section 4.2, by columns. What is not ECT inside is dropped if there was congestion.
                let expected: &[u8] = [&[0, 2, 1, 3][..], &[0, 2, 1, 3], &[0, 1, 1, 3], &[3, 3, 3]][column];
                assert_eq!(left, expected, "{config}");
            }
        }
    }
}

/// Marks go through UDP where both ends of a tunnel are told so, and stay out of the outer header otherwise (RFC 9601).
#[test]
fn marks_go_through_udp_if_both_ends_say_so() {
    for (inner_six, outer_six) in [(false, false), (false, true), (true, false), (true, true)] {
        let [encap, check, set] = if outer_six {
            ["UDPIP6Encap(2001:db8::1, 9, 2001:db8::2, 9", "CheckIP6Header", "SetIP6ECN"]
        } else {
            ["UDPIPEncap(192.0.2.1, 9, 192.0.2.2, 9", "CheckIPHeader", "SetIPECN"]
        };
        let packets = || MARKS.map(|mark| packet(inner_six, mark)).into();
        for (outer, column) in MARKS.into_iter().zip(0..) {
            let config = format!(
                "Inject -> {encap}, ECN true) -> between :: Tee -> Collect(0);
                 between[1] -> {check} -> {set}({outer}) -> StripTransportHeader(ECN true) -> Collect(1)"
            );
            let flow = run(&config, packets());
            assert_eq!(flow.data(0).iter().map(|data| mark(data)).collect::<Vec<_>>(), MARKS, "{config}");
            let left: Vec<u8> = flow.data(1).iter().map(|data| mark(data)).collect();
            let expected: &[u8] = [&[0, 2, 1, 3][..], &[0, 2, 1, 3], &[0, 1, 1, 3], &[3, 3, 3]][column];
            assert_eq!(left, expected, "{config}");
        }
        let config = format!(
            "Inject -> {encap}) -> between :: Tee -> Collect(0);
             between[1] -> {check} -> {set}(3) -> StripTransportHeader -> Collect(1)"
        );
        let flow = run(&config, packets());
        assert_eq!(flow.data(0).iter().map(|data| mark(data)).collect::<Vec<_>>(), [0; 4], "{config}");
        assert_eq!(flow.data(1), MARKS.map(|mark| packet(inner_six, mark)), "{config}");
    }
}

/// A mark that the configuration says stays.
#[test]
fn a_fixed_mark_is_no_packets() {
    for (config, expected) in [
        ("IPEncap(4, 1.0.0.1, 2.0.0.2, TOS 0)", 0),
        ("IPEncap(4, 1.0.0.1, 2.0.0.2, ECT 2)", 2),
        ("IPEncap(udp, 1.0.0.1, 2.0.0.2)", 0),
        ("IP6Encap(4, ::1, ::2, CLASS 0)", 0),
        ("IPEncap(4, 1.0.0.1, 2.0.0.2, DSCP 46)", 3),
    ] {
        let flow = run(&format!("Inject -> {config} -> Collect(0)"), vec![packet(false, 3)]);
        assert_eq!(mark(flow.only(0).data()), expected, "{config}");
    }
}

/// Three fragments with these marks, put together.
fn reassembled(six: bool, marks: [u8; 3]) -> Vec<Vec<u8>> {
    let fragment = |(i, mark): (usize, u8)| {
        let more = u8::from(i < 2);
        if six {
            let header = [99, 0, 0, (i as u8) << 3 | more, 0, 0, 0, 9];
            return [&[0x60, mark << 4, 0, 0, 0, 16, 44, 64][..], &[0x20; 32], &header, &[7; 8]].concat();
        }
        let mut data = packet(false, mark);
        (data[6], data[7]) = (more << 5, i as u8);
        ipv4::fill_checksum(&mut data).expect("a header");
        data
    };
    let packets = marks.into_iter().enumerate().map(fragment).collect();
    let check = if six { "MarkIP6Header -> IP6Reassembler" } else { "MarkIPHeader -> IPReassembler" };
    run(&format!("Inject -> {check} -> Collect(0)"), packets).data(0)
}

/// RFC 3168, section 5.3: congestion of one fragment is that of the whole; if another is not ECT, the whole is dropped.
#[test]
fn congestion_of_a_fragment_is_that_of_the_whole() {
    for six in [false, true] {
        for (marks, expected) in [
            ([2, 2, 2], Some(2)),
            ([2, 3, 2], Some(3)),
            ([3, 1, 2], Some(3)),
            ([1, 2, 3], Some(3)),
            ([0, 0, 0], Some(0)),
            ([2, 0, 1], Some(2)),
            ([0, 3, 0], None),
            ([3, 2, 0], None),
        ] {
            let whole = reassembled(six, marks);
            assert_eq!(whole.first().map(|data| mark(data)), expected, "IPv6 {six}: {marks:?}");
        }
    }
}
