//! Several next hops for one prefix, each with a weight.

/// Members that share what goes to them in proportion to their weights.
///
/// The range of hashes is cut into pieces as long as the weights ask, one for each member in order, so that a hash always
/// leads to the same member, and a change of one weight moves as few hashes as cuts can.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group<T> {
    members: Box<[(T, u32)]>,
    /// Where each member's piece ends, exclusive; the last one is 2^32.
    ends: Box<[u64]>,
}

impl<T> Group<T> {
    /// A group of these members and weights. `None` without a member whose weight exceeds 0; others are left out.
    pub fn new(members: impl IntoIterator<Item = (T, u32)>) -> Option<Self> {
        let members: Box<[_]> = members.into_iter().filter(|&(_, weight)| weight > 0).collect();
        let total: u128 = members.iter().map(|&(_, weight)| u128::from(weight)).sum();
        if total == 0 {
            return None;
        }
        let mut sum = 0u128;
        let ends = members.iter().map(|&(_, weight)| {
            sum += u128::from(weight);
            ((sum << 32) / total) as u64
        });
        Some(Self { ends: ends.collect(), members })
    }

    /// The member for a hash, all of whose bits should be mixed.
    #[inline]
    pub fn pick(&self, hash: u32) -> &T {
        let at = self.ends.partition_point(|&end| end <= u64::from(hash));
        // The last piece ends behind the greatest hash.
        &self.members[at.min(self.members.len() - 1)].0
    }

    /// The members and their weights.
    pub fn members(&self) -> &[(T, u32)] {
        &self.members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_share_the_hashes() {
        let group = Group::new([('a', 1), ('b', 0), ('c', 3)]).unwrap();
        assert_eq!(group.members(), [('a', 1), ('c', 3)]);
        let edges = [0, (1 << 30) - 1, 1 << 30, u32::MAX];
        assert_eq!(edges.map(|hash| *group.pick(hash)), ['a', 'a', 'c', 'c']);
        assert!(Group::new([('a', 0)]).is_none());
        // No weight is too great, and a tiny one beside it may get nothing but breaks nothing.
        let group = Group::new([('a', u32::MAX), ('b', 1), ('c', u32::MAX)]).unwrap();
        assert_eq!([0, u32::MAX].map(|hash| *group.pick(hash)), ['a', 'c']);
    }
}
