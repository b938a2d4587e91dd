//! What is read and written, held against tshark, over a matrix of formats.

use std::path::Path;
use std::process::Command;

use clique_device::capture::{Format, LinkType, Options, Reader, Writer};

use crate::compression::{bz2, gz, xz, zst};
use crate::fixture::{Bytes, Wanted, pcap};

/// A packet as both programs see it.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    time_ns: i64,
    orig_len: u32,
    linktype: LinkType,
    bytes: Vec<u8>,
}

/// Whether there is a tshark; says so if not.
fn tshark_is_there() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok();
    if !there {
        println!("skipped: tshark is not installed");
    }
    there
}

/// tshark's numbers of encapsulations.
fn linktype(encapsulation: &str) -> LinkType {
    match encapsulation {
        "1" => LinkType::Ethernet,
        "4" => LinkType::Ppp,
        "7" => LinkType::RawIp,
        "15" => LinkType::Null,
        "20" => LinkType::Ieee80211,
        "23" => LinkType::Radiotap,
        "25" => LinkType::LinuxSll,
        "129" => LinkType::Ipv4,
        "130" => LinkType::Ipv6,
        "210" => LinkType::LinuxSll2,
        other => panic!("encapsulation {other} of tshark"),
    }
}

/// What tshark reads.
fn theirs(path: &Path) -> Vec<Seen> {
    let arguments = ["-n", "-T", "json", "-x", "-j", "frame", "-r"];
    let output = Command::new("tshark").args(arguments).arg(path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark of {}: {said}", path.display());
    let packets: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    packets.iter().map(seen).collect()
}

fn seen(packet: &serde_json::Value) -> Seen {
    let layers = &packet["_source"]["layers"];
    let field = |name: &str| layers["frame"][name].as_str().unwrap_or_else(|| panic!("{name}: {layers}"));
    let (seconds, fraction) = field("frame.time_epoch").split_once('.').expect("a fraction");
    let time_ns = seconds.parse::<i64>().unwrap() * 1_000_000_000 + fraction.parse::<i64>().unwrap();
    let hex = layers["frame_raw"][0].as_str().expect("bytes");
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let bytes: Vec<u8> = hex.as_bytes().chunks(2).map(byte).collect();
    assert_eq!(field("frame.cap_len"), bytes.len().to_string());
    let (orig_len, linktype) = (field("frame.len").parse().unwrap(), linktype(field("frame.encap_type")));
    Seen { time_ns, orig_len, linktype, bytes }
}

/// What the reader reads, without a complaint.
fn ours(path: &Path) -> Vec<Seen> {
    let mut reader = Reader::open(path.to_str().unwrap()).unwrap();
    let (mut seen, mut bytes) = (Vec::new(), Vec::new());
    while let Some(record) = reader.next(&mut bytes).unwrap() {
        let (time_ns, orig_len, linktype) = (record.time_ns, record.orig_len, record.linktype);
        seen.push(Seen { time_ns, orig_len, linktype, bytes: bytes.clone() });
    }
    assert!(reader.complaint().is_none());
    seen
}

/// Packets of several lengths and times that end with odd digits.
fn packets() -> Vec<Wanted> {
    let packet = |i: u32| Wanted {
        time_ns: 1_700_000_000_123_456_789 + i64::from(i) * 987_654_321,
        orig_len: if i.is_multiple_of(2) { 50 + i } else { 2000 },
        bytes: (0..50 + i).map(|b| (b * 7) as u8).collect(),
    };
    (0..6).map(packet).collect()
}

/// pcap files: resolutions, byte orders, link types, long record headers, packets longer than a snapshot length says.
fn pcap_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for (big, nanoseconds) in [(false, false), (true, false), (false, true), (true, true)] {
        let all = [0, 1, 9, 101, 105, 113, 127, 228, 229, 276];
        // Link types and byte orders have nothing to do with each other.
        for linktype in if big || nanoseconds { &all[1..2] } else { &all[..] } {
            let name = format!("pcap, big {big}, nanoseconds {nanoseconds}, link type {linktype}");
            files.push((name, pcap(big, nanoseconds, *linktype, &packets())));
        }
        let mut file = Bytes::new(big).u32(0xa1b2cd34).u16(2).u16(4).u64(0).u32(65535).u32(1);
        for packet in packets() {
            let length = packet.bytes.len() as u32;
            file = file.u32(5).u32(7).u32(length).u32(packet.orig_len.max(length));
            file = file.u32(3).u16(0x800).raw(&[0, 0]).raw(&packet.bytes);
        }
        files.push((format!("long record headers, big {big}"), file.out));
        let magic = if nanoseconds { 0xa1b23c4d } else { 0xa1b2c3d4 };
        let long = vec![6; 65_549];
        let mut file = Bytes::new(big).u32(magic).u16(2).u16(4).u64(0).u32(262_144).u32(1);
        for bytes in [&long[..60], &long, &long[..14]] {
            file = file.u32(9).u32(8).u32(bytes.len() as u32).u32(bytes.len() as u32).raw(bytes);
        }
        files.push((format!("a long packet, big {big}, nanoseconds {nanoseconds}"), file.out));
    }
    files
}

/// pcapng files: byte orders, several interfaces with link types and clocks of their own, all kinds of packet blocks, sections.
fn pcapng_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for big in [false, true] {
        let clock = |file: Bytes, linktype: u16, resolution: u8| {
            file.block(1, |b| b.u16(linktype).u16(0).u32(0).option(9, &[resolution]).option(0, &[]))
        };
        let mut file = Bytes::new(big).section().interface(1, 0).interface(101, 0).interface(113, 0);
        for (i, packet) in packets().iter().enumerate() {
            let orig_len = packet.orig_len.max(packet.bytes.len() as u32);
            file = file.enhanced(i as u32 % 3, packet.time_ns as u64 / 1000, orig_len, &packet.bytes);
        }
        let several = file.out;
        files.push((format!("several link types, big {big}"), several.clone()));
        let mut file = Bytes::new(big).section();
        for (linktype, resolution) in [(1, 9), (1, 3), (101, 0), (228, 0x80 | 20)] {
            file = clock(file, linktype, resolution);
        }
        let ticks =
            [1_700_000_000_123_456_789, 1_700_000_000_123, 1_700_000_000, 1_700_000_000 << 20 | 1 << 19];
        for (interface, ticks) in ticks.into_iter().enumerate() {
            file = file.enhanced(interface as u32, ticks, 60, &[7; 33]);
        }
        files.push((format!("clocks, big {big}"), file.out));
        let file = Bytes::new(big).section().interface(1, 0).block(4, |b| b.u32(0));
        let file = file.block(2, |b| b.u16(0).u16(0).u32(0).u32(8).u32(20).u32(60).raw(&[5; 20]));
        let file = file.enhanced(0, 9, 60, &[4; 14]).block(5, |b| b.u32(0).u64(0));
        files.push((format!("older and other blocks, big {big}"), file.out));
        let other = Bytes::new(!big).raw(&several).section().interface(229, 0).enhanced(0, 77, 60, &[1; 40]);
        files.push((format!("sections of both byte orders, first big {big}"), other.out));
    }
    files
}

/// Every format, plain and however compressed: packets, times, lengths and link types are tshark's.
#[test]
fn reads_what_tshark_reads() {
    if !tshark_is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("capture");
    for (name, file) in pcap_files().into_iter().chain(pcapng_files()) {
        std::fs::write(&path, &file).unwrap();
        let wanted = theirs(&path);
        assert!(!wanted.is_empty(), "{name}");
        for pack in [<[u8]>::to_vec, gz, bz2, xz, zst] {
            std::fs::write(&path, pack(&file)).unwrap();
            assert_eq!(ours(&path), wanted, "{name}");
            std::fs::write(&path, [pack(&file), vec![0; 512]].concat()).unwrap();
            if pack(&file) != file {
                assert_eq!(ours(&path), wanted, "{name}, with zeros behind");
            }
        }
    }
}

/// Every format that is written: tshark reads the packets that were given.
#[test]
fn tshark_reads_what_is_written() {
    if !tshark_is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (format, nanoseconds) in
        [(Format::Pcap, false), (Format::Pcap, true), (Format::PcapNg, false), (Format::PcapNg, true)]
    {
        for linktype in [LinkType::Ethernet, LinkType::RawIp, LinkType::LinuxSll2] {
            let path = folder.path().join("written.gz");
            let options = Options { linktype, nanoseconds, format, ..Options::default() };
            let mut writer = Writer::create(path.to_str().unwrap(), options).unwrap();
            let mut wanted = Vec::new();
            let types = match format {
                Format::Pcap => [linktype; 3],
                Format::PcapNg => [linktype, LinkType::Radiotap, LinkType::Ethernet],
            };
            for (packet, linktype) in packets().into_iter().zip(types.into_iter().cycle()) {
                writer.write_as(linktype, packet.time_ns, packet.orig_len, &packet.bytes).unwrap();
                let time_ns =
                    packet.time_ns / if nanoseconds { 1 } else { 1000 } * if nanoseconds { 1 } else { 1000 };
                let orig_len = packet.orig_len.max(packet.bytes.len() as u32);
                wanted.push(Seen { time_ns, orig_len, linktype, bytes: packet.bytes });
            }
            writer.close().unwrap();
            assert_eq!(theirs(&path), wanted, "{format:?} {linktype}");
        }
    }
}
