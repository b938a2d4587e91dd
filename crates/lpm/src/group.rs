//! Several next hops for one prefix, each with a weight.

use std::hash::{Hash, Hasher};

use rcu::Weigh;

/// Buckets of a group. With 4096, the share of one of two equal members is within about one percent of a half.
const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 12;

/// Members that share what goes to them in proportion to their weights: resilient hashing without state.
///
/// A flow's hash names one of 4096 buckets, and each bucket has a member. A member's claim on a bucket depends on these two
/// alone, and the highest claim wins (rendezvous hashing: Thaler and Ravishankar, "Using name-based mappings to increase hit
/// rates", 1998; with weights as in Resch, "New hashing algorithms for data storage", 2015). So
/// a new member takes buckets from the others, its share of each, and moves nothing between them; the buckets of one that
/// leaves go to the others, and no other bucket moves; and a group is the same however it came about.
///
/// The claims of one member on all buckets are a permutation with some noise, rather than independent numbers: shares
/// come out more even that way.
#[derive(Clone, Debug)]
pub struct Group<T> {
    members: Box<[(T, u32)]>,
    /// Each bucket's member.
    buckets: Box<[u16]>,
}

impl<T: Hash> Group<T> {
    /// A group of these members and weights, among which no member should be twice. Members of weight 0 are left out, as
    /// are those after the first 65,536. `None` if nothing is left.
    pub fn new(members: impl IntoIterator<Item = (T, u32)>) -> Option<Self> {
        let members: Box<[_]> = members.into_iter().filter(|&(_, weight)| weight > 0).take(1 << 16).collect();
        let &(_, first) = members.first()?;
        let names: Box<[u64]> = members.iter().map(|(member, _)| name(member)).collect();
        // The logarithm makes claims comparable between weights; between equal ones they are so anyway.
        let equal = members.iter().all(|&(_, weight)| weight == first);
        let claim = |at: usize, bucket: u32| match claim(names[at], bucket) {
            claim if equal => claim,
            claim => claim.ln() / f64::from(members[at].1),
        };
        let winner = |bucket| {
            let claims = (0..members.len()).map(|at| (claim(at, bucket), at));
            claims.max_by(|(a, _), (b, _)| a.total_cmp(b)).map_or(0, |(_, at)| at as u16)
        };
        let buckets = (0..BUCKETS as u32).map(winner).collect();
        Some(Self { members, buckets })
    }
}

impl<T: Weigh> Weigh for Group<T> {
    fn heap_bytes(&self) -> usize {
        self.members.heap_bytes() + self.buckets.heap_bytes()
    }
}

impl<T> Group<T> {
    /// The member for a hash, all of whose bits should be mixed.
    #[inline]
    pub fn pick(&self, hash: u32) -> &T {
        let bucket = hash >> (u32::BITS - BUCKET_BITS);
        &self.members[usize::from(self.buckets[bucket as usize])].0
    }

    /// The members and their weights.
    pub fn members(&self) -> &[(T, u32)] {
        &self.members
    }
}

/// A member's claim on a bucket, between 0 and 1, neither included.
fn claim(name: u64, bucket: u32) -> f64 {
    let noise = scramble(name ^ u64::from(bucket).wrapping_mul(0xd1b5_4a32_d192_ed03)) >> (64 - 40);
    let claim = u64::from(permuted(name, bucket)) << 40 | noise;
    (claim as f64 + 0.5) / (BUCKETS as f64 * (1u64 << 40) as f64)
}

/// A bucket's place in a permutation that belongs to a member: a Feistel network.
fn permuted(name: u64, bucket: u32) -> u32 {
    const HALF: u32 = BUCKET_BITS / 2;
    let (mut left, mut right) = (bucket >> HALF, bucket & ((1 << HALF) - 1));
    for round in 0..4 {
        let mixed = scramble(name ^ (u64::from(right) << 8 | round) << 32);
        (left, right) = (right, left ^ (mixed >> (64 - HALF)) as u32);
    }
    left << HALF | right
}

/// Mixes all bits of a number (the finalizer of SplitMix64: Steele, Lea and Flood, 2014).
fn scramble(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// What a member is known by: the same in every process, so that the routers of a cluster choose alike.
fn name(member: &impl Hash) -> u64 {
    struct Mix(u64);
    impl Hasher for Mix {
        fn write(&mut self, bytes: &[u8]) {
            for &byte in bytes {
                self.0 = scramble(self.0 ^ u64::from(byte));
            }
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut mix = Mix(bytes_of_this_crate());
    member.hash(&mut mix);
    mix.finish()
}

/// A start for names that is not that of other hashes.
const fn bytes_of_this_crate() -> u64 {
    u64::from_be_bytes(*b"nexthops")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Hashes of which each names another bucket.
    fn hashes() -> impl Iterator<Item = u32> {
        (0..BUCKETS as u32).map(|bucket| bucket << (32 - BUCKET_BITS) | bucket)
    }

    fn shares(group: &Group<u32>) -> BTreeMap<u32, usize> {
        let mut shares = BTreeMap::new();
        hashes().for_each(|hash| *shares.entry(*group.pick(hash)).or_default() += 1);
        shares
    }

    /// Whether shares are what the weights ask for. Five standard deviations of independent draws leave room for none but
    /// wrong shares.
    fn fair(group: &Group<u32>) -> bool {
        let total: f64 = group.members().iter().map(|&(_, weight)| f64::from(weight)).sum();
        let shares = shares(group);
        group.members().iter().all(|(member, weight)| {
            let part = f64::from(*weight) / total;
            let expected = part * BUCKETS as f64;
            let spread = (expected * (1.0 - part)).sqrt();
            let share = shares.get(member).copied().unwrap_or(0) as f64;
            (share - expected).abs() <= 5.0 * spread + 1.0
        })
    }

    fn members() -> impl Strategy<Value = BTreeMap<u32, u32>> {
        prop::collection::btree_map(any::<u32>(), 1u32..20, 1..9)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn shares_follow_weights(members in members()) {
            prop_assert!(fair(&Group::new(members).expect("a member")));
        }

        /// One member more takes its share and moves nothing else; so one that leaves moves only its own.
        #[test]
        fn only_what_must_move_moves(members in members(), new in any::<u32>(), weight in 1u32..20) {
            prop_assume!(!members.contains_key(&new));
            let mut more = members.clone();
            more.insert(new, weight);
            let (before, after) =
                (Group::new(members).expect("a member"), Group::new(more).expect("a member"));
            for hash in hashes() {
                prop_assert!(after.pick(hash) == before.pick(hash) || *after.pick(hash) == new);
            }
            prop_assert!(fair(&after));
        }

        /// More weight draws buckets from others to that member, and none elsewhere.
        #[test]
        fn more_weight_draws_only_to_itself(members in members(), at in any::<prop::sample::Index>()) {
            let mut heavier = members.clone();
            let grown = *at.get(&members.keys().copied().collect::<Vec<_>>());
            heavier.entry(grown).and_modify(|weight| *weight *= 2);
            let (before, after) =
                (Group::new(members).expect("a member"), Group::new(heavier).expect("a member"));
            for hash in hashes() {
                prop_assert!(after.pick(hash) == before.pick(hash) || *after.pick(hash) == grown);
            }
        }

        /// The order in which members are named does not matter.
        #[test]
        fn order_does_not_matter(members in members()) {
            let forth = Group::new(members.clone()).expect("a member");
            let back = Group::new(members.into_iter().rev()).expect("a member");
            prop_assert!(hashes().all(|hash| forth.pick(hash) == back.pick(hash)));
        }

        #[test]
        fn places_are_a_permutation(name in any::<u64>()) {
            let places: BTreeSet<u32> = (0..BUCKETS as u32).map(|bucket| permuted(name, bucket)).collect();
            prop_assert!(places.len() == BUCKETS && places.last() == Some(&(BUCKETS as u32 - 1)));
        }
    }

    /// Equal members get nearly equal shares, more so than chance would give them.
    #[test]
    fn equal_members_share_evenly() {
        for others in 1..60u32 {
            let shares = shares(&Group::new([(0, 1), (others, 1)]).expect("members"));
            assert!(shares.values().all(|&share| share.abs_diff(BUCKETS / 2) <= 80), "{others}: {shares:?}");
        }
    }

    #[test]
    fn weights_of_all_sizes() {
        let group = Group::new([('a', 1), ('b', 0), ('c', 3)]).expect("members");
        assert_eq!(group.members(), [('a', 1), ('c', 3)]);
        assert!(Group::new([('a', 0)]).is_none());
        let group = Group::new([('a', u32::MAX), ('b', 1), ('c', u32::MAX)]).expect("members");
        assert!(hashes().filter(|&hash| *group.pick(hash) == 'b').count() <= 1);
    }
}
