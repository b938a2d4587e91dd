//! In-memory interfaces: order and number of frames, ownership of queues, counters, taps and pairs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use clique_device::frames::{Builder, FrameSet, Kind};
use clique_device::memory::{Config, Feed, InjectError, Interface, Interfaces, NameTaken, TapConfig};
use proptest::prelude::*;

/// Frames of 1, 2, ... bytes, each filled with its index.
fn frames(count: u8) -> Arc<FrameSet> {
    let mut builder = Builder::new();
    for i in 0..count {
        builder.push(Kind::Good, &vec![i; usize::from(i) + 1]).unwrap();
    }
    Arc::new(builder.build())
}

fn interface_with(feed: Feed) -> Arc<Interface> {
    Interface::new("m0", Config { rx: vec![feed], tx_queues: 0, tap: None })
}

#[test]
fn a_set_hands_out_what_was_put_in() {
    let set = frames(3);
    assert_eq!((set.len(), set.bytes_total()), (3, 6));
    assert_eq!(set.get(2).unwrap().bytes, [2, 2, 2]);
    assert_eq!(set.get(2).unwrap().kind, Kind::Good);
    assert!(set.get(3).is_none());
    assert_eq!(set.iter().map(|frame| frame.bytes.len()).collect::<Vec<_>>(), [1, 2, 3]);
}

proptest! {
    #[test]
    fn bursts_walk_the_set_in_a_circle(
        count in 0..7_u8, start in 0..20_usize, limit in prop::option::of(0..40_u64),
        bursts in prop::collection::vec(0..12_usize, 0..10),
    ) {
        let interface = interface_with(Feed::Frames { set: frames(count), start, limit });
        let mut queue = interface.take_rx(0).unwrap();
        let wanted: usize = bursts.iter().sum();
        let wanted = if count == 0 { 0 } else { wanted.min(limit.unwrap_or(u64::MAX) as usize) };
        let expected: Vec<_> = (0..wanted).map(|i| ((start + i) % usize::from(count)) as u8).collect();
        let mut seen = Vec::new();
        for burst in bursts {
            let before = seen.len();
            let shown = queue.next_burst(burst, |frame| {
                assert_eq!(frame.len(), usize::from(frame[0]) + 1);
                seen.push(frame[0]);
            });
            prop_assert_eq!(shown, seen.len() - before);
        }
        prop_assert_eq!(&seen, &expected);
        prop_assert_eq!(queue.is_exhausted(), count == 0 || limit == Some(wanted as u64));
        let stats = interface.rx_stats();
        prop_assert_eq!(stats.packets, expected.len() as u64);
        prop_assert_eq!(stats.bytes, expected.iter().map(|i| u64::from(*i) + 1).sum::<u64>());
    }

    #[test]
    fn a_pair_is_two_bounded_queues(
        capacity in 1..5_usize,
        steps in prop::collection::vec((any::<bool>(), prop::option::of(prop::collection::vec(any::<u8>(), 0..9))), 0..60),
    ) {
        let ends = Interface::pair(["a", "b"], 1, capacity);
        let mut tx = [ends[0].take_tx(0).unwrap(), ends[1].take_tx(0).unwrap()];
        let mut rx = [ends[1].take_rx(0).unwrap(), ends[0].take_rx(0).unwrap()];
        let mut model = [VecDeque::new(), VecDeque::new()];
        let mut dropped = [0, 0];
        for (direction, step) in steps {
            let way = usize::from(direction);
            match step {
                Some(frame) => {
                    let fits = model[way].len() < capacity;
                    prop_assert_eq!(tx[way].send(&frame), fits);
                    if fits { model[way].push_back(frame) } else { dropped[way] += 1 }
                }
                None => {
                    let mut got = None;
                    rx[way].next_burst(1, |frame| got = Some(frame.to_vec()));
                    prop_assert_eq!(got, model[way].pop_front());
                }
            }
            prop_assert_eq!(rx[way].is_empty(), model[way].is_empty());
        }
        prop_assert_eq!([ends[0].tx_stats().dropped, ends[1].tx_stats().dropped], dropped);
    }
}

#[test]
fn queues_of_a_looped_interface_start_at_their_share() {
    let interface = Interface::new("m0", Config::looped(&frames(10), 3));
    let firsts: Vec<_> = (0..3)
        .map(|queue| {
            let mut first = 0;
            interface.take_rx(queue).unwrap().next_burst(1, |frame| first = frame[0]);
            first
        })
        .collect();
    assert_eq!(firsts, [0, 3, 6]);
    assert_eq!((interface.rx_queues(), interface.tx_queues()), (3, 3));
}

#[test]
fn a_queue_has_one_owner_and_goes_on_where_the_last_one_stopped() {
    let interface = Interface::new("m0", Config::looped(&frames(5), 1));
    let mut first = interface.take_rx(0).unwrap();
    assert!(interface.take_rx(0).is_none());
    assert!(interface.take_rx(1).is_none());
    first.next_burst(2, |_| {});
    drop(first);
    let mut seen = 0;
    interface.take_rx(0).unwrap().next_burst(1, |frame| seen = frame[0]);
    assert_eq!(seen, 2);

    let sender = interface.take_tx(0).unwrap();
    assert!(interface.take_tx(0).is_none());
    drop(sender);
    assert!(interface.take_tx(0).is_some());
}

#[test]
fn injected_frames_arrive_in_order_and_are_bounded() {
    let interface = Interface::new("m0", Config::rings(2, 2));
    assert_eq!(interface.inject(1, b"one"), Ok(()));
    assert_eq!(interface.inject(1, b"two"), Ok(()));
    assert_eq!(interface.inject(1, b"three"), Err(InjectError::Full));
    assert_eq!(interface.inject(2, b""), Err(InjectError::NoSuchQueue));
    let mut seen = Vec::new();
    let mut queue = interface.take_rx(1).unwrap();
    assert_eq!(queue.next_burst(9, |frame| seen.push(frame.to_vec())), 2);
    assert_eq!(seen, [&b"one"[..], b"two"]);
    assert!(queue.is_empty() && !queue.is_exhausted());
    assert_eq!(interface.inject(1, &[3; 9000]), Ok(()), "buffers grow for long frames");
    assert_eq!(queue.next_burst(9, |frame| assert_eq!(frame, [3; 9000])), 1);
    let looped = Interface::new("m1", Config::looped(&frames(1), 1));
    assert_eq!(looped.inject(0, b""), Err(InjectError::NotARing));
}

#[test]
fn the_tap_takes_every_kth_frame_of_a_queue_and_counts_what_it_misses() {
    let tap = TapConfig { every: 3, capacity: 4 };
    let interface = Interface::new("m0", Config { rx: Vec::new(), tx_queues: 2, tap: Some(tap) });
    let mut queue = interface.take_tx(0).unwrap();
    for i in 1..=20 {
        assert!(queue.send(&[i]));
    }
    // The count goes on with the next owner, and each queue has its own.
    drop(queue);
    interface.take_tx(0).unwrap().send(&[21]);
    interface.take_tx(1).unwrap().send(&[99; 2]);
    let mut seen = Vec::new();
    assert_eq!(interface.drain_tap(2, |frame| seen.push(frame[0])), 2);
    assert_eq!(interface.drain_tap(9, |frame| seen.push(frame[0])), 2);
    assert_eq!(seen, [3, 6, 9, 12]);
    let stats = interface.tx_stats();
    assert_eq!((stats.packets, stats.bytes, stats.dropped, stats.tap_overflow), (22, 23, 0, 3));
    assert_eq!(interface.tx_queue_stats(1).unwrap().bytes, 2);
    assert!(interface.tx_queue_stats(2).is_none());
}

#[test]
fn no_frame_is_lost_or_made_up_between_threads() {
    const FRAMES: u32 = 20_000;
    let [a, b] = Interface::pair(["a", "b"], 2, 16);
    thread::scope(|scope| {
        for queue in 0..2 {
            let (a, b) = (&a, &b);
            scope.spawn(move || {
                let mut tx = a.take_tx(queue).unwrap();
                for i in 0..FRAMES {
                    while !tx.send(&i.to_be_bytes()) {
                        thread::yield_now();
                    }
                }
            });
            scope.spawn(move || {
                let mut rx = b.take_rx(queue).unwrap();
                let mut expected = 0_u32;
                while expected < FRAMES {
                    let got = rx.next_burst(8, |frame| {
                        assert_eq!(frame, expected.to_be_bytes());
                        expected += 1;
                    });
                    if got == 0 {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(a.tx_stats().packets, 2 * u64::from(FRAMES));
    assert_eq!(b.rx_stats().packets, 2 * u64::from(FRAMES));
}

#[test]
fn the_registry_keeps_names_apart() {
    let interfaces = Interfaces::new();
    for name in ["b", "a"] {
        interfaces.add(Interface::new(name, Config::default())).unwrap();
    }
    let again = interfaces.add(Interface::new("a", Config::rings(1, 1)));
    assert_eq!(again, Err(NameTaken("a".to_owned())));
    assert_eq!(interfaces.get("a").unwrap().rx_queues(), 0, "the first one stays");
    assert!(interfaces.get("c").is_none());
    assert_eq!(interfaces.all().iter().map(|interface| interface.name()).collect::<Vec<_>>(), ["a", "b"]);
}
