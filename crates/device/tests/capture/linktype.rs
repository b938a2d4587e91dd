use clique_device::capture::LinkType;
use proptest::prelude::*;

use crate::fixture::{Bytes, read_good, some_packets};

#[test]
fn numbers_of_link_types() {
    for code in [0, 1, 101, 105, 108, 113, 228, 229, 276, 99_999] {
        assert_eq!(LinkType::from_code(code).code(), code);
    }
    assert_eq!(LinkType::from_code(12), LinkType::RawIp);
    assert_eq!(LinkType::from_code(14), LinkType::RawIp);
    assert_eq!(LinkType::from_code(105), LinkType::Other(105));
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
        (LinkType::Other(105), frame(&ethernet(&[8, 0]), 4), None),
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
