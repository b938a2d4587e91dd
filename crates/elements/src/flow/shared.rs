//! What a flow manager tells the elements behind it.

use router::{ConfigError, Cx, Info};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The numbers of a manager's flows: a range for each of its workers.
pub(super) struct Flows {
    workers: Vec<usize>,
    per_worker: usize,
    /// The latest generation of each flow that has ended, or has begun; odd ones are of flows that there are. Each has one writer, the
    /// worker whose flow it is; those who read hold on to what they know of a flow for a while longer if they read an old one.
    generations: Box<[AtomicU32]>,
}

/// Flows that there can be, of all managers.
const MOST: usize = 1 << 30;

impl Flows {
    pub(super) fn new(workers: &[usize], per_worker: usize) -> Result<Flows, ConfigError> {
        let total = workers.len().saturating_mul(per_worker);
        if total > MOST {
            return Err("CAPACITY: too large".into());
        }
        let generations = (0..total).map(|_| AtomicU32::new(0)).collect();
        Ok(Flows { workers: workers.to_vec(), per_worker, generations })
    }

    pub(super) fn per_worker(&self) -> usize {
        self.per_worker
    }

    pub(super) fn total(&self) -> usize {
        self.generations.len()
    }

    /// Where a worker's flows begin.
    pub(super) fn start_of(&self, worker: usize) -> usize {
        self.workers.iter().position(|&known| known == worker).unwrap_or(0) * self.per_worker
    }

    pub(super) fn set_generation(&self, at: usize, generation: u32) {
        self.generations[at].store(generation, Relaxed);
    }

    /// Whether a flow of this generation is still there.
    pub(super) fn is_live(&self, at: usize, generation: u32) -> bool {
        self.generations.get(at).is_some_and(|latest| latest.load(Relaxed) == generation)
    }
}

/// The number of a manager's first flow: numbers are in the order of the configuration, from 1.
pub(super) fn first_number(info: &Info, element: usize) -> Result<u32, ConfigError> {
    let before = (0..element).filter_map(|other| info.shared::<Flows>(other));
    let total: usize = before.map(|flows| flows.total()).sum();
    match total + info.shared::<Flows>(element).map_or(0, |flows| flows.total()) {
        0..=MOST => Ok(total as u32 + 1),
        _ => Err("CAPACITY: there are too many flows, with those of the managers before this one".into()),
    }
}

/// The managers upstream of the running element, with their first numbers.
///
/// # Errors
/// There is none.
pub(super) fn managers(cx: &Cx<'_>) -> Result<Vec<(u32, Arc<Flows>)>, ConfigError> {
    let (info, mut known) = (cx.info(), BTreeSet::from([cx.index()]));
    let (mut ahead, mut found) = (vec![cx.index()], Vec::new());
    while let Some(element) = ahead.pop() {
        let peers = info.nodes[element].inputs.iter().flat_map(|input| &input.peers);
        for &(peer, _) in peers {
            if !known.insert(peer) {
                continue;
            }
            match info.shared::<Flows>(peer) {
                Some(flows) => found.push((first_number(info, peer)?, flows)),
                None => ahead.push(peer),
            }
        }
    }
    if found.is_empty() {
        return Err("needs a flow manager upstream, FlowIPManager for instance".into());
    }
    found.sort_unstable_by_key(|(first, _)| *first);
    Ok(found)
}
