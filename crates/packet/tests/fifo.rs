//! A ring of packets against a deque of numbers.

use clique_packet::{BATCH_MAX, Batch, Fifo, Packet, Pool};
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Clone, Debug)]
enum Op {
    PushBack,
    PushFront,
    PopFront,
    PopBack,
    /// So many packets of a batch come in.
    Append(usize),
    /// Up to so many leave into a batch that has so many already.
    Take(usize, usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        Just(Op::PushBack),
        Just(Op::PushFront),
        Just(Op::PopFront),
        Just(Op::PopBack),
        (0..=BATCH_MAX).prop_map(Op::Append),
        (0..=BATCH_MAX + 3, 0..=BATCH_MAX).prop_map(|(most, before)| Op::Take(most, before)),
    ]
}

fn numbered(pool: &mut Pool, number: u32) -> Packet {
    pool.packet(&number.to_be_bytes()).expect("memory")
}

fn number(packet: &Packet) -> u32 {
    u32::from_be_bytes(packet.data().try_into().expect("four bytes"))
}

proptest! {
    /// Packets come out in the order of a deque, none is lost, and none is freed twice: each buffer is back in the end.
    #[test]
    fn behaves_like_a_deque(room in 0usize..100, ops in prop::collection::vec(op(), 1..80)) {
        let (mut pool, mut next) = (Pool::new(), 0..);
        let (mut fifo, mut model) = (Fifo::with_capacity(room), VecDeque::new());
        let drawn = pool.drawn();
        for op in ops {
            match op {
                Op::PushBack | Op::PushFront => {
                    let new = next.next().expect("a number");
                    let packet = numbered(&mut pool, new);
                    if matches!(op, Op::PushBack) {
                        fifo.push_back(packet);
                        model.push_back(new);
                    } else {
                        fifo.push_front(packet);
                        model.push_front(new);
                    }
                }
                Op::PopFront | Op::PopBack => {
                    let (packet, expected) = match op {
                        Op::PopFront => (fifo.pop_front(), model.pop_front()),
                        _ => (fifo.pop_back(), model.pop_back()),
                    };
                    prop_assert_eq!(packet.as_ref().map(number), expected);
                    packet.into_iter().for_each(|packet| pool.free(packet));
                }
                Op::Append(count) => {
                    let numbers: Vec<u32> = next.by_ref().take(count).collect();
                    let mut batch: Batch = pool.batch();
                    batch.extend(numbers.iter().map(|&number| numbered(&mut pool, number)));
                    fifo.append(&mut batch);
                    prop_assert!(batch.is_empty());
                    pool.recycle(batch);
                    model.extend(numbers);
                }
                Op::Take(most, before) => {
                    let mut batch = pool.batch();
                    batch.extend((0..before).map(|_| numbered(&mut pool, u32::MAX)));
                    fifo.take_into(&mut batch, most);
                    let count = most.min(model.len()).min(BATCH_MAX - before);
                    let expected: Vec<u32> = std::iter::repeat_n(u32::MAX, before).chain(model.drain(..count)).collect();
                    prop_assert_eq!(batch.iter().map(number).collect::<Vec<_>>(), expected);
                    pool.recycle(batch);
                }
            }
            prop_assert_eq!((fifo.len(), fifo.is_empty()), (model.len(), model.is_empty()));
            prop_assert_eq!(pool.drawn() - drawn, model.len() as i64);
        }
        // What is left comes out, too.
        let left: Vec<u32> = std::iter::from_fn(|| fifo.pop_front()).map(|packet| number(&packet)).collect();
        prop_assert_eq!(left, Vec::from(model));
    }
}

/// What a ring has when it goes is freed.
#[test]
fn packets_end_with_the_ring() {
    let mut pool = Pool::new();
    let before = clique_packet::strays();
    let mut fifo = Fifo::default();
    fifo.extend((0..40).map(|n| numbered(&mut pool, n)));
    drop(fifo);
    assert_eq!(clique_packet::strays() - before, 40);
}
