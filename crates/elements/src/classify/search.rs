//! Finding the interval that a number is in.

/// Keys of one node: they fill a cache line.
const KEYS: usize = 16;

type Node = [u32; KEYS];

/// A static search tree over the starts of intervals.
///
/// The lowest level has all starts, in nodes of 16. A node of a higher level has the first starts of the nodes below it, but
/// for the first of these nodes: how many it has passed tells a number which of 16 nodes follows. A thousand intervals take
/// three steps, without a branch that depends on the number.
#[derive(Clone, Debug)]
pub(super) struct SearchTree {
    /// All nodes, level by level, the root first.
    nodes: Vec<Node>,
    /// Where each level but the first starts.
    levels: Vec<usize>,
    starts: usize,
}

/// Nodes of these keys; the last one filled up.
fn nodes(keys: &[u32]) -> Vec<Node> {
    let mut nodes = vec![[u32::MAX; KEYS]; keys.len().div_ceil(KEYS).max(1)];
    nodes.iter_mut().zip(keys.chunks(KEYS)).for_each(|(node, keys)| node[..keys.len()].copy_from_slice(keys));
    nodes
}

/// How many keys are not greater than a number.
#[inline(always)] // called for each level
fn passed(node: &Node, number: u32) -> usize {
    // First which four keys, then which of these: seven comparisons, none of which waits for more than one other.
    let quarter: usize = [3, 7, 11].iter().map(|&last| usize::from(node[last] <= number)).sum();
    let keys = node.as_chunks::<4>().0[quarter];
    quarter * 4 + keys.iter().map(|&key| usize::from(key <= number)).sum::<usize>()
}

impl SearchTree {
    /// A tree of the starts of intervals, in order. What is below the first start is an interval, too.
    pub(super) fn new(starts: &[u32]) -> SearchTree {
        let mut keys = starts.to_vec();
        let mut levels = vec![nodes(&keys)];
        while keys.len() > KEYS {
            keys = keys.iter().copied().step_by(KEYS).collect();
            let mut level = nodes(&keys);
            for node in &mut level {
                node.rotate_left(1);
                node[KEYS - 1] = u32::MAX;
            }
            levels.push(level);
        }
        levels.reverse();
        let lengths = levels.iter().map(Vec::len);
        let ends = lengths.scan(0, |end, len| {
            *end += len;
            Some(*end)
        });
        let below = ends.take(levels.len() - 1).collect();
        SearchTree { nodes: levels.concat(), levels: below, starts: starts.len() }
    }

    /// The number of starts that are not greater than a number.
    #[inline]
    pub(super) fn find(&self, number: u32) -> usize {
        // The largest number passes what nodes are filled up with, too: it is stopped at the last node, and at the last start.
        let last = self.nodes.len() - 1;
        let (mut at, mut start) = (0, 0);
        for &level in &self.levels {
            at = at * KEYS + passed(&self.nodes[(start + at).min(last)], number);
            start = level;
        }
        let at = at.min(last - start);
        (at * KEYS + passed(&self.nodes[start + at], number)).min(self.starts)
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
