//! Traces of NLANR and of DAG cards.

use clique_device::capture::{Error, ErrorKind, Kind, LinkType, Nlanr, Reader, Record};
use proptest::prelude::*;
use std::io::Cursor;

type Read = (Vec<(Record, Vec<u8>)>, Option<Error>, Option<String>);

/// The records of a trace, the error at its end, and what was odd.
fn read(trace: &[u8], kind: Kind) -> Read {
    let mut records = Vec::new();
    let mut reader = match Reader::from_read_as(Box::new(Cursor::new(trace.to_vec())), "trace", kind) {
        Ok(reader) => reader,
        Err(error) => return (records, Some(error), None),
    };
    let (mut bytes, mut warning, mut at) = (Vec::new(), None, reader.offset());
    assert_eq!(at, 0);
    loop {
        match reader.next(&mut bytes) {
            Ok(Some(record)) => records.push((record, bytes.clone())),
            Ok(None) => return (records, None, warning),
            Err(error) => {
                assert!(error.to_string().contains(&format!("byte {at}: ")), "{error} at {at}");
                assert_eq!(error.records_good(), records.len() as u64);
                return (records, Some(error), warning);
            }
        }
        warning = warning.or(reader.take_warning());
        at = reader.offset();
    }
}

fn record(time_ns: i64, orig_len: u32, linktype: LinkType) -> Record {
    Record { time_ns, orig_len, linktype, interface: 0 }
}

/// A cell of 44 bytes: second 7, microsecond 5, perhaps a link, an IP and a TCP header.
fn tsh(link: u8) -> Vec<u8> {
    let mut cell = vec![0, 0, 0, 7, link, 0, 0, 5];
    cell.extend((0..36).map(|i| if i == 0 { 0x45 } else { i }));
    cell
}

#[test]
fn long_cells() {
    let trace = [tsh(3), tsh(0)].concat();
    let (records, error, _) = read(&trace, Kind::Nlanr(Nlanr::Tsh));
    let expected = Record { interface: 3, ..record(7_000_005_000, 36, LinkType::RawIp) };
    assert!(error.is_none() && records.len() == 2);
    assert_eq!(records[0], (expected, tsh(0)[8..].to_vec()));
    // Without a link the byte belongs to the time.
    let (records, _, _) = read(&trace, Kind::Nlanr(Nlanr::FrPlus));
    assert_eq!(records[0].0, record(7_000_000_000 + ((3 << 24) + 5) * 1000, 36, LinkType::RawIp));
    assert_eq!(records[1].0, record(7_000_005_000, 36, LinkType::RawIp));
}

/// Headers are made of short cells: of TCP, UDP, and others.
#[test]
fn short_cells() {
    let cell = |protocol| {
        let addresses = [10, 0, 0, 1, 10, 0, 0, 2];
        [&[0, 0, 0, 1, 0, 0, 0, 0][..], &addresses, &[1, 44, protocol, 0x12, 0, 80, 0x1f, 0x90]].concat()
    };
    let (records, error, _) = read(&[cell(6), cell(17), cell(50)].concat(), Kind::Nlanr(Nlanr::Fr));
    assert!(error.is_none());
    let ip = |protocol| [0x45, 0, 1, 44, 0, 0, 0, 0, 0, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2].to_vec();
    let tcp = [0, 80, 0x1f, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x12, 0, 0, 0, 0, 0, 0];
    let udp = [0, 80, 0x1f, 0x90, 1, 24, 0, 0];
    let expected = [[&ip(6)[..], &tcp].concat(), [&ip(17)[..], &udp].concat(), ip(50)];
    assert_eq!(records.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>(), expected);
    // A packet shorter than its header has no data.
    let mut short = cell(17);
    (short[16], short[17]) = (0, 10);
    assert_eq!(read(&short, Kind::Nlanr(Nlanr::Fr)).0[0].1[24..], [0; 4]);
}

/// A record of half a second after second 9.
fn erf(kind: u8, record_len: u16, wire_len: u16, body: &[u8]) -> Vec<u8> {
    let mut out = vec![0, 0, 0, 0x80, 9, 0, 0, 0, kind, 0];
    out.extend(record_len.to_be_bytes());
    out.extend([0, 0]);
    out.extend(wire_len.to_be_bytes());
    out.extend(body);
    out
}

/// The link type is the record's; the pad in front of an Ethernet header and behind a short packet is none of its bytes.
#[test]
fn typed_records() {
    let body: Vec<u8> = (0..24).collect();
    let trace = [
        erf(2, 40, 22, &body), // 18 bytes and the check sequence; 22 are there
        erf(2, 40, 1004, &body),
        erf(1, 40, 24, &body),
        erf(3, 40, 0, &body),
        erf(4, 16, 5, &[]),
    ]
    .concat();
    let (records, error, warning) = read(&trace, Kind::Dag(None));
    assert!(error.is_none() && warning.is_none());
    let at = 9_500_000_000;
    let expected = [
        (record(at, 18, LinkType::Ethernet), &body[2..20]),
        (record(at, 1000, LinkType::Ethernet), &body[2..]),
        (record(at, 24, LinkType::CiscoHdlc), &body[..]),
        (record(at, 24, LinkType::SunAtm), &body[..]),
        (record(at, 5, LinkType::SunAtm), &[]),
    ];
    for (read, (record, bytes)) in records.iter().zip(expected) {
        assert_eq!((read.0, &read.1[..]), (record, bytes));
    }
    let first = |trace: &[u8], old| {
        Reader::from_read_as(Box::new(Cursor::new(trace.to_vec())), "trace", Kind::Dag(old))
            .unwrap()
            .linktype()
    };
    assert_eq!(first(&trace, None), LinkType::Ethernet);
    assert_eq!(first(&trace, Some(LinkType::Ppp)), LinkType::Ppp);
}

/// Where the packet begins in cells without type, and how long it was, depends on the link.
#[test]
fn old_cells() {
    let cell: Vec<u8> = [&[0, 0, 0, 0x80, 9, 0, 0, 0][..], &(8..64).collect::<Vec<u8>>()].concat();
    let at = 9_500_000_000;
    for (linktype, from, orig_len) in [
        (LinkType::AtmLlc, 16, 48),
        (LinkType::Ppp, 16, 48),
        (LinkType::PppHdlc, 16, 48),
        (LinkType::CiscoHdlc, 16, 0x0a0b),
        (LinkType::SunAtm, 12, 52),
        (LinkType::Ethernet, 10, 0x0809),
        (LinkType::RawIp, 8, 56),
    ] {
        let (records, error, warning) = read(&[&cell[..], &cell].concat(), Kind::Dag(Some(linktype)));
        assert!(error.is_none() && warning.is_none() && records.len() == 2);
        assert_eq!(records[1], (record(at, orig_len, linktype), cell[from..].to_vec()));
    }
    // A cell of type 0 does not decide about the next; an odd type does, with a warning.
    let (untyped, typed) = (erf(0, 0, 0, &[7; 48]), erf(1, 24, 8, &[1; 8]));
    let odd = erf(9, 24, 8, &[9; 48]);
    let (records, error, warning) =
        read(&[&untyped[..], &typed, &odd, &typed, &[0; 40]].concat(), Kind::Dag(None));
    let linktypes: Vec<_> = records.iter().map(|(record, _)| record.linktype).collect();
    assert_eq!(linktypes, [LinkType::AtmLlc, LinkType::CiscoHdlc, LinkType::AtmLlc, LinkType::AtmLlc]);
    assert!(error.is_none());
    assert!(warning.unwrap().starts_with("record 3, byte 88: odd type 9; "));
}

/// A fraction just below a whole second becomes the next one, not a thousand million nanoseconds.
#[test]
fn rounded_times() {
    let mut trace = erf(1, 16, 0, &[]);
    for (fraction, ns) in [([0xff; 4], 1_000_000_000), ([4, 0, 0, 0], 1), ([2, 0, 0, 0], 0)] {
        trace[..4].copy_from_slice(&fraction);
        assert_eq!(read(&trace, Kind::Dag(None)).0[0].0.time_ns, 9_000_000_000 + ns);
    }
}

fn is(read: &Read, expected: fn(&ErrorKind) -> bool) -> bool {
    read.1.as_ref().is_some_and(|error| expected(error.kind()))
}

#[test]
fn damage() {
    let kinds = [Kind::Nlanr(Nlanr::Fr), Kind::Nlanr(Nlanr::Tsh), Kind::Dag(None)];
    for kind in kinds {
        assert!(is(&read(&[], kind), |error| matches!(error, ErrorKind::Empty)));
        assert!(is(&read(&[0; 15], kind), |error| matches!(error, ErrorKind::Truncated)));
    }
    let good = erf(2, 40, 22, &[0; 24]);
    for bad in [erf(2, 17, 22, &[0; 24]), erf(1, 15, 22, &[0; 24])] {
        let read = read(&[&good[..], &bad].concat(), Kind::Dag(None));
        assert_eq!(read.0.len(), 1);
        assert!(is(&read, |error| matches!(error, ErrorKind::Malformed { .. })), "{:?}", read.1);
    }
    let read = read(&[&good[..], &good[..39]].concat(), Kind::Dag(None));
    assert!(read.0.len() == 1 && is(&read, |error| matches!(error, ErrorKind::Truncated)));
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Nlanr(Nlanr::Fr),
        Kind::Nlanr(Nlanr::FrPlus),
        Kind::Nlanr(Nlanr::Tsh),
        Kind::Dag(None),
        Kind::Dag(Some(LinkType::Ethernet)),
        Kind::Dag(Some(LinkType::SunAtm)),
    ])
}

proptest! {
    /// Records or an error at a place in the file, never a panic or an endless reader.
    #[test]
    fn any_bytes(trace in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..20], 0..300), kind in kinds()) {
        let (records, _, _) = read(&trace, kind);
        for (record, bytes) in &records {
            prop_assert!(record.orig_len as usize >= bytes.len());
        }
    }
}
