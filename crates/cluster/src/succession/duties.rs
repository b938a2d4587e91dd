//! Which node does the duty of which: a node its own, until another takes it over.
//!
//! A duty has a term, which grows each time that it changes hands. Where two claim a duty, since they could not hear each other, the later
//! term counts; of two that are equal that of the node with the larger number.

use super::message::Duty;
use crate::NodeId;
use std::collections::BTreeMap;

/// What is known of all duties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Duties(BTreeMap<NodeId, (u32, NodeId)>);

impl Duties {
    /// Who does a node's duty.
    pub(super) fn holder(&self, of: NodeId) -> Option<NodeId> {
        self.0.get(&of).map(|&(_, holder)| holder)
    }

    /// All duties that are known, each as the node whose it is and the one that does it.
    pub(super) fn all(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.0.iter().map(|(&of, &(_, holder))| (of, holder))
    }

    /// What a node does.
    pub(super) fn of(&self, holder: NodeId) -> Vec<Duty> {
        self.0.iter().filter(|(_, held)| held.1 == holder).map(|(&of, &(term, _))| (of, term)).collect()
    }

    /// A node says what it does. Whether that is news.
    pub(super) fn hear(&mut self, holder: NodeId, duties: &[Duty]) -> bool {
        let mut is_news = false;
        for &(of, term) in duties {
            let claim = (term, holder);
            let known = self.0.entry(of).or_insert((0, holder));
            if claim > *known {
                is_news |= known.1 != holder || known.0 == 0;
                *known = claim;
            }
        }
        is_news
    }

    /// A claim counts, whatever was known.
    pub(super) fn set(&mut self, of: NodeId, claim: (u32, NodeId)) {
        self.0.insert(of, claim);
    }

    /// A node takes over a duty.
    pub(super) fn take(&mut self, of: NodeId, by: NodeId, at_least: u32) {
        let known = self.0.get(&of).map_or(0, |&(term, _)| term);
        self.0.insert(of, ((known + 1).max(at_least), by));
    }
}
