//! Made-up traffic: right where it should be right, wrong where it should be wrong, the same for the same seed.

use std::collections::{BTreeMap, HashSet};
use std::io::Cursor;
use std::ops::RangeInclusive;

use clique_device::capture::{Format, LinkType, Options, Reader, Writer};
use clique_device::frames::{FrameSet, Kind};
use clique_device::traffic::{Addresses, BadShares, Error, Ethernet, Sizes, Traffic, replay, sequence_of};
use proptest::prelude::*;

const MARTIANS_V4: [u32; 2] = [0, u32::MAX];

fn v4(destinations: &[u32], unrouted: &[u32]) -> Addresses<u32> {
    Addresses {
        destinations: destinations.to_vec(),
        unrouted: unrouted.to_vec(),
        ..Addresses::<u32>::default()
    }
}

fn v6(destinations: &[u128], unrouted: &[u128]) -> Addresses<u128> {
    Addresses {
        destinations: destinations.to_vec(),
        unrouted: unrouted.to_vec(),
        ..Addresses::<u128>::default()
    }
}

/// Traffic with destinations for everything.
fn mixed(seed: u64) -> Traffic {
    Traffic {
        seed,
        frames: 2000,
        ipv4: v4(&[0x0a00_0001, 0x0a00_0002, 0xc0a8_0101], &[0xf000_0001]),
        ipv6: v6(&[0x2001 << 112 | 1, 0x2400 << 112 | 2], &[0xfc00 << 112]),
        bad: BadShares { expired: 0.1, checksum: 0.1, martian: 0.1, no_route: 0.1 },
        sizes: Sizes::Imix,
        ..Traffic::default()
    }
}

/// Ones' complement sum of 16-bit words, folded at each step: slow and obvious.
fn ones_sum(parts: &[&[u8]]) -> u16 {
    let mut bytes = parts.concat();
    if !bytes.len().is_multiple_of(2) {
        bytes.push(0);
    }
    bytes.chunks(2).fold(0, |sum, word| {
        let (sum, carry) = u16::overflowing_add(sum, u16::from_be_bytes([word[0], word[1]]));
        sum + u16::from(carry)
    })
}

/// What a checker reads off a frame.
struct Seen {
    is_v6: bool,
    source: u128,
    destination: u128,
    hops: u8,
    header_valid: bool,
    udp_checksum: u16,
    udp_valid: bool,
    ports: (u16, u16),
}

fn parse(frame: &[u8]) -> Seen {
    let be16 = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    assert_eq!(frame[..12], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    let is_v6 = be16(12) == 0x86dd;
    let (udp, addresses) = if is_v6 {
        assert_eq!(frame[14], 0x60);
        assert_eq!(usize::from(be16(18)), frame.len() - 54);
        assert_eq!(frame[20], 17);
        (&frame[54..], &frame[22..54])
    } else {
        assert_eq!(be16(12), 0x0800);
        assert_eq!(frame[14], 0x45);
        assert_eq!(usize::from(be16(16)), frame.len() - 14);
        assert_eq!(frame[23], 17);
        (&frame[34..], &frame[26..34])
    };
    let address = |bytes: &[u8]| bytes.iter().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    let (source, destination) = addresses.split_at(addresses.len() / 2);
    let length = u16::from_be_bytes([udp[4], udp[5]]);
    assert_eq!(usize::from(length), udp.len());
    Seen {
        is_v6,
        source: address(source),
        destination: address(destination),
        hops: if is_v6 { frame[21] } else { frame[22] },
        header_valid: is_v6 || ones_sum(&[&frame[14..34]]) == 0xffff,
        udp_checksum: u16::from_be_bytes([udp[6], udp[7]]),
        udp_valid: ones_sum(&[addresses, &[0, 17], &length.to_be_bytes(), udp]) == 0xffff,
        ports: (u16::from_be_bytes([udp[0], udp[1]]), u16::from_be_bytes([udp[2], udp[3]])),
    }
}

/// Each frame is wrong in the way its kind says, and right in all others.
fn assert_kinds(traffic: &Traffic, set: &FrameSet) {
    for frame in set.iter() {
        let seen = parse(frame.bytes);
        let kind = frame.kind;
        assert_eq!(seen.header_valid, kind != Kind::BadChecksum);
        if kind == Kind::Expired {
            assert!(seen.hops < 2)
        } else {
            assert_eq!(seen.hops, traffic.hops)
        }
        let (martian, routed, unrouted) = if seen.is_v6 {
            let own = traffic.ipv6.sources.contains(&seen.source);
            assert_ne!(own, traffic.ipv6.martians.contains(&seen.source));
            (
                !own,
                traffic.ipv6.destinations.contains(&seen.destination),
                traffic.ipv6.unrouted.contains(&seen.destination),
            )
        } else {
            let (source, destination) = (seen.source as u32, seen.destination as u32);
            let own = traffic.ipv4.sources.contains(&source);
            assert_ne!(own, MARTIANS_V4.contains(&source));
            (
                !own,
                traffic.ipv4.destinations.contains(&destination),
                traffic.ipv4.unrouted.contains(&destination),
            )
        };
        assert_eq!(martian, kind == Kind::Martian);
        assert_eq!(unrouted, kind == Kind::NoRoute);
        assert_eq!(routed, kind != Kind::NoRoute);
        if seen.is_v6 || traffic.ipv4_udp_checksum {
            assert!(seen.udp_valid && seen.udp_checksum != 0);
        } else {
            assert_eq!(seen.udp_checksum, 0);
        }
        assert!(
            traffic.source_ports.contains(&seen.ports.0) && traffic.destination_ports.contains(&seen.ports.1)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn frames_are_right_and_wrong_as_their_kind_says(
        seed: u64, sequence: bool, ipv4_udp_checksum: bool, size in 64..300_u16, ipv6_share in 0.0..=1.0,
    ) {
        let traffic = Traffic {
            frames: 300, sequence, ipv4_udp_checksum, ipv6_share,
            sizes: Sizes::Fixed(size), source_ports: 7..=9, destination_ports: 53..=53, ..mixed(seed)
        };
        assert_kinds(&traffic, &traffic.build().unwrap());
    }

    #[test]
    fn arbitrary_bytes_have_no_sequence_or_some(frame in prop::collection::vec(any::<u8>(), 0..80), version in 4..=6_u8) {
        let _ = sequence_of(&frame);
        let head = [&[0; 12][..], if version == 6 { &[0x86, 0xdd] } else { &[8, 0] }, &[version << 4 | 15]].concat();
        prop_assert_eq!(sequence_of(&[head, frame].concat()), None);
    }
}

#[test]
fn a_seed_decides_everything() {
    assert_eq!(mixed(7).build(), mixed(7).build());
    assert_ne!(mixed(7).build(), mixed(8).build());
}

#[test]
fn shares_are_kept() {
    let traffic = Traffic { frames: 20_000, ipv6_share: 0.25, ..mixed(3) };
    let set = traffic.build().unwrap();
    let mut counts = BTreeMap::new();
    for frame in set.iter() {
        *counts.entry(frame.kind).or_insert(0_usize) += 1;
    }
    // Five standard deviations of 20,000 draws at 0.1 are about 212.
    for kind in [Kind::Expired, Kind::BadChecksum, Kind::Martian, Kind::NoRoute] {
        assert!(counts[&kind].abs_diff(2000) < 212, "{kind}: {}", counts[&kind]);
    }
    assert!(counts[&Kind::Good].abs_diff(12_000) < 350);
    // A quarter of all but the packets with bad checksums, which are IPv4.
    let v6 = set.iter().filter(|frame| parse(frame.bytes).is_v6).count();
    assert!(v6.abs_diff(4500) < 300, "{v6}");
    let flows: HashSet<_> = set.iter().map(|frame| parse(frame.bytes).ports).collect();
    assert!(flows.len() > 19_000);
}

#[test]
fn sizes_are_those_of_the_wire_less_the_check_sequence() {
    let lengths = |traffic: Traffic| {
        let mut counts = BTreeMap::new();
        for frame in traffic.build().unwrap().iter() {
            *counts.entry(frame.bytes.len()).or_insert(0_usize) += 1;
        }
        counts
    };
    let only_v4 = || Traffic { ipv6: v6(&[], &[]), bad: BadShares::default(), sequence: true, ..mixed(1) };
    let only_v6 = || Traffic { ipv4: v4(&[], &[]), bad: BadShares::default(), ..mixed(1) };
    assert_eq!(lengths(Traffic { sizes: Sizes::Fixed(64), ..only_v4() }), [(60, 2000)].into());
    assert_eq!(lengths(Traffic { sizes: Sizes::Fixed(64), ..only_v6() }), [(62, 2000)].into());
    assert_eq!(
        lengths(Traffic { sizes: Sizes::Fixed(64), sequence: true, ..only_v6() }),
        [(70, 2000)].into()
    );
    assert_eq!(
        lengths(Traffic { sizes: Sizes::Fixed(65_535), frames: 1, ..only_v4() }),
        [(65_531, 1)].into()
    );
    let imix = lengths(Traffic { frames: 12_000, ..only_v4() });
    assert_eq!(imix.keys().copied().collect::<Vec<_>>(), [60, 590, 1514]);
    assert!(
        imix[&60].abs_diff(7000) < 280 && imix[&590].abs_diff(4000) < 270 && imix[&1514].abs_diff(1000) < 160
    );
    let histogram = Sizes::Histogram(vec![(100, 0), (200, 3), (300, 1)]);
    let counts = lengths(Traffic { sizes: histogram, ..only_v4() });
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [196, 296], "weight 0 means never");
}

#[test]
fn the_sequence_leads_back_to_the_original() {
    let set = Traffic { sequence: true, sizes: Sizes::Fixed(64), ..mixed(5) }.build().unwrap();
    for (index, frame) in set.iter().enumerate() {
        assert_eq!(sequence_of(frame.bytes), Some(index as u32));
        // What a router changes does not matter.
        let mut changed = frame.bytes.to_vec();
        changed[..12].fill(9);
        changed[22] = changed[22].wrapping_sub(1);
        assert_eq!(sequence_of(&changed), Some(index as u32));
        let tagged = [&changed[..12], &[0x81, 0, 0, 7], &changed[12..]].concat();
        assert_eq!(sequence_of(&tagged), Some(index as u32));
        assert_eq!(sequence_of(&changed[..changed.len().min(49)]), None, "cut");
    }
    let plain = mixed(5).build().unwrap();
    assert!(plain.iter().all(|frame| sequence_of(frame.bytes).is_none()));
}

#[test]
fn fragments_but_the_first_have_no_sequence() {
    let traffic = Traffic { ipv6: v6(&[], &[]), sequence: true, bad: BadShares::default(), ..mixed(5) };
    let mut frame = traffic.build().unwrap().get(0).unwrap().bytes.to_vec();
    frame[20] = 0x20;
    assert_eq!(sequence_of(&frame), Some(0), "first of several");
    frame[21] = 1;
    assert_eq!(sequence_of(&frame), None);
}

#[test]
fn contradictions_are_refused() {
    let error = |change: fn(&mut Traffic)| {
        let mut traffic = mixed(1);
        change(&mut traffic);
        traffic.build().unwrap_err()
    };
    assert_eq!(error(|t| t.ipv6_share = 1.5), Error::Share);
    assert_eq!(error(|t| t.ipv6_share = f64::NAN), Error::Share);
    assert_eq!(error(|t| t.bad.expired = 0.8), Error::Share);
    assert_eq!(error(|t| t.bad.martian = -0.1), Error::Share);
    assert_eq!(error(|t| t.hops = 1), Error::Hops);
    assert_eq!(error(|t| t.source_ports = RangeInclusive::new(2, 1)), Error::EmptyRange);
    assert_eq!(error(|t| t.sizes = Sizes::Fixed(63)), Error::Size);
    assert_eq!(error(|t| t.sizes = Sizes::Histogram(vec![(64, 0)])), Error::Size);
    let no_v4 = error(|t| t.ipv4.destinations.clear());
    assert_eq!(no_v4, Error::NoAddresses { kind: Kind::BadChecksum });
    let unrouted = error(|t| {
        t.ipv4.unrouted.clear();
        t.ipv6.unrouted.clear();
    });
    assert_eq!(unrouted, Error::NoAddresses { kind: Kind::NoRoute });
    let none = Traffic::default().build().unwrap_err();
    assert_eq!(none, Error::NoAddresses { kind: Kind::Good });
}

/// A capture of these frames, read again.
fn captured(linktype: LinkType, format: Format, frames: &[&[u8]]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t");
    let options = Options { linktype, format, ..Options::default() };
    let mut writer = Writer::create(path.to_str().unwrap(), options).unwrap();
    for frame in frames {
        writer.write(0, 0, frame).unwrap();
    }
    writer.close().unwrap();
    std::fs::read(path).unwrap()
}

fn open(file: &[u8]) -> Reader {
    Reader::from_read(Box::new(Cursor::new(file.to_vec())), "test").unwrap()
}

#[test]
fn a_capture_is_replayed_as_it_is() {
    let set = mixed(1).build().unwrap();
    let frames: Vec<_> = set.iter().map(|frame| frame.bytes).collect();
    let file = captured(LinkType::Ethernet, Format::PcapNg, &frames);
    let all = replay(&mut open(&file), usize::MAX, usize::MAX / 2, None);
    assert!(all.error.is_none());
    assert_eq!(all.frames.iter().map(|frame| frame.bytes).collect::<Vec<_>>(), frames);
    assert!(all.frames.iter().all(|frame| frame.kind == Kind::Captured));
    assert_eq!(replay(&mut open(&file), 7, usize::MAX / 2, None).frames.len(), 7);
    assert!(replay(&mut open(&file), usize::MAX, 10_000, None).frames.bytes_total() <= 10_000);

    let cut = replay(&mut open(&file[..file.len() - 1]), usize::MAX, usize::MAX / 2, None);
    assert_eq!(cut.frames.len(), frames.len() - 1, "what is good is kept");
    assert_eq!(cut.error.unwrap().records_good(), frames.len() as u64 - 1);
}

#[test]
fn ip_packets_get_an_ethernet_header_when_asked() {
    let packets: [&[u8]; 3] = [&[0x45, 1], &[0x60, 2], &[0x10, 3]];
    let file = captured(LinkType::RawIp, Format::Pcap, &packets);
    let none = replay(&mut open(&file), usize::MAX, 1 << 20, None);
    assert_eq!((none.frames.len(), none.skipped), (0, 3));
    let ethernet = Ethernet { destination: [1; 6], source: [3; 6] };
    let some = replay(&mut open(&file), usize::MAX, 1 << 20, Some(ethernet));
    assert_eq!((some.frames.len(), some.skipped), (2, 1));
    assert_eq!(some.frames.get(0).unwrap().bytes, [1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 8, 0, 0x45, 1]);
    assert_eq!(some.frames.get(1).unwrap().bytes[12..], [0x86, 0xdd, 0x60, 2]);
}
