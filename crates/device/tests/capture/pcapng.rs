use clique_device::capture::{LinkType, Reader, Record};

use crate::fixture::{Bytes, read_good};

/// Section, interface with `if_tsresol` 9 and a name, packet of five bytes with a comment; little endian, by hand.
#[rustfmt::skip]
const BY_HAND: &[u8] = &[
    0x0a, 0x0d, 0x0d, 0x0a, 0x1c, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1c, 0, 0, 0,
    1, 0, 0, 0, 0x28, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0,
    2, 0, 3, 0, b'e', b't', b'h', 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, 0,
    6, 0, 0, 0, 0x34, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 0, 60, 0, 0, 0,
    b'h', b'e', b'l', b'l', b'o', 0, 0, 0, 1, 0, 2, 0, b'o', b'k', 0, 0, 0, 0, 0, 0, 0x34, 0, 0, 0,
];

#[test]
fn a_file_written_by_hand_is_read() {
    let read = read_good(BY_HAND);
    let record = Record { time_ns: (1 << 32) + 2, orig_len: 60, linktype: LinkType::Ethernet, interface: 0 };
    assert_eq!(read, [(record, b"hello".to_vec())]);
    let reader = Reader::from_read(Box::new(BY_HAND), "by hand").unwrap();
    assert_eq!((reader.linktype(), reader.snaplen()), (LinkType::Ethernet, 0x40000));
}

fn time_with(options: impl Fn(Bytes) -> Bytes, ticks: u64) -> i64 {
    let times = [false, true].map(|big| {
        let file = Bytes::new(big)
            .section()
            .block(1, |b| options(b.u16(1).u16(0).u32(0)))
            .enhanced(0, ticks, 0, b"");
        read_good(&file.out)[0].0.time_ns
    });
    assert_eq!(times[0], times[1], "byte orders differ");
    times[0]
}

#[test]
fn times_follow_resolution_and_offset() {
    let resolution = |value: u8| move |b: Bytes| b.option(9, &[value]).option(0, &[]);
    assert_eq!(time_with(|b| b, 1_234_567), 1_234_567_000, "microseconds by default");
    assert_eq!(time_with(resolution(0), 7), 7_000_000_000);
    assert_eq!(time_with(resolution(3), 7), 7_000_000);
    assert_eq!(time_with(resolution(9), 7), 7);
    assert_eq!(time_with(resolution(12), 7_999), 7, "picoseconds are cut off");
    assert_eq!(time_with(resolution(0x80 | 1), 3), 1_500_000_000);
    assert_eq!(time_with(resolution(0x80 | 32), (5 << 32) | (1 << 31)), 5_500_000_000);
    assert_eq!(time_with(resolution(127), u64::MAX), 0);
    assert_eq!(time_with(resolution(0xff), u64::MAX), 0);
    assert_eq!(time_with(resolution(0), u64::MAX), i64::MAX, "clamped");

    let offset = |seconds: i64| {
        move |b: Bytes| {
            let bytes = if b.big { seconds.to_be_bytes() } else { seconds.to_le_bytes() };
            b.option(14, &bytes)
        }
    };
    assert_eq!(time_with(offset(10), 1), 10_000_001_000);
    assert_eq!(time_with(offset(-10), 1), -9_999_999_000);
    assert_eq!(time_with(offset(i64::MIN), 1), i64::MIN);
}

#[test]
fn damaged_options_are_passed_over() {
    assert_eq!(time_with(|b| b.option(9, &[9, 9]), 1), 1000, "a resolution of two bytes is none");
    assert_eq!(time_with(|b| b.u16(9).u16(400).u32(9), 1), 1000, "an option longer than the block is none");
    assert_eq!(
        time_with(|b| b.option(0, &[]).option(9, &[9]), 1),
        1000,
        "nothing follows the end of options"
    );
    assert_eq!(time_with(|b| b.option(77, &[1, 2, 3]).option(9, &[9]), 1), 1, "unknown ones are skipped");
}

#[test]
fn sections_bring_their_own_interfaces_and_byte_order() {
    let big = Bytes::new(true).section().interface(101, 0).interface(1, 0).enhanced(1, 1, 9, b"big").out;
    let little = Bytes::new(false)
        .raw(&big)
        .section()
        .interface(113, 0)
        .block(5, |b| b.u32(0).u64(0))
        .enhanced(0, 2, 9, b"little");
    let read = read_good(&little.out);
    assert_eq!(
        read[0],
        (Record { time_ns: 1000, orig_len: 9, linktype: LinkType::Ethernet, interface: 0 }, b"big".to_vec())
    );
    assert_eq!(
        read[1],
        (
            Record { time_ns: 2000, orig_len: 9, linktype: LinkType::LinuxSll, interface: 0 },
            b"little".to_vec()
        )
    );
    assert_eq!(
        Reader::from_read(Box::new(std::io::Cursor::new(big)), "").unwrap().linktype(),
        LinkType::RawIp
    );
}

#[test]
fn simple_and_obsolete_packet_blocks_are_read() {
    let file = Bytes::new(false)
        .section()
        .interface(1, 6)
        .block(3, |b| b.u32(4).raw(b"abcd"))
        .block(3, |b| b.u32(5).raw(b"abcde"))
        .block(3, |b| b.u32(100).raw(b"abcdef"))
        .block(2, |b| b.u16(0).u16(3).u32(0).u32(8).u32(2).u32(60).raw(b"hi").pad().option(1, b"note"));
    let read = read_good(&file.out);
    let simple = |orig_len| Record { time_ns: 0, orig_len, linktype: LinkType::Ethernet, interface: 0 };
    assert_eq!(read[0], (simple(4), b"abcd".to_vec()));
    assert_eq!(read[1], (simple(5), b"abcde".to_vec()));
    assert_eq!(read[2], (simple(100), b"abcdef".to_vec()));
    assert_eq!(
        read[3],
        (Record { time_ns: 8000, orig_len: 60, linktype: LinkType::Ethernet, interface: 0 }, b"hi".to_vec())
    );
}

#[test]
fn a_file_without_packets_is_empty_not_wrong() {
    assert!(read_good(&Bytes::new(true).section().out).is_empty());
    assert!(read_good(&Bytes::new(true).section().interface(1, 0).out).is_empty());
}
