//! What the table's parts must have in common.

use super::*;
use crate::key::Label;
use proptest::prelude::*;

const MS: i64 = 1_000_000;

impl<K: Key, V: Default, const KEYS: usize> Table<K, V, KEYS> {
    /// Each flow is in exactly one place: its keys lead to it, it is counted, and what is counted is there.
    pub(crate) fn check(&self) {
        let (mut flows, mut unconfirmed, mut names) = (0, 0, 0);
        for (number, record) in self.records.iter() {
            flows += 1;
            unconfirmed += usize::from(!record.is(CONFIRMED));
            for (name, key) in record.names(number) {
                names += 1;
                assert_eq!(self.peek(key.hash(&self.key), &key), Some(Slot(name)), "its key leads elsewhere");
            }
        }
        assert_eq!((flows, unconfirmed), (self.len, self.unconfirmed));
        assert_eq!(names, self.index.names() + self.growth.names(), "names without a record");
        if self.limits.quota > 0 {
            assert_eq!(self.quota.sum(), unconfirmed, "what the quotas count");
        }
    }
}

impl Growth {
    fn names(&self) -> usize {
        self.leaving.as_ref().map_or(0, |(index, _)| index.names())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is done with it, each flow stays in one place.
    #[test]
    fn each_flow_is_in_one_place(
        steps in prop::collection::vec((0u8..8, 0u64..60, 0i64..4000), 1..400),
        capacity in 1usize..40,
        quota in 0u16..4,
    ) {
        let limits = Limits { unconfirmed: capacity.div_ceil(2), quota, ..Limits::new(capacity) };
        let mut table: Pairs<Label, u64> = Table::new(limits, HashKey::new(1));
        let (mut now, mut largest) = (0, capacity);
        for (what, number, later) in steps {
            now += later * MS;
            let (a, b) = (Label(number), Label(number + 1000));
            let (hash_a, hash_b) = (table.hash(&a), table.hash(&b));
            let slot = table.find(hash_a, &a);
            match (what, slot) {
                (0..3, None) => drop(table.insert_pair(hash_a, a, hash_b, b, number, now)),
                (0..3, Some(slot)) => prop_assert_eq!(table.meet(slot, now).map(|value| *value), Some(number)),
                (3, Some(slot)) => prop_assert_eq!(table.remove(slot), Some((a, number))),
                (4, _) => drop(table.expire(now, 3, &mut |key, value| assert_eq!(key, Label(value)))),
                (5, _) => {
                    largest = largest.max(number as usize * 4);
                    table.grow(largest);
                }
                (6, Some(slot)) => table.set_state(slot, (number % 8) as u8, now),
                (7, Some(slot)) => table.touch(slot, now),
                _ => {}
            }
            table.check();
            prop_assert!(table.len() <= table.limits().capacity);
            prop_assert!(table.unconfirmed() <= table.limits().unconfirmed);
        }
        while table.expire(now + 40_000 * MS, 5, &mut |_, _| ()) {
            table.check();
        }
        prop_assert_eq!(table.len(), 0);
        prop_assert!(table.index.is_clear());
    }
}
