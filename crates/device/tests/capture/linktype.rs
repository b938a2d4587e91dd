use clique_device::capture::LinkType;
use proptest::prelude::*;

use crate::fixture::{Bytes, read_good, some_packets};

#[test]
fn numbers_of_link_types() {
    for code in [0, 1, 9, 10, 50, 100, 101, 104, 105, 108, 113, 119, 120, 123, 127, 228, 229, 276, 99_999] {
        assert_eq!(LinkType::from_code(code).code(), code);
    }
    assert_eq!(LinkType::from_code(12), LinkType::RawIp);
    assert_eq!(LinkType::from_code(14), LinkType::RawIp);
    assert_eq!(LinkType::from_code(120), LinkType::Other(120));
}

#[test]
fn the_length_of_a_check_sequence_is_no_part_of_the_link_type() {
    let file = crate::fixture::pcap(true, false, 0x4400_0001, &some_packets());
    assert!(read_good(&file).iter().all(|(record, _)| record.linktype == LinkType::Ethernet));
}

#[test]
fn longer_record_headers_are_skipped() {
    let mut file = Bytes::new(false).u32(0xa1b2cd34).u16(2).u16(4).u64(0).u32(65535).u32(1);
    for byte in [1, 2] {
        file = file.u32(1).u32(2).u32(3).u32(3).u32(0xffff_ffff).u32(0xffff_ffff).raw(&[byte; 3]);
    }
    let read = read_good(&file.out);
    assert_eq!(read.len(), 2);
    assert_eq!(read[1].1, [2; 3]);
    assert_eq!(read[1].0.time_ns, 1_000_002_000);
}

#[test]
fn ip_is_found_behind_each_link_header() {
    let frame = |header: &[u8], version: u8| [header, &[version << 4, 0, 0]].concat();
    let ethernet = |rest: &[u8]| [&[0; 12][..], rest].concat();
    let cases = [
        (LinkType::RawIp, frame(&[], 4), Some(0)),
        (LinkType::RawIp, frame(&[], 6), Some(0)),
        (LinkType::RawIp, frame(&[], 5), None),
        (LinkType::Ipv4, frame(&[], 6), None),
        (LinkType::Ipv6, frame(&[], 6), Some(0)),
        (LinkType::Null, frame(&[2, 0, 0, 0], 4), Some(4)),
        (LinkType::Loop, frame(&[0, 0, 0, 24], 6), Some(4)),
        (LinkType::Ethernet, frame(&ethernet(&[8, 0]), 4), Some(14)),
        (LinkType::Ethernet, frame(&ethernet(&[0x86, 0xdd]), 6), Some(14)),
        (LinkType::Ethernet, frame(&ethernet(&[8, 6]), 4), None),
        (LinkType::Ethernet, frame(&ethernet(&[0x81, 0, 0, 5, 8, 0]), 4), Some(18)),
        (LinkType::Ethernet, frame(&ethernet(&[0x88, 0xa8, 0, 1, 0x81, 0, 0, 5, 8, 0]), 4), Some(22)),
        (LinkType::LinuxSll, frame(&[&[0; 14][..], &[8, 0]].concat(), 4), Some(16)),
        (LinkType::LinuxSll2, frame(&[&[8, 0][..], &[0; 18]].concat(), 4), Some(20)),
        (LinkType::LinuxSll2, frame(&[&[8, 6][..], &[0; 18]].concat(), 4), None),
        (LinkType::Other(120), frame(&ethernet(&[8, 0]), 4), None),
    ];
    for (linktype, frame, expected) in cases {
        assert_eq!(linktype.ip_offset(&frame), expected, "{linktype}: {frame:02x?}");
    }
}

/// LLC with a SNAP header that has an organisation and an Ethernet type or a protocol.
fn snap(organisation: [u8; 3], kind: u16) -> Vec<u8> {
    [&[0xaa, 0xaa, 3], &organisation[..], &kind.to_be_bytes()].concat()
}

#[test]
fn ip_is_found_behind_link_headers_of_other_networks() {
    let frame = |parts: &[&[u8]]| [&parts.concat()[..], &[0x45, 0, 0]].concat();
    let ip = &snap([0; 3], 0x800)[..];
    let fddi = &[&[0x57][..], &[0; 12]].concat()[..];
    let wlan = |control: [u8; 2], len: usize| [&control[..], &vec![0; len - 2]].concat();
    let ethernet = &[&[0; 12][..], &[8, 0]].concat()[..];
    let cases = [
        (LinkType::Ppp, frame(&[&[0x21]]), Some(1)),
        (LinkType::Ppp, frame(&[&[0, 0x57]]), Some(2)),
        (LinkType::Ppp, frame(&[&[0xff, 3, 0, 0x21]]), Some(4)),
        (LinkType::Ppp, frame(&[&[0xc0, 0x21]]), None),
        (LinkType::PppHdlc, frame(&[&[0xff, 3, 0, 0x21]]), Some(4)),
        (LinkType::PppHdlc, frame(&[&[0x8f, 0, 8, 0]]), Some(4)),
        (LinkType::PppHdlc, frame(&[&[0, 0, 8, 0]]), None),
        (LinkType::CiscoHdlc, frame(&[&[0x0f, 0, 0x86, 0xdd]]), Some(4)),
        (LinkType::CiscoHdlc, frame(&[&[0x0f, 0, 0x80, 0x35]]), None),
        (LinkType::AtmLlc, frame(&[ip]), Some(8)),
        (LinkType::AtmLlc, frame(&[&snap([0, 0, 0xf8], 0x800)]), Some(8)),
        (LinkType::AtmLlc, frame(&[&snap([0; 3], 0x806)]), None),
        (LinkType::AtmLlc, frame(&[&snap([0, 0x80, 0xc2], 7), ethernet]), Some(22)),
        (LinkType::AtmLlc, frame(&[&snap([0, 0x80, 0xc2], 10), &[0], fddi, ip]), Some(30)),
        (LinkType::AtmLlc, frame(&[&[6, 6, 3, 0]]), Some(4)),
        (LinkType::SunAtm, frame(&[&[2, 1, 0, 5], ip]), Some(12)),
        (LinkType::Fddi, frame(&[fddi, ip]), Some(21)),
        (LinkType::Fddi, frame(&[&[0x40; 13], ip]), None),
        (LinkType::Ieee80211, frame(&[&wlan([8, 1], 24), ip]), Some(32)),
        (LinkType::Ieee80211, frame(&[&wlan([8, 3], 30), ip]), Some(38)),
        (LinkType::Ieee80211, frame(&[&wlan([0x80, 0], 24), ip]), None),
        (LinkType::Prism, frame(&[&[0; 144], &wlan([8, 2], 24), ip]), Some(176)),
        (LinkType::Radiotap, frame(&[&[0, 0, 9, 0, 0, 0, 0, 0, 0], &wlan([8, 1], 24), ip]), Some(41)),
        (LinkType::Radiotap, frame(&[&[0, 0, 7, 0, 0, 0, 0], &wlan([8, 1], 24), ip]), None),
    ];
    for (linktype, frame, expected) in cases {
        assert_eq!(linktype.ip_offset(&frame), expected, "{linktype}: {frame:02x?}");
    }
}

proptest! {
    #[test]
    fn short_frames_have_no_ip(frame in prop::collection::vec(any::<u8>(), 0..40), code in 0..300_u32) {
        if let Some(offset) = LinkType::from_code(code).ip_offset(&frame) {
            prop_assert!(offset < frame.len());
        }
    }
}
