//! Packets against a model, pools across threads.

use clique_packet::{Anno, BATCH_MAX, Batch, Class, Packet, Pool};
use proptest::prelude::*;
use std::collections::HashSet;

#[derive(Clone, Debug)]
enum Op {
    Push(usize),
    Headers,
    NetworkHeader,
    LinkHeader,
    Pull(usize),
    Put(usize),
    Take(usize),
    Network(usize),
    Reserve(usize, usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (0usize..400).prop_map(Op::Push),
        Just(Op::Headers),
        Just(Op::NetworkHeader),
        Just(Op::LinkHeader),
        (0usize..400).prop_map(Op::Pull),
        (0usize..1200).prop_map(Op::Put),
        (0usize..1200).prop_map(Op::Take),
        (0usize..60).prop_map(Op::Network),
        ((0usize..3000), (0usize..70_000)).prop_map(|(a, b)| Op::Reserve(a, b)),
    ]
}

/// Bytes of a wide view.
const WIDE: usize = 300;

/// What of a wide view is the packet's, and how much there is in all.
fn as_far_as_data(view: Option<(&[u8; WIDE], usize)>) -> Option<(&[u8], usize)> {
    view.map(|(bytes, len)| (&bytes[..len.min(WIDE)], len))
}

/// The same of bytes that lie so far behind the start of a buffer.
fn wide(bytes: &[u8], at: usize, least: usize) -> Option<(&[u8], usize)> {
    let near = at + WIDE <= Class::Small.room();
    (near && bytes.len() >= least).then(|| (&bytes[..bytes.len().min(WIDE)], bytes.len()))
}

proptest! {
    /// The data is what a plain vector would hold, header positions stick to their bytes wherever the data moves, and an
    /// operation that does not fit changes nothing.
    #[test]
    fn behaves_like_a_vector(ops in prop::collection::vec(op(), 1..60)) {
        let mut pool = Pool::new();
        let mut model: Vec<u8> = (0..100).collect();
        let mut network: Option<(isize, u8)> = None; // where, and which byte is there
        let mut p = pool.packet(&model).unwrap();
        for (i, op) in ops.into_iter().enumerate() {
            let fill = i as u8;
            match op {
                Op::Push(n) => {
                    let fits = n + model.len() <= p.room();
                    prop_assert_eq!(p.push(n), fits);
                    if fits {
                        p.data_mut()[..n].fill(fill);
                        model.splice(0..0, std::iter::repeat_n(fill, n));
                        network = network.map(|(at, b)| (at + n as isize, b)).filter(|(at, _)| *at >= n as isize);
                        if network.is_none() { p.clear_network(); }
                    }
                }
                Op::Headers => {
                    let fits = 18 + model.len() <= p.room();
                    let places = p.push_arrays::<14, 4>();
                    prop_assert_eq!(places.is_some(), fits);
                    if let Some((ethernet, tag)) = places {
                        (*ethernet, *tag) = ([fill; 14], [!fill; 4]);
                        model.splice(0..0, [[fill; 14].as_slice(), &[!fill; 4]].concat());
                        network = network.map(|(at, b)| (at + 18, b)).filter(|(at, _)| *at >= 18);
                    }
                }
                Op::NetworkHeader => {
                    // Only where nothing has to move and all lies near the start of the buffer.
                    let near = p.headroom() >= 24 && p.headroom() + p.len() < 1 << 15;
                    let place = p.push_network::<24>(20);
                    prop_assert_eq!(place.is_some(), near);
                    if let Some(headers) = place {
                        headers.fill(fill);
                        headers[20..].fill(!fill);
                        model.splice(0..0, [[fill; 20].as_slice(), &[!fill; 4]].concat());
                        network = Some((0, fill));
                        prop_assert_eq!(p.transport_offset(), Some(20));
                    }
                }
                Op::LinkHeader => {
                    let fits = 14 + model.len() <= p.room();
                    let place = p.push_mac::<14>();
                    prop_assert_eq!(place.is_some(), fits);
                    if let Some(header) = place {
                        header.fill(fill);
                        model.splice(0..0, [fill; 14]);
                        network = network.map(|(at, b)| (at + 14, b)).filter(|(at, _)| *at >= 14);
                        let known = p.headroom() < 65_535;
                        prop_assert_eq!(p.mac_offset(), known.then_some(0));
                    }
                }
                Op::Pull(n) => {
                    let fits = n <= model.len();
                    prop_assert_eq!(p.pull(n), fits);
                    if fits {
                        model.drain(..n);
                        network = network.map(|(at, b)| (at - n as isize, b));
                    }
                }
                Op::Put(n) => {
                    let fits = n + model.len() <= p.room();
                    // Bytes in front of the data are lost when it moves, so forget a stripped header first.
                    if network.is_some_and(|(at, _)| at < 0) { p.clear_network(); network = None; }
                    prop_assert_eq!(p.put(n), fits);
                    if fits {
                        let at = model.len();
                        p.data_mut()[at..].fill(fill);
                        model.resize(at + n, fill);
                    }
                }
                Op::Take(n) => {
                    let fits = n <= model.len();
                    prop_assert_eq!(p.take(n), fits);
                    if fits {
                        model.truncate(model.len() - n);
                        if network.is_some_and(|(at, _)| at >= model.len() as isize) {
                            p.clear_network();
                            network = None;
                        }
                    }
                }
                Op::Network(at) if at + 20 <= model.len() => {
                    let near = p.headroom() + at < 65_535 - 64;
                    prop_assert_eq!(p.set_near_network(at as isize, 20), near);
                    p.set_network(at as isize, 20);
                    network = Some((at as isize, model[at]));
                    prop_assert_eq!(p.network_header_len(), Some(20));
                }
                Op::Network(_) => {}
                Op::Reserve(head, tail) => {
                    if network.is_some_and(|(at, _)| at < 0) { p.clear_network(); network = None; }
let possible = head + model.len() + tail <= Class::Large.room();
                    p = match pool.reserve(p, head, tail) {
                        Ok(p) => { prop_assert!(p.headroom() >= head && p.tailroom() >= tail); p }
                        Err(p) => { prop_assert!(!possible); p }
                    };
                }
            }
            prop_assert_eq!(p.data(), &model[..]);
            prop_assert_eq!(p.network_offset(), network.map(|n| n.0));
            if let Some((_, byte)) = network {
                prop_assert_eq!(p.network().map(|n| n[0]), Some(byte));
            }
            let from_5 = model.get(5..).and_then(|rest| Some((rest.first_chunk::<7>()?, rest.len())));
            prop_assert_eq!(p.data_from(5), from_5);
            prop_assert_eq!(p.data_from::<1>(u32::MAX), None);
            let array = from_5.map(|(array, _)| *array);
            prop_assert_eq!((p.data_array_mut(5).copied(), p.data_array_mut::<1>(u32::MAX)), (array, None));
            prop_assert_eq!(as_far_as_data(p.wide_data(40)), wide(p.data(), p.headroom(), 40));
            let position = p.network_offset().map(|at| (p.headroom() as isize + at) as usize);
            let expected = p.network().zip(position).and_then(|(bytes, at)| wide(bytes, at, 28));
            prop_assert_eq!(as_far_as_data(p.wide_network_of::<20, WIDE>(28)), expected);
            prop_assert_eq!(as_far_as_data(p.wide_network(28)), expected);
            prop_assert!(p.wide_network_of::<24, WIDE>(0).is_none() && p.wide_data::<1>(u32::MAX).is_none());
            let header = p.network().and_then(|bytes| bytes.first_chunk::<20>()).copied();
            prop_assert_eq!((p.network_array::<20>().copied(), p.network_array_mut().copied()), (header, header));
            prop_assert_eq!(p.network_of::<20>(), p.network());
            prop_assert_eq!(p.network_of::<24>(), None);
            let whole = network.is_some_and(|(at, _)| at + 28 <= model.len() as isize);
            let arrays = p.network_arrays_mut::<20, 8>().map(|(header, behind)| [&header[..], &behind[..]].concat());
            prop_assert_eq!(&arrays, &p.network().filter(|_| whole).map(|bytes| bytes[..28].to_vec()));
        }
    }

    /// `filter_map`, `split_off` and `pop_front` keep every packet exactly once and in order.
    #[test]
    fn batches_keep_order(keep in prop::collection::vec(any::<bool>(), 0..BATCH_MAX), at in 0usize..BATCH_MAX) {
        let mut pool = Pool::new();
        let mut batch = Batch::new();
        for i in 0..keep.len() {
            batch.push(pool.packet(&[i as u8]).unwrap());
        }
        let mut taken = Vec::new();
        let mut i = 0;
        batch.filter_map(|p| {
            i += 1;
            if keep[i - 1] { Some(p) } else { taken.push(p.data()[0]); pool.free(p); None }
        });
        let expect = |want: bool| (0..keep.len()).filter(|&i| keep[i] == want).map(|i| i as u8).collect::<Vec<_>>();
        prop_assert_eq!(taken, expect(false));
        let mut rest = pool.batch();
        batch.split_off(at, &mut rest);
        let first = batch.pop_front();
        let all: Vec<u8> = first.iter().chain(batch.iter()).chain(rest.iter()).map(|p| p.data()[0]).collect();
        prop_assert_eq!(all, expect(true));
        pool.recycle(batch);
        pool.recycle(rest);
    }

    /// Of packets that part, each goes or stays once, and in order, behind those that are there.
    #[test]
    fn each_packet_of_a_parted_batch_goes_or_stays_in_order(goes in prop::collection::vec(any::<bool>(), 0..BATCH_MAX), before in 0..BATCH_MAX) {
        let mut pool = Pool::new();
        let (mut batch, mut others) = (Batch::new(), Batch::new());
        let before = before.min(BATCH_MAX - goes.len());
        others.extend((0..before).map(|_| pool.packet(&[255]).unwrap()));
        batch.extend((0..goes.len()).map(|i| pool.packet(&[i as u8]).unwrap()));
        batch.part(&goes, &mut others);
        let expect = |want: bool| (0..goes.len()).filter(|&i| goes[i] == want).map(|i| i as u8).collect::<Vec<_>>();
        let bytes = |batch: &Batch| batch.iter().map(|packet| packet.data()[0]).collect::<Vec<_>>();
        prop_assert_eq!(bytes(&batch), expect(false));
        prop_assert_eq!(bytes(&others), [vec![255; before], expect(true)].concat());
        pool.recycle(batch);
        pool.recycle(others);
    }
}

/// Arrays of a network header end where the data does, to the byte; a packet without such a header has none.
#[test]
fn network_arrays_end_with_the_data() {
    let mut pool = Pool::new();
    for len in 0..40 {
        let mut p = pool.packet(&vec![7; len]).unwrap();
        assert!(p.network_array::<1>().is_none() && p.network_array_mut::<1>().is_none());
        for at in 0..=len {
            p.set_network(at as isize, 20);
            let rest = len - at;
            assert_eq!(p.network_array::<20>().is_some(), rest >= 20, "{len} bytes, header at {at}");
            assert_eq!(p.network_array_mut::<28>().is_some(), rest >= 28, "{len} bytes, header at {at}");
            assert_eq!(p.network_arrays_mut::<20, 8>().is_some(), rest >= 28, "{len} bytes, header at {at}");
        }
        pool.free(p);
    }
}

/// Buffers come back to where those of their size are, whatever else was in the batch.
#[test]
fn batches_give_buffers_back() {
    let mut pool = Pool::new();
    for lengths in [&[10; 40][..], &[10, 60_000, 10], &[60_000; 3], &[]] {
        let mut batch = pool.batch();
        batch.extend(lengths.iter().map(|&len| pool.alloc(0, len).unwrap()));
        let large = lengths.iter().filter(|&&len| len > 10).count();
        let (small_before, large_before) = pool.cached();
        pool.recycle(batch);
        assert_eq!(pool.cached(), (small_before + lengths.len() - large, large_before + large));
        assert!(pool.batch().is_empty());
    }
}

/// A header that is written in front takes the place of those that were stripped; they come back as long as none is.
#[test]
fn headers_that_others_are_written_over_are_forgotten() {
    let places = |p: &Packet| [p.mac_offset(), p.network_offset(), p.transport_offset()];
    let stripped = |pool: &mut Pool, bytes: usize| {
        let mut p = pool.alloc(64, 80).unwrap();
        p.set_mac_offset(0);
        p.set_network(14, 20);
        assert!(p.pull(bytes));
        p
    };
    let mut pool = Pool::new();
    let mut back = stripped(&mut pool, 34);
    assert!(back.push(34));
    assert_eq!(places(&back), [Some(0), Some(14), Some(34)]);
    for (bytes, left) in
        [(0, [Some(8), Some(22), Some(42)]), (14, [None, Some(8), Some(28)]), (34, [None; 3])]
    {
        let (mut prepended, mut array) = (stripped(&mut pool, bytes), stripped(&mut pool, bytes));
        assert!(prepended.prepend(8) && array.push_array::<8>().is_some());
        assert_eq!((places(&prepended), places(&array)), (left, left), "{bytes} bytes stripped");
        let mut network = stripped(&mut pool, bytes);
        assert!(network.push_network::<8>(8).is_some());
        assert_eq!(places(&network), [left[0], Some(0), Some(8)], "{bytes} bytes stripped");
        let mut link = stripped(&mut pool, bytes);
        assert!(link.push_mac::<8>().is_some());
        assert_eq!(places(&link), [Some(0), left[1], left[2]], "{bytes} bytes stripped");
    }
}

/// A network header that is known alone has no transport header; one too far behind is not known.
#[test]
fn a_network_header_alone() {
    let mut pool = Pool::new();
    for (headroom, known) in
        [(0, true), (128, true), (65_519, true), (65_520, true), (65_521, false), (65_536, false)]
    {
        let mut p = pool.alloc(headroom, 100).unwrap();
        p.set_network(0, 20);
        p.set_network_alone(14);
        assert_eq!((p.network_offset(), p.transport_offset()), (known.then_some(14), None), "{headroom}");
    }
}

/// What was stripped can be put back: in the packet, in a copy, and after the data has moved within its buffer or to another.
#[test]
fn stripped_headers_come_back() {
    let mut pool = Pool::new();
    let restored = |p: &mut Packet| {
        assert!(p.push(6));
        p.data()[..10] == *b"headerdata"
    };
    let mut p = pool.packet(b"headerdata").unwrap();
    assert!(p.pull(6));
    let mut copy = pool.copy(&p).unwrap();
    assert!(restored(&mut p) && restored(&mut copy));
    for headroom in [300, 40] {
        assert!(p.pull(6) && p.realign(headroom) && restored(&mut p));
    }
    assert!(p.pull(6));
    let mut larger = pool.reserve(p, 0, 50_000).unwrap();
    assert!(restored(&mut larger));
    // Also where little of the headroom is left.
    assert!(larger.pull(6) && larger.realign(3) && larger.push(3));
    assert_eq!(&larger.data()[..7], b"derdata");
}

/// A new packet carries nothing over from the buffer's former life.
#[test]
fn recycled_buffers_come_back_clean() {
    let mut pool = Pool::new();
    let mut p = pool.packet(b"old").unwrap();
    p.set_paint(7);
    p.set_timestamp_ns(5);
    p.set_network(0, 2);
    p.set_mac_offset(0);
    p.set_device(3);
    p.set_captured_link(0);
    let copy = pool.copy(&p).unwrap();
    assert_eq!(copy.captured_link(), Some(0), "a copy begins with the same");
    pool.free(p);
    let p = pool.packet(b"new").unwrap();
    assert_eq!((p.paint(), p.timestamp_ns(), p.device()), (0, 0, 0));
    assert_eq!(p.captured_link(), None);
    assert_eq!((p.network_offset(), p.transport_offset(), p.mac_offset()), (None, None, None));
}

/// A header position that cannot be stored counts as not known; the other one is.
#[test]
fn positions_that_do_not_fit() {
    let mut pool = Pool::new();
    let mut p = pool.alloc(0, 65_535).unwrap();
    for (offset, header_len, network, transport) in [
        (65_400, 20, Some(65_400), Some(65_420)),
        (65_500, 30, Some(65_500), Some(65_530)),
        (65_500, 60, Some(65_500), None),
        (65_534, 0, Some(65_534), Some(65_534)),
        (65_535, 0, None, None),
        (100, 70, Some(100), Some(170)),
        (-1, 20, None, Some(19)),
        (-40, 20, None, None),
    ] {
        p.set_network(offset, header_len);
        assert_eq!((p.network_offset(), p.transport_offset()), (network, transport), "{offset} {header_len}");
    }
}

/// Named places do not depend on each other unless they share bytes, and values survive a copy.
#[test]
fn annotations_read_back() {
    let mut pool = Pool::new();
    let mut p = pool.packet(b"x").unwrap();
    for (name, anno) in Anno::NAMES {
        assert_eq!(Anno::named(&format!("{name}_ANNO")), Some(*anno));
        p.set_anno(*anno, 0x0102_0304_0506_0708);
        let bits = anno.size.min(8) * 8;
        let want =
            if bits == 64 { 0x0102_0304_0506_0708 } else { 0x0102_0304_0506_0708 & ((1u64 << bits) - 1) };
        assert_eq!(p.anno(*anno), want, "{name}");
    }
    p.set_paint(200);
    p.set_dst_ip([10, 0, 0, 1].into());
    let copy = pool.copy(&p).unwrap();
    assert_eq!((copy.paint(), copy.dst_ip()), (200, [10, 0, 0, 1].into()));
    assert_eq!(
        (Anno::new(47, 2), Anno::new(usize::MAX, 1), Anno::new(usize::MAX - 1, 16)),
        (None, None, None)
    );
}

/// Two threads allocate, write a unique mark, exchange and free packets by every route (pool, drop, pool dropped with
/// buffers inside); a buffer that were handed out twice would lose its mark, a lost one would keep the arena growing.
#[test]
fn buffers_have_one_owner_across_threads() {
    const ROUNDS: u64 = 400;
    let (to_b, from_a) = std::sync::mpsc::sync_channel::<Vec<(u64, Packet)>>(4);
    let (to_a, from_b) = std::sync::mpsc::sync_channel::<Vec<(u64, Packet)>>(4);
    let run =
        |seed: u64, tx: std::sync::mpsc::SyncSender<_>, rx: std::sync::mpsc::Receiver<Vec<(u64, Packet)>>| {
            let mut pool = Pool::new();
            for round in 0..ROUNDS {
                let lot: Vec<(u64, Packet)> = (0..300)
                    .map(|i| {
                        let mark = seed << 32 | round << 16 | i;
                        (mark, pool.packet(&mark.to_ne_bytes()).unwrap())
                    })
                    .collect();
                let addresses: HashSet<*const u8> = lot.iter().map(|(_, p)| p.data().as_ptr()).collect();
                assert_eq!(addresses.len(), lot.len(), "a buffer was handed out twice");
                tx.send(lot).unwrap();
                for (i, (mark, packet)) in rx.recv().unwrap().into_iter().enumerate() {
                    assert_eq!(packet.data(), mark.to_ne_bytes(), "another owner wrote into this packet");
                    if i % 3 == 0 { drop(packet) } else { pool.free(packet) }
                }
                if round % 50 == 49 {
                    pool = Pool::new();
                }
            }
        };
    std::thread::scope(|s| {
        s.spawn(|| run(1, to_b, from_b));
        s.spawn(|| run(2, to_a, from_a));
    });
    // In flight at once: at most 300 a lot, a few lots in the channels and in hand, and what pools keep.
    assert!(clique_packet::circulating().0 < 30_000, "buffers leak: {:?}", clique_packet::circulating());
}

/// Sizes beyond the small class use the large one; beyond that, nothing.
#[test]
fn classes_by_size() {
    let mut pool = Pool::new();
    assert_eq!(pool.alloc(128, 1500).unwrap().room(), Class::Small.room());
    let jumbo = pool.alloc(128, 65_535).unwrap();
    assert_eq!((jumbo.room(), jumbo.len()), (Class::Large.room(), 65_535));
    assert!(pool.alloc(128, 70_000).is_none());
    assert!(pool.alloc(usize::MAX, 2).is_none());
}

/// A pool knows how many of its packets are out, whatever way they come back, and a thread how many went another way.
#[test]
fn packets_that_are_out_are_known() {
    let (mut pool, mut other) = (Pool::new(), Pool::new());
    let strays = clique_packet::strays();
    // More than a pool keeps, so that blocks come and go.
    let mut packets: Vec<Packet> = (0..2_000).map(|_| pool.alloc(0, 10).unwrap()).collect();
    packets.extend((0..3).map(|_| pool.alloc(0, 10_000).unwrap()));
    assert_eq!(pool.drawn(), 2_003);
    packets.drain(..1_500).for_each(|packet| pool.free(packet));
    let mut batch = pool.batch();
    batch.extend(packets.drain(..BATCH_MAX));
    pool.recycle(batch);
    assert_eq!(pool.drawn(), 503 - BATCH_MAX as i64);
    drop(packets.drain(..10));
    other.free(packets.pop().unwrap());
    assert_eq!((clique_packet::strays() - strays, other.drawn()), (10, -1));
    assert_eq!(pool.drawn(), packets.len() as i64 + 11);
}

/// Every byte of a packet is one of those that it was made of, however many they are.
#[test]
fn packets_of_all_short_lengths() {
    let mut pool = Pool::new();
    let bytes: Vec<u8> = (0..200).collect();
    for len in 0..bytes.len() {
        let packet = pool.packet(&bytes[..len]).unwrap();
        assert_eq!(packet.data(), &bytes[..len]);
        pool.free(packet);
        // The next one does not find them there.
        let blank = pool.packet(&[255; 200]).unwrap();
        pool.free(blank);
    }
}
