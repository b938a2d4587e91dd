use clique_device::capture::{ErrorKind, LinkType, RECORD_LEN_MAX, Reader};
use proptest::prelude::*;

use crate::fixture::{Bytes, Wanted, pcap, read_all, read_good, some_packets};

/// A pcapng file with several kinds of blocks.
fn pcapng(big: bool) -> Vec<u8> {
    let mut file = Bytes::new(big).section().interface(1, 0).block(0xbad, |b| b.raw(b"custom"));
    for packet in some_packets() {
        file = file.enhanced(0, packet.time_ns as u64 / 1000, packet.orig_len, &packet.bytes);
    }
    file.block(3, |b| b.u32(4).raw(b"abcd")).section().interface(101, 0).enhanced(0, 5, 3, b"xyz").out
}

/// Offsets at which `file` may end without an error: the boundaries between records or blocks. Cuts in front of `header` leave too little.
fn assert_cuts(file: &[u8], header: usize, clean_cuts: &[usize]) {
    let expected = read_good(file);
    for cut in 0..file.len() {
        let (records, error) = read_all(&file[..cut]);
        assert!(expected.starts_with(&records), "cut at {cut}: not a prefix");
        assert_eq!(error.is_none(), clean_cuts.contains(&cut), "cut at {cut}: {error:?}");
        match error {
            Some(error) if cut == 0 => assert!(matches!(error.kind(), ErrorKind::Empty)),
            Some(error) if cut < header => {
                assert!(matches!(error.kind(), ErrorKind::TooShort));
                assert!(error.to_string().contains("not a tcpdump file (too short)"), "{error}");
            }
            Some(error) => {
                assert!(matches!(error.kind(), ErrorKind::Truncated), "cut at {cut}: {error}");
                assert!(error.offset().unwrap() <= cut as u64);
            }
            None => {}
        }
    }
}

#[test]
fn a_pcap_cut_anywhere_gives_a_good_prefix() {
    let packets = some_packets();
    let mut clean = vec![24];
    for packet in &packets {
        clean.push(clean[clean.len() - 1] + 16 + packet.bytes.len());
    }
    for big in [false, true] {
        assert_cuts(&pcap(big, false, 1, &packets), 24, &clean);
    }
}

#[test]
fn a_pcapng_cut_anywhere_gives_a_good_prefix() {
    for big in [false, true] {
        let file = pcapng(big);
        let mut clean = Vec::new();
        let mut at = 0;
        while at < file.len() {
            let length = file[at + 4..at + 8].try_into().unwrap();
            at += if big { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) } as usize;
            clean.push(at);
        }
        assert_cuts(&file, 4, &clean);
    }
}

#[test]
fn a_truncated_record_is_described() {
    let file = pcap(false, false, 1, &some_packets());
    let (records, error) = read_all(&file[..file.len() - 1]);
    assert_eq!(records.len(), 4);
    let error = error.unwrap();
    // 24 bytes of header, 4 record headers of 16, and 0 + 7 + 14 + 21 bytes of packets.
    assert_eq!(error.offset(), Some(24 + 4 * 16 + 42));
    let text = error.to_string();
    assert!(text.starts_with("test: record 5, byte 130: "), "{text}");
    assert!(text.contains("ends in the middle"), "{text}");
    assert!(text.ends_with("good records before it: 4"), "{text}");
}

#[test]
fn absurd_lengths_are_refused() {
    let packets = some_packets();
    for length in [RECORD_LEN_MAX + 1, 0x7fff_ffff, u32::MAX] {
        let file = Bytes::new(true).raw(&pcap(true, false, 1, &packets)).u32(0).u32(0).u32(length).u32(0).out;
        let (records, error) = read_all(&file);
        assert_eq!(records.len(), packets.len());
        let error = error.unwrap();
        assert!(matches!(error.kind(), ErrorKind::RecordTooLong { length: l } if *l == length), "{error}");
        assert!(error.to_string().contains("record 6, byte "), "{error}");
    }
    let longest = vec![1; RECORD_LEN_MAX as usize];
    let file = Bytes::new(false).raw(&pcap(false, false, 1, &[])).u32(0).u32(0).u32(RECORD_LEN_MAX).u32(0);
    assert_eq!(read_good(&file.raw(&longest).out)[0].1, longest);
}

#[test]
fn contradictory_blocks_are_refused() {
    let start = || Bytes::new(false).section().interface(1, 0).enhanced(0, 1, 1, &[9]);
    let cases = [
        ("multiple of four", start().u32(7).u32(13).raw(&[0; 13])),
        ("shorter than its frame", start().u32(7).u32(8)),
        ("absurdly long", start().u32(7).u32(0x7000_0000)),
        ("two lengths", start().u32(7).u32(12).u32(16)),
        ("has not been described", start().enhanced(1, 0, 1, &[1])),
        ("packet block is too short", start().block(6, |b| b.u32(0))),
        ("simple packet block is too short", start().block(3, |b| b)),
        ("longer than its block", start().block(6, |b| b.u32(0).u64(0).u32(5).u32(5).u32(0))),
        ("interface description is too short", start().block(1, |b| b.u32(0))),
        ("no byte-order magic", start().block(0x0a0d0d0a, |b| b.u32(1).u32(2).u64(3))),
        ("section header is too short", start().block(0x0a0d0d0a, |b| b.u32(0x1a2b3c4d).u16(1).u16(0))),
    ];
    for (what, file) in cases {
        let (records, error) = read_all(&file.out);
        assert_eq!(records.len(), 1, "{what}: the good prefix");
        let error = error.expect(what);
        assert!(error.to_string().contains(what), "{what} is not in: {error}");
        // Section 28, interface 20, packet 36 bytes.
        assert_eq!(error.offset(), Some(84), "{what}");
    }
    let (_, error) = read_all(&Bytes::new(false).section().enhanced(0, 0, 1, &[1]).out);
    assert!(error.unwrap().to_string().contains("has not been described"));
}

/// All that can be read although records are bad, the number of those, and what is said of the first.
fn read_on(file: &[u8]) -> (Vec<Vec<u8>>, u64, String) {
    let mut reader = Reader::from_read(Box::new(std::io::Cursor::new(file.to_vec())), "test").unwrap();
    let (mut packets, mut buf) = (Vec::new(), Vec::new());
    while reader.next(&mut buf).unwrap().is_some() {
        packets.push(buf.clone());
    }
    let said = reader.complaint().map_or(String::new(), |error| error.to_string());
    assert!(reader.complaint().is_none(), "it is said once");
    (packets, reader.skipped(), said)
}

/// Packets whose bytes look like nothing in particular.
fn packets(count: u8) -> Vec<Wanted> {
    let bytes = |i: u8| (0..60 + i).map(|b| b.wrapping_mul(37) ^ i).collect();
    let packet = |i: u8| Wanted {
        time_ns: (1_700_000_000 + i64::from(i)) * 1_000_000_000,
        orig_len: 100,
        bytes: bytes(i),
    };
    (0..count).map(packet).collect()
}

/// A record whose length is wrong costs itself, wherever it stands and whatever the length, and the others are read.
#[test]
fn one_bad_length_costs_one_record() {
    let packets = packets(10);
    for (big, nanoseconds) in [(false, false), (true, false), (false, true), (true, true)] {
        let good = pcap(big, nanoseconds, 1, &packets);
        let mut at = 24;
        for (bad, packet) in packets.iter().enumerate().take(9) {
            for length in [RECORD_LEN_MAX + 1, 0x7fff_ffff, u32::MAX, 50_000] {
                let mut file = good.clone();
                let bytes = if big { length.to_be_bytes() } else { length.to_le_bytes() };
                file[at + 8..at + 12].copy_from_slice(&bytes);
                let (read, skipped, said) = read_on(&file);
                let expected: Vec<_> = packets
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| *i != bad)
                    .map(|(_, p)| p.bytes.clone())
                    .collect();
                assert_eq!(read, expected, "record {bad} claims {length}");
                assert_eq!(skipped, 1);
                assert!(said.starts_with(&format!("test: record {}, byte {at}: ", bad + 1)), "{said}");
                assert!(said.ends_with("; it is skipped"), "{said}");
            }
            at += 16 + packet.bytes.len();
        }
    }
}

/// Records that are whole but longer than any is believed to be cost nothing else, also as the last and several together.
#[test]
fn records_of_an_absurd_length_are_skipped() {
    let long = vec![0x5a; 3_000_000];
    let packets = packets(3);
    let record = |file: Bytes, bytes: &[u8]| {
        file.u32(1_700_000_000).u32(0).u32(bytes.len() as u32).u32(bytes.len() as u32).raw(bytes)
    };
    let mut file = Bytes::new(false).raw(&pcap(false, false, 1, &packets[..1]));
    for bytes in [&long[..], &long[..400_000], &packets[1].bytes, &packets[2].bytes, &long[..300_000]] {
        file = record(file, bytes);
    }
    let (read, skipped, said) = read_on(&file.out);
    assert_eq!(read, packets.iter().map(|packet| packet.bytes.clone()).collect::<Vec<_>>());
    assert_eq!(skipped, 3);
    assert!(
        said.contains("claims 3000000 bytes, more than 262144 are not plausible; it is skipped"),
        "{said}"
    );
}

/// Bytes that are too many or too few put a capture out of step; it gets into step again.
#[test]
fn a_capture_out_of_step_is_read_on() {
    let packets = packets(10);
    let good = pcap(false, false, 1, &packets);
    let third = 24 + 2 * 16 + 60 + 61;
    let inserted = [&good[..third], &[0xee; 13], &good[third..]].concat();
    let (read, skipped, _) = read_on(&inserted);
    assert_eq!((read.len(), skipped), (10, 1), "all are there, and what lies between counts as one");
    let deleted = [&good[..third], &good[third + 30..]].concat();
    let (read, skipped, _) = read_on(&deleted);
    assert_eq!((read.len(), skipped), (9, 1));
    assert_eq!(read[2], packets[3].bytes);
}

/// What is wrong within a pcapng block, or with its lengths, costs that block.
#[test]
fn bad_blocks_are_skipped() {
    for big in [false, true] {
        let start = || Bytes::new(big).section().interface(1, 0).enhanced(0, 1, 1, &[9]);
        let cases = [
            ("multiple of four", start().u32(7).u32(13).raw(&[1; 12])),
            ("shorter than its frame", start().u32(7).u32(8)),
            ("absurdly long", start().u32(7).u32(0x7000_0000)),
            ("two lengths", start().u32(7).u32(12).u32(16)),
            ("claims more bytes than the capture has", start().u32(6).u32(0x1000).raw(&[1; 24])),
            ("has not been described", start().enhanced(1, 0, 1, &[1])),
            ("packet block is too short", start().block(6, |b| b.u32(0))),
            ("simple packet block is too short", start().block(3, |b| b)),
            ("longer than its block", start().block(6, |b| b.u32(0).u64(0).u32(5).u32(5).u32(0))),
            ("claims 300000 bytes", start().enhanced(0, 2, 300_000, &vec![1; 300_000])),
            ("interface description is too short", start().block(1, |b| b.u32(0))),
        ];
        for (what, file) in cases {
            // The last block has another byte order: it begins a section.
            let file = file.enhanced(0, 2, 2, &[7]).out;
            let other = Bytes::new(!big).raw(&file).section().interface(101, 0).enhanced(0, 3, 3, &[8]);
            let (read, skipped, said) = read_on(&other.out);
            assert_eq!(read, [[9], [7], [8]], "{what}: {said}");
            assert_eq!(skipped, 1, "{what}");
            assert!(said.starts_with("test: record 2, byte 84: ") && said.contains(what), "{said}");
        }
    }
}

/// A description that cannot be read keeps its number: the packets of the others stay theirs.
#[test]
fn a_bad_interface_keeps_its_number() {
    let file = Bytes::new(false).section().interface(1, 0).block(1, |b| b.u32(0)).interface(101, 0);
    let file = file.enhanced(1, 0, 1, &[1]).enhanced(2, 0, 1, &[2]);
    let (read, _) = read_all(&file.out);
    assert_eq!(read.len(), 1);
    assert_eq!((read[0].0.linktype, &read[0].1[..]), (LinkType::RawIp, &[2][..]));
}

#[test]
fn unknown_versions_and_formats_are_named() {
    let (_, error) = read_all(&Bytes::new(false).u32(0xa1b2c3d4).u16(3).u16(1).raw(&[0; 16]).out);
    assert!(matches!(error.unwrap().kind(), ErrorKind::Version { major: 3, minor: 1 }));
    let (_, error) =
        read_all(&Bytes::new(true).block(0x0a0d0d0a, |b| b.u32(0x1a2b3c4d).u16(2).u16(0).u64(0)).out);
    assert!(matches!(error.unwrap().kind(), ErrorKind::Version { major: 2, minor: 0 }));
    let (_, error) = read_all(b"<html> and at least a whole header of it");
    let error = error.unwrap();
    assert!(matches!(error.kind(), ErrorKind::NotACapture { magic: [0x3c, 0x68, 0x74, 0x6d] }), "{error}");
    assert!(error.to_string().contains("not a tcpdump file"), "{error}");
    let error = Reader::open("/nonexistent.pcap").err().unwrap();
    assert_eq!(error.to_string(), "/nonexistent.pcap: No such file or directory");
    assert!(matches!(Reader::open("/").err().unwrap().kind(), ErrorKind::Open(_)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), start in 0..6_usize) {
        let starts: [&[u8]; 6] = [
            b"", &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0], &[0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4],
            &[0xa, 0xd, 0xd, 0xa, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0], &[0x1f, 0x8b, 8, 0],
            &[0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4, 0xe6, 0xd6, 0xb4, 0x46],
        ];
        let (records, _) = read_all(&[starts[start], &bytes].concat());
        let total: usize = records.iter().map(|(_, bytes)| bytes.len()).sum();
        prop_assert!(total <= bytes.len() || start >= 4, "more bytes of packets than of file");
    }

    #[test]
    fn overwritten_bytes_never_panic(big: bool, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        for mut file in [pcapng(big), pcap(big, true, 1, &some_packets())] {
            for (at, value) in &changes {
                let at = at.index(file.len());
                file[at] = *value;
            }
            let (records, _) = read_all(&file);
            prop_assert!(records.iter().all(|(record, bytes)| record.orig_len as usize >= bytes.len()));
        }
    }
}
