//! Which way flows went that are still going: a next hop that is added, or a weight that changes, then moves none of them.
//!
//! Each worker has a table of its own for the flows that it sees, of a fixed size, which no other worker looks at (Li, Qing, Macy, "Optimizing
//! the BSD routing system for parallel processing", PRESTO 2009, section 4). It never says where a route leads, only which of the next hops
//! that the route has now a flow goes on with; a flow that the table has forgotten, whether by age or because too many came,
//! goes where its hash says. So a sender who fills the table with flows gains nothing but the behaviour without one.

/// Flows that share a set: the one that was seen longest ago makes room.
const WAYS: usize = 8;

/// A flow.
#[derive(Clone, Copy)]
struct Entry<H> {
    flow: u64,
    seen_ns: i64,
    hop: H,
}

/// The table.
pub(super) struct Sticky<H> {
    sets: Box<[[Option<Entry<H>>; WAYS]]>,
    timeout_ns: i64,
}

impl<H: Copy + PartialEq> Sticky<H> {
    /// A table for at least so many flows, each remembered for so long after its last packet.
    pub(super) fn new(flows: usize, timeout_ns: i64) -> Self {
        let sets = flows.div_ceil(WAYS).max(1).next_power_of_two();
        Sticky { sets: vec![[None; WAYS]; sets].into(), timeout_ns }
    }

    /// Where a flow goes: where it went, if `is_there` says that this next hop is still one of its route's; otherwise to
    /// `chosen`, also from now on.
    pub(super) fn choose(&mut self, flow: u64, now_ns: i64, chosen: H, is_there: impl Fn(&H) -> bool) -> H {
        let at = flow as usize & (self.sets.len() - 1);
        let (set, oldest_ns) = (&mut self.sets[at], now_ns - self.timeout_ns);
        if let Some(entry) = set.iter_mut().flatten().find(|entry| entry.flow == flow) {
            if entry.seen_ns < oldest_ns || !is_there(&entry.hop) {
                entry.hop = chosen;
            }
            entry.seen_ns = now_ns;
            return entry.hop;
        }
        let seen_ns = |entry: &&mut Option<Entry<H>>| entry.map_or(i64::MIN, |entry| entry.seen_ns);
        if let Some(place) = set.iter_mut().min_by_key(seen_ns) {
            *place = Some(Entry { flow, seen_ns: now_ns, hop: chosen });
        }
        chosen
    }

    /// All flows, for a table that replaces this one.
    pub(super) fn give(&mut self) -> Self {
        let empty = Sticky::new(self.sets.len() * WAYS, self.timeout_ns);
        std::mem::replace(self, empty)
    }

    /// Goes on with the flows of another table, as far as there is room.
    pub(super) fn adopt(&mut self, old: Self) {
        let is_empty = self.sets.iter().flatten().all(Option::is_none);
        if is_empty && old.sets.len() == self.sets.len() {
            self.sets = old.sets;
            return;
        }
        for entry in old.sets.iter().flatten().flatten() {
            self.choose(entry.flow, entry.seen_ns, entry.hop, |_| true);
        }
    }

    /// Flows that are remembered.
    pub(super) fn len(&self, now_ns: i64) -> usize {
        let alive = |entry: &&Entry<H>| entry.seen_ns >= now_ns - self.timeout_ns;
        self.sets.iter().flatten().flatten().filter(alive).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lpm::Group;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Flows as they are hashed: any number, all bits mixed.
    fn hash(flow: u8) -> u64 {
        u64::from(flow).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn pick(group: &Group<u8>, flow: u64) -> u8 {
        *group.pick((flow >> 32) as u32)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// While next hops come and go, each flow behaves as a map would have it that forgets after the timeout.
        #[test]
        fn as_a_map(steps in prop::collection::vec((any::<u8>(), 0i64..20, 0u8..32), 1..300)) {
            // Room for all in whatever set.
            let mut table = Sticky::new(256 * WAYS, 100);
            let mut map: HashMap<u8, (u8, i64)> = HashMap::new();
            let (mut now, mut hops) = (1000, vec![1, 2]);
            for (flow, pause, change) in steps {
                now += pause;
                match change {
                    0..8 if !hops.contains(&change) => hops.push(change),
                    0..8 if hops.len() > 1 => hops.retain(|&hop| hop != change),
                    _ => {}
                }
                let group = Group::new(hops.iter().map(|&hop| (hop, 1))).expect("a member");
                let known = map.get(&flow).filter(|(hop, seen)| now - seen <= 100 && hops.contains(hop));
                let expected = known.map_or(pick(&group, hash(flow)), |known| known.0);
                map.insert(flow, (expected, now));
                let found = table.choose(hash(flow), now, pick(&group, hash(flow)), |hop| hops.contains(hop));
                prop_assert_eq!(found, expected);
            }
            prop_assert_eq!(table.len(now), map.values().filter(|(_, seen)| now - seen <= 100).count());
        }
    }

    /// Flows without end: the table stays as large as it is, the latest flows are in it, and none goes where its route does not.
    #[test]
    fn a_flood_is_harmless() {
        let mut table = Sticky::new(64, 1_000_000);
        let group = Group::new([(1, 1), (2, 1)]).expect("members");
        for flow in 0..100_000u64 {
            let flow = flow.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
            let chosen = pick(&group, flow);
            assert_eq!(table.choose(flow, 5, chosen, |_| true), chosen);
            assert_eq!(table.choose(flow, 5, 3 - chosen, |_| true), chosen);
        }
        assert!(table.len(5) <= 64);
    }
}
