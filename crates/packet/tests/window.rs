//! Buffers lent to devices, against a model of who has what.

use clique_packet::{Loan, Packet, Pool, Window};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Op {
    /// Makes a packet here.
    Make(u8),
    /// Frees the oldest packet that is here.
    Free,
    /// Lends the oldest packet that is here.
    Lend(usize),
    /// Lends a new buffer.
    LendNew(usize),
    /// Takes the first buffer back that is lent.
    TakeBack(usize, usize, usize),
    /// Asks a borrower for something that it has not got.
    Lie(usize, u64),
    /// A borrower goes.
    Vanish(usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        any::<u8>().prop_map(Op::Make),
        Just(Op::Free),
        (0..2usize).prop_map(Op::Lend),
        (0..2usize).prop_map(Op::LendNew),
        (0..2usize, 0..3000usize, 0..3000usize).prop_map(|(who, at, len)| Op::TakeBack(who, at, len)),
        (0..2usize, 0..200_000_000u64).prop_map(|(who, at)| Op::Lie(who, at)),
        (0..2usize).prop_map(Op::Vanish),
    ]
}

proptest! {
    /// A buffer is with one owner at a time, comes back from the borrower that has it only, and keeps its data.
    #[test]
    fn who_has_what(ops in prop::collection::vec(op(), 1..60)) {
        let window = Window::get().unwrap();
        let mut pool = Pool::new();
        let borrowers = [window.borrower(), window.borrower()];
        let mut here: Vec<(u8, Packet)> = Vec::new();
        let mut lent: [BTreeMap<u64, Option<(u64, u8)>>; 2] = [BTreeMap::new(), BTreeMap::new()];
        for op in ops {
            match op {
                Op::Make(mark) => here.push((mark, pool.packet(&[mark; 60]).unwrap())),
                Op::Free if !here.is_empty() => pool.free(here.remove(0).1),
                Op::Lend(who) if !here.is_empty() => {
                    let (mark, packet) = here.remove(0);
                    let (start, data) = window.lend(packet, &borrowers[who]).unwrap();
                    prop_assert_eq!(window.start_of(data), start);
                    prop_assert!(lent.iter().all(|lent| !lent.contains_key(&start)), "lent twice");
                    lent[who].insert(start, Some((data, mark)));
                }
                Op::LendNew(who) => {
                    let Loan::Lent(start) = window.lend_new(&mut pool, &borrowers[who]) else {
                        panic!("so few buffers are in the window")
                    };
                    prop_assert!(lent.iter().all(|lent| !lent.contains_key(&start)), "lent twice");
                    lent[who].insert(start, None);
                }
                Op::TakeBack(who, at, len) => {
                    let Some((start, data)) = lent[who].pop_first() else { continue };
                    match data {
                        Some((data, mark)) => {
                            // SAFETY: there is no device that could write it.
                            let packet = unsafe { window.take_back(data, 60, &borrowers[who]) }.unwrap();
                            prop_assert_eq!(packet.data(), [mark; 60]);
                            here.push((mark, packet));
                        }
                        None => {
                            // A device may say what it likes about the place: the data stays within the buffer.
                            let at = start + (at % Window::STRIDE) as u64;
                            // SAFETY: as above.
                            let packet = unsafe { window.take_back(at, len, &borrowers[who]) }.unwrap();
                            prop_assert!(packet.headroom() + packet.len() <= packet.room());
                            prop_assert!(packet.len() <= len);
                            prop_assert!(packet.timestamp_ns() == 0 && packet.mac_offset().is_none());
                            pool.free(packet);
                        }
                    }
                    // SAFETY: as above.
                    let again = unsafe { window.take_back(start, 1, &borrowers[who]) };
                    prop_assert!(again.is_none(), "taken back twice");
                }
                Op::Lie(who, at) if !lent[who].contains_key(&window.start_of(at)) => {
                    // SAFETY: as above.
                    let data = unsafe { window.data(at, 9, &borrowers[who]) };
                    prop_assert!(data.is_none());
                    // SAFETY: as above.
                    let packet = unsafe { window.take_back(at, 9, &borrowers[who]) };
                    prop_assert!(packet.is_none());
                }
                Op::Vanish(who) => {
                    // SAFETY: as above.
                    let count = unsafe { window.take_all_back(&borrowers[who]) };
                    prop_assert_eq!(count, std::mem::take(&mut lent[who]).len());
                }
                _ => {}
            }
            prop_assert!(here.iter().all(|(mark, packet)| packet.data() == [*mark; 60]));
        }
        for (borrower, lent) in borrowers.iter().zip(lent) {
            // SAFETY: as above.
            let count = unsafe { window.take_all_back(borrower) };
            prop_assert_eq!(count, lent.len());
        }
    }
}
