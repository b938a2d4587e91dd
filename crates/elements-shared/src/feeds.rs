//! Where an element's packets come from.

use router::Info;
use std::collections::BTreeSet;

/// The elements that bring packets to another one, with the workers that they run on. As long as they are the same, a packet comes to the
/// worker that it came to before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feeds(BTreeSet<(String, Vec<usize>)>);

impl Feeds {
    /// Those of an element: everything upstream that has no input, or turns pulling into pushing, and so has work of its own.
    pub fn of(info: &Info, element: usize) -> Feeds {
        let (mut known, mut ahead) = (BTreeSet::from([element]), vec![element]);
        let mut feeds = BTreeSet::new();
        while let Some(at) = ahead.pop() {
            let node = &info.nodes[at];
            let pulls = node.inputs.iter().any(|input| !input.push);
            if node.inputs.is_empty() || pulls && node.outputs.iter().any(|output| output.push) {
                feeds.insert((node.name.clone(), node.workers.clone()));
            }
            let peers = node.inputs.iter().flat_map(|input| &input.peers);
            ahead.extend(peers.map(|&(peer, _)| peer).filter(|&peer| known.insert(peer)));
        }
        Feeds(feeds)
    }
}
