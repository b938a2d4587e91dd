//! Long segments: what is cut is what a sender would have sent, by a naive reference; and what is merged comes back.

use clique_device::segments::{Cut, HEADERS_MOST, Link, Note, Train};
use proptest::prelude::*;
use wire::checksum::{checksum, pseudo_v4, pseudo_v6};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const CWR: u8 = 0x80;

/// A sender's flow: what is in the headers of its packets.
#[derive(Clone, Debug)]
struct Flow {
    link: Link,
    v6: bool,
    /// VLAN tags.
    tags: usize,
    /// Bytes of IPv4 options, or of an IPv6 extension header.
    extra: usize,
    options: usize,
    udp: bool,
    tos: u8,
    ttl: u8,
    id: u16,
    port: u16,
    sequence: u32,
    acknowledgement: u32,
    window: u16,
    fill: u8,
    /// What the options of TCP are full of, as with timestamps.
    stamp: u8,
}

/// One packet of a flow, or a long segment.
#[derive(Clone, Debug)]
struct Piece {
    flags: u8,
    payload: Vec<u8>,
}

impl Flow {
    fn network(&self) -> usize {
        if self.link == Link::None { 0 } else { 14 + 4 * self.tags }
    }

    fn transport(&self) -> usize {
        self.network() + if self.v6 { 40 } else { 20 } + self.extra
    }

    fn header(&self) -> usize {
        self.transport() + if self.udp { 8 } else { 20 + self.options }
    }

    /// The frame with this piece, which `before` bytes and `number` packets of the flow come before. Written field by field, after the RFCs.
    fn frame(&self, piece: &Piece, number: u16, before: u32) -> Vec<u8> {
        let mut segment = Vec::new();
        let protocol = if self.udp { 17 } else { 6 };
        segment.extend(self.port.to_be_bytes());
        segment.extend([0, 80]);
        if self.udp {
            segment.extend((8 + piece.payload.len() as u16).to_be_bytes());
            segment.extend([0, 0]);
        } else {
            segment.extend(self.sequence.wrapping_add(before).to_be_bytes());
            segment.extend(self.acknowledgement.to_be_bytes());
            segment.extend([((20 + self.options) * 4) as u8, piece.flags]);
            segment.extend(self.window.to_be_bytes());
            segment.extend([0, 0, 0, 0]);
            segment.extend(std::iter::repeat_n(self.stamp, self.options));
        }
        segment.extend(&piece.payload);
        let (from4, to4) = ([10, 0, 0, 1], [10, 0, self.fill, 2]);
        let (from6, to6) = ([1; 16], [self.fill; 16]);
        let sum = match self.v6 {
            true => pseudo_v6(from6.into(), to6.into(), protocol, segment.len() as u32),
            false => pseudo_v4(from4.into(), to4.into(), protocol, segment.len() as u16),
        };
        let sum = match sum.add_bytes(&segment).checksum() {
            0 if self.udp => 0xffff,
            sum => sum,
        };
        let at = if self.udp { 6 } else { 16 };
        segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());

        let mut frame = Vec::new();
        if self.link == Link::Ethernet {
            frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
            (0..self.tags).for_each(|tag| frame.extend([0x81, 0, 0, tag as u8]));
            frame.extend(if self.v6 { [0x86, 0xdd] } else { [8, 0] });
        }
        if self.v6 {
            let next = if self.extra > 0 { 60 } else { protocol };
            frame.extend([0x60 | self.tos >> 4, self.tos << 4, 0, 1]);
            frame.extend(((self.extra + segment.len()) as u16).to_be_bytes());
            frame.extend([next, self.ttl]);
            frame.extend([from6, to6].concat());
            if self.extra > 0 {
                frame.extend([protocol, (self.extra / 8 - 1) as u8, 1, (self.extra - 4) as u8]);
                frame.extend(vec![0; self.extra - 4]);
            }
        } else {
            let mut header = vec![0x40 | (5 + self.extra / 4) as u8, self.tos];
            header.extend(((20 + self.extra + segment.len()) as u16).to_be_bytes());
            header.extend(self.id.wrapping_add(number).to_be_bytes());
            header.extend([0x40, 0, self.ttl, protocol, 0, 0]);
            header.extend([from4, to4].concat());
            header.extend(vec![1; self.extra]);
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            frame.extend(header);
        }
        frame.extend(segment);
        frame
    }

    /// The frames of the pieces, one after the other.
    fn frames(&self, pieces: &[Piece]) -> Vec<Vec<u8>> {
        let mut before = 0;
        let frame = |(number, piece): (usize, &Piece)| {
            let frame = self.frame(piece, number as u16, before);
            before += piece.payload.len() as u32;
            frame
        };
        pieces.iter().enumerate().map(frame).collect()
    }

    /// What Linux says beside a long frame.
    fn note(&self, size: u16) -> Note {
        let kind = match (self.udp, self.v6) {
            (true, _) => 5,
            (false, true) => 4,
            (false, false) => 1,
        };
        note(1, kind, size, self.transport() as u16, if self.udp { 6 } else { 16 })
    }
}

fn note(flags: u8, kind: u8, size: u16, start: u16, offset: u16) -> Note {
    let mut bytes = [flags, kind, 0, 0, 0, 0, 0, 0, 0, 0];
    for (at, word) in [size, start, offset].into_iter().enumerate() {
        bytes[4 + 2 * at..6 + 2 * at].copy_from_slice(&word.to_ne_bytes());
    }
    let note = Note::of(&bytes);
    assert_eq!(note.bytes(), bytes);
    note
}

/// The pieces of a payload: flags as the RFCs have them.
fn pieces(flags: u8, payload: &[u8], size: usize) -> Vec<Piece> {
    let count = payload.len().div_ceil(size);
    let flags =
        |i| flags & if i + 1 == count { 0xff } else { !(FIN | PSH) } & if i == 0 { 0xff } else { !CWR };
    payload
        .chunks(size)
        .enumerate()
        .map(|(i, part)| Piece { flags: flags(i), payload: part.to_vec() })
        .collect()
}

/// All segments of a long frame.
fn cut(note: &Note, long: &[u8], link: Link) -> Option<Vec<Vec<u8>>> {
    // Headers are read from the frame's beginning only.
    let cut = Cut::of(note, long, long.len(), link)?;
    let segment = |i: usize| {
        let mut segment = vec![0xa5; cut.len(i)];
        cut.fill(long, i, &mut segment);
        segment
    };
    Some((0..cut.count()).map(segment).collect())
}

/// Frames as they are sent: alone with no note, or merged.
fn merge(frames: &[Vec<u8>], link: Link, mtu: usize) -> Vec<(Option<Note>, Vec<u8>)> {
    let (mut at, mut sent) = (0, Vec::new());
    while at < frames.len() {
        let train = Train::begin(&frames[at], link, mtu).map(|mut train| {
            let _ = frames[at + 1..].iter().take_while(|frame| train.take(frame, link)).count();
            train
        });
        let Some(train) = train.filter(|train| train.frames() > 1) else {
            sent.push((None, frames[at].clone()));
            at += 1;
            continue;
        };
        let mut head = [0; HEADERS_MOST];
        let note = train.finish(&mut head);
        let mut long = head[..train.header()].to_vec();
        for frame in &frames[at..at + train.frames()] {
            long.extend(&frame[train.header()..]);
        }
        assert!(long.len() <= 65_535);
        sent.push((Some(note), long));
        at += train.frames();
    }
    sent
}

fn flow(udp: bool) -> impl Strategy<Value = Flow> {
    let shape = (any::<bool>(), any::<bool>(), 0..3usize, 0..3usize, 0..11usize, any::<bool>());
    let words =
        (any::<u8>(), any::<u8>(), any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), any::<u16>());
    (shape, words, any::<u8>()).prop_map(
        move |(
            (ethernet, v6, tags, extra, options, has_extra),
            (tos, ttl, id, port, sequence, acknowledgement, window),
            fill,
        )| {
            let link = if ethernet { Link::Ethernet } else { Link::None };
            let extra = if has_extra { extra * 8 } else { 0 };
            let options = options * 4;
            Flow {
                link,
                v6,
                tags,
                extra,
                options,
                udp,
                tos,
                ttl,
                id,
                port,
                sequence,
                acknowledgement,
                window,
                fill,
                stamp: tos,
            }
        },
    )
}

proptest! {
    /// A long segment is cut into what the sender would have sent by itself.
    #[test]
    fn segments_are_those_of_the_sender(
        flow in any::<bool>().prop_flat_map(flow), flags: u8,
        payload in proptest::collection::vec(any::<u8>(), 1..9000), size in 60..3000usize,
    ) {
        let long = flow.frame(&Piece { flags, payload: payload.clone() }, 0, 0);
        let size = if flow.udp { size.max(payload.len().div_ceil(64)) } else { size };
        let segments = cut(&flow.note(size as u16), &long, flow.link).unwrap();
        prop_assert_eq!(segments, flow.frames(&pieces(flags, &payload, size)));
    }

    /// Whatever is sent, what is cut again of what was merged is what was there, in order; and what a sender of bulk data sends is merged.
    #[test]
    fn what_is_merged_comes_back(
        flow in flow(false), size in 1..1400usize, len in 1..20_000usize, seed: u64, wrongs in 0..4usize,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let payload: Vec<u8> = (0..len.min(64 * size)).map(|_| rng.u8(..)).collect();
        let mut all = pieces(ACK | PSH, &payload, size);
        for _ in 0..wrongs {
            let i = rng.usize(0..all.len());
            match rng.usize(0..4) {
                0 => all[i].flags ^= 1 << rng.u8(..8),
                1 => all[i].payload.push(1),
                2 => all.swap(0, i),
                _ => all[i].payload.truncate(rng.usize(0..size)),
            }
        }
        let mut frames = flow.frames(&all);
        for _ in 0..wrongs {
            let i = rng.usize(0..frames.len());
            match rng.usize(0..4) {
                0 => {
                    let at = rng.usize(0..frames[i].len());
                    frames[i][at] ^= 1 << rng.u8(..8);
                }
                1 => {
                    frames.swap(0, i);
                }
                2 => frames[i].push(0),
                _ => {
                    let len = rng.usize(0..frames[i].len());
                    frames[i].truncate(len);
                }
            }
        }
        let sent = merge(&frames, flow.link, 1500);
        let mut back = Vec::new();
        for (note, frame) in &sent {
            match note {
                Some(note) => back.extend(cut(note, frame, flow.link).unwrap()),
                None => back.push(frame.to_vec()),
            }
        }
        prop_assert_eq!(&back, &frames);
        let is_plain = flow.extra == 0 && all.len() > 1 && flow.network() + 40 + flow.options + size <= 1500;
        if wrongs == 0 && is_plain {
            prop_assert_eq!(sent.len(), 1);
        }
    }

    /// Notes that lie, and frames that are none, break nothing: no segment is longer than the frame.
    #[test]
    fn what_lies_breaks_nothing(
        flow in any::<bool>().prop_flat_map(flow), words in any::<(u8, u8, u16, u16, u16)>(), seed: u64,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let long = flow.frame(&Piece { flags: ACK, payload: vec![7; rng.usize(0..3000)] }, 0, 0);
        for _ in 0..20 {
            let (mut bytes, mut long) = (flow.note(rng.u16(1..2000)).bytes(), long.clone());
            for _ in 0..rng.usize(0..3) {
                bytes[rng.usize(0..Note::LEN)] = rng.u8(..);
            }
            for _ in 0..rng.usize(0..4) {
                let at = rng.usize(0..long.len().min(100));
                long[at] = rng.u8(..);
            }
            long.truncate(rng.usize(0..=long.len()));
            let shown = &long[..rng.usize(0..=long.len())];
            for note in [Note::of(&bytes), note(words.0, words.1, words.2, words.3, words.4)] {
                note.finish(&mut long.clone());
                let Some(cut) = Cut::of(&note, shown, long.len(), flow.link) else { continue };
                prop_assert!(cut.count() <= Cut::MOST);
                for i in 0..cut.count() {
                    prop_assert!(cut.len(i) <= long.len());
                    cut.fill(&long, i, &mut vec![0; cut.len(i)]);
                }
            }
            let _ = merge(&[long.clone(), long], flow.link, 1500);
        }
    }
}

fn plain() -> Flow {
    Flow {
        link: Link::Ethernet,
        v6: false,
        tags: 0,
        extra: 0,
        options: 12,
        udp: false,
        tos: 0,
        ttl: 64,
        id: 0xfffe,
        port: 4000,
        sequence: 0xffff_fff0,
        acknowledgement: 1,
        window: 500,
        fill: 3,
        stamp: 1,
    }
}

/// A train of 64 KiB is one frame, and what differs in one byte that cutting would not restore ends it.
#[test]
fn a_train_ends_where_it_must() {
    let frames = |flow: &Flow, len| flow.frames(&pieces(ACK | PSH, &vec![5; len], 1448));
    let flow = plain();
    let whole = frames(&flow, 45 * 1448);
    assert_eq!(merge(&whole, flow.link, 1500).len(), 1);
    // One more would be longer than a length in an IPv4 header can say.
    assert_eq!(merge(&frames(&flow, 46 * 1448), flow.link, 1500).len(), 2);
    // Longer than the MTU: the interface has to refuse it.
    assert_eq!(merge(&whole, flow.link, 1499).len(), 45);
    let header = flow.header();
    for at in 0..header + 1 {
        let mut some = frames(&flow, 5 * 1448);
        some[2][at] ^= 1;
        // A flag more that the others have not, checksums that are wrong, numbers that do not go on: alone, or with what follows.
        let sent = merge(&some, flow.link, 1500);
        assert!(sent.len() > 1, "byte {at} is not looked at");
    }
    // The same with the checksums of the other header, as an element that changes headers leaves them.
    let changes: [fn(&mut Flow); 8] = [
        |flow| flow.tos ^= 4,
        |flow| flow.ttl -= 1,
        |flow| flow.id += 1,
        |flow| flow.port += 1,
        |flow| flow.acknowledgement += 1,
        |flow| flow.window += 1,
        |flow| flow.sequence += 1,
        |flow| flow.stamp += 1,
    ];
    for (i, change) in changes.into_iter().enumerate() {
        for v6 in [false, true] {
            let flow = Flow { v6, id: 7, ..plain() };
            if v6 && i == 2 {
                continue; // there are no identifications
            }
            let mut other = flow.clone();
            change(&mut other);
            let mut some = frames(&flow, 4 * 1428);
            some[1] = frames(&other, 4 * 1428)[1].clone();
            assert_eq!(merge(&some, flow.link, 1520).len(), 3, "change {i}, IPv6: {v6}");
        }
    }
}

/// Wrong checksums stay wrong: a long segment has none that could show it.
#[test]
fn wrong_checksums_are_not_mended() {
    let flow = plain();
    for wrong in 0..3 {
        let mut frames = flow.frames(&pieces(ACK, &[9; 3 * 1448], 1448));
        frames[wrong][flow.header() + 700] ^= 0x10;
        let sent = merge(&frames, flow.link, 1500);
        let alone = sent.iter().filter(|(note, _)| note.is_none()).map(|(_, frame)| frame);
        assert!(alone.into_iter().any(|frame| *frame == frames[wrong]), "{wrong}");
    }
}

/// A checksum of all ones is as right as zero, and no sender's: it would come back as zero.
#[test]
fn unusual_checksums_are_kept() {
    let flow = plain();
    let mut all = pieces(ACK, &[0; 3 * 1448], 1448);
    let at = flow.transport() + 16;
    let frames = flow.frames(&all);
    all[1].payload[..2].copy_from_slice(&frames[1][at..at + 2]);
    let mut frames = flow.frames(&all);
    assert_eq!(frames[1][at..at + 2], [0, 0]);
    assert_eq!(merge(&frames, flow.link, 1500).len(), 1);
    frames[1][at..at + 2].fill(0xff);
    assert_eq!(merge(&frames, flow.link, 1500).len(), 3);
}

/// A frame whose own length is not that of the packet in it is none that a sender has made.
#[test]
fn wrong_lengths_are_refused() {
    for v6 in [false, true] {
        let flow = Flow { v6, ..plain() };
        let long = flow.frame(&Piece { flags: ACK, payload: vec![1; 5000] }, 0, 0);
        for len in [4000, long.len() - 1, long.len(), long.len() + 1] {
            let is_cut = Cut::of(&flow.note(1448), &long[..2000], len, flow.link).is_some();
            assert_eq!(is_cut, len == long.len(), "{len}");
        }
    }
}

/// No frame becomes more packets than a receiver has room for.
#[test]
fn tiny_segments_are_refused() {
    let flow = plain();
    let long = flow.frame(&Piece { flags: ACK, payload: vec![1; 60_000] }, 0, 0);
    assert!(Cut::of(&flow.note(1), &long, long.len(), flow.link).is_none());
    assert!(Cut::of(&flow.note(0), &long, long.len(), flow.link).is_none());
    assert_eq!(Cut::of(&flow.note(59), &long, long.len(), flow.link).unwrap().count(), 1017);
}
