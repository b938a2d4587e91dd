//! Finding the interval that a number is in.

/// Keys of one node: they fill a cache line.
pub(super) const KEYS: usize = 16;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))] // one cache line, not parts of two
struct Node([u32; KEYS]);

/// A static search tree over the starts of intervals.
///
/// The lowest level has all starts, in nodes of 16. A node of a higher level has the first starts of the nodes below it, but
/// for the first of these nodes: how many it has passed tells a number which of 16 nodes follows. A thousand intervals take
/// three steps, without a branch that depends on the number.
#[derive(Clone, Debug)]
pub(super) struct SearchTree {
    /// All nodes, level by level: those below node `n` are `16 n + 1` and the 15 that follow it.
    nodes: Vec<Node>,
    /// Levels above the lowest.
    upper: u32,
    /// The first node of the lowest level.
    lowest: usize,
    starts: usize,
}

/// How many keys are not greater than a number, if that can only be as many as `COUNT` of the last four that matter.
#[inline(always)] // called for each level
fn passed<const COUNT: usize>(node: &Node, number: u32) -> usize {
    // First which four keys, then which of these: comparisons none of which waits for more than one other.
    let quarter: usize = [3, 7, 11].iter().map(|&last| usize::from(node.0[last] <= number)).sum();
    let keys = &node.0.as_chunks::<4>().0[quarter][..COUNT];
    quarter * 4 + keys.iter().map(|&key| usize::from(key <= number)).sum::<usize>()
}

impl SearchTree {
    /// A tree of the starts of intervals, in order. What is below the first start is an interval, too.
    pub(super) fn new(starts: &[u32]) -> SearchTree {
        let (mut upper, mut below) = (0, KEYS); // how many keys one node of the root's level leads to
        while below < starts.len() {
            (upper, below) = (upper + 1, below * KEYS);
        }
        let mut tree = SearchTree { nodes: Vec::new(), upper, lowest: 0, starts: starts.len() };
        let key = |at: usize| starts.get(at).copied().unwrap_or(u32::MAX);
        for level in 0..upper {
            below /= KEYS;
            tree.lowest += KEYS.pow(level);
            let node = |at: usize| Node(std::array::from_fn(|i| key((at * KEYS + i + 1) * below)));
            tree.nodes.extend((0..KEYS.pow(level)).map(node));
        }
        // Nodes without starts are left out: only the largest number comes there.
        let node = |at: usize| Node(std::array::from_fn(|i| key(at * KEYS + i)));
        tree.nodes.extend((0..starts.len().div_ceil(KEYS)).map(node));
        tree
    }

    /// The number of starts that are not greater than a number.
    #[inline]
    pub(super) fn find(&self, number: u32) -> usize {
        let mut at = 0;
        for _ in 0..self.upper {
            // The last key of a node is the first of the next one, which the number is below.
            at = KEYS * at + 1 + self.nodes.get(at).map_or(0, |node| passed::<3>(node, number));
        }
        match self.nodes.get(at) {
            // The last node is filled up with the largest number.
            Some(node) => ((at - self.lowest) * KEYS + passed::<4>(node, number)).min(self.starts),
            None => self.starts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_walk_finds(
            starts in prop::collection::btree_set(prop_oneof![any::<u32>(), 1u32..50, (u32::MAX - 3)..=u32::MAX], 0..600),
            numbers in prop::collection::vec(any::<u32>(), 50),
        ) {
            let starts: Vec<u32> = starts.into_iter().collect();
            let tree = SearchTree::new(&starts);
            let edges = starts.iter().flat_map(|&start| [start.wrapping_sub(1), start, start.wrapping_add(1)]);
            for number in numbers.into_iter().chain(edges).chain([0, u32::MAX]) {
                prop_assert_eq!(tree.find(number), starts.iter().filter(|&&start| start <= number).count());
            }
        }
    }
}
