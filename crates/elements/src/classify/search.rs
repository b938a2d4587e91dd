//! Finding the interval that a number is in.

/// Keys of one node: they fill a cache line, and are compared all at once.
const KEYS: usize = 16;

type Node = [i32; KEYS];

/// A static search tree over the starts of intervals.
///
/// The lowest level has all starts, in nodes of 16. Each higher level has the first keys of the nodes below, so that a
/// node says with one comparison of all its keys which of 16 nodes follows. A thousand intervals take three steps without
/// a branch that depends on the number.
#[derive(Clone, Debug)]
pub(super) struct SearchTree {
    /// Levels above the lowest, from the root down.
    upper: Vec<Vec<Node>>,
    lowest: Vec<Node>,
    starts: usize,
}

/// Unsigned order as signed order, in which machines compare several numbers at once.
fn key(number: u32) -> i32 {
    (number ^ 0x8000_0000) as i32
}

/// Nodes of these keys; the last one filled up.
fn nodes(keys: &[i32]) -> Vec<Node> {
    let mut nodes = vec![[i32::MAX; KEYS]; keys.len().div_ceil(KEYS).max(1)];
    nodes.iter_mut().zip(keys.chunks(KEYS)).for_each(|(node, keys)| node[..keys.len()].copy_from_slice(keys));
    nodes
}

#[inline]
fn passed(node: &Node, number: i32) -> usize {
    node.iter().map(|&key| i32::from(key <= number)).sum::<i32>() as usize
}

impl SearchTree {
    /// A tree of the starts of intervals, in order. What is below the first start is an interval, too.
    pub(super) fn new(starts: &[u32]) -> SearchTree {
        let mut keys: Vec<i32> = starts.iter().map(|&start| key(start)).collect();
        let lowest = nodes(&keys);
        let mut upper: Vec<Vec<Node>> = Vec::new();
        while keys.len() > KEYS {
            keys = keys.iter().copied().step_by(KEYS).collect();
            let mut level = nodes(&keys);
            // Whoever comes to a node goes on to one of its children, at least to the first.
            level.iter_mut().for_each(|node| node[0] = i32::MIN);
            upper.push(level);
        }
        upper.reverse();
        SearchTree { upper, lowest, starts: starts.len() }
    }

    /// The number of starts that are not greater than a number.
    #[inline]
    pub(super) fn find(&self, number: u32) -> usize {
        let number = key(number);
        let mut at = 0;
        for level in &self.upper {
            at = at * KEYS + level.get(at).map_or(0, |node| passed(node, number) - 1);
        }
        // The largest number passes what nodes are filled up with.
        let at = at.min(self.lowest.len() - 1);
        (at * KEYS + passed(&self.lowest[at], number)).min(self.starts)
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
