//! What a flow manager tells the elements behind it.

use crate::feeds::Feeds;
use crate::flow_parking::Parking;
use packet::FlowTag;
use router::{ConfigError, Cx, Info};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A manager's flows: a range of places for each of its workers.
pub struct Flows {
    workers: Vec<usize>,
    per_worker: usize,
    /// The latest generation of each flow that has ended, or has begun; odd ones are of flows that there are. Each has one writer, the
    /// worker whose flow it is; those who read hold on to what they know of a flow for a while longer if they read an old one.
    generations: Box<[AtomicU32]>,
    parking: Parking,
}

/// Flows that there can be, of all managers.
const MOST: usize = 1 << 30;

impl Flows {
    /// Room for `per_worker` flows of each worker.
    ///
    /// # Errors
    /// That would be more than 2^30.
    pub fn new(workers: &[usize], per_worker: usize) -> Result<Flows, ConfigError> {
        let total = workers.len().saturating_mul(per_worker);
        if total > MOST {
            return Err("CAPACITY: too large".into());
        }
        let generations = (0..total).map(|_| AtomicU32::new(0)).collect();
        Ok(Flows { workers: workers.to_vec(), per_worker, generations, parking: Parking::default() })
    }

    /// Flows that a worker has room for.
    pub fn per_worker(&self) -> usize {
        self.per_worker
    }

    /// Flows that all workers have room for.
    pub fn total(&self) -> usize {
        self.generations.len()
    }

    /// Where flows wait that no worker has.
    #[inline]
    pub fn parking(&self) -> &Parking {
        &self.parking
    }

    /// Whether a worker is the one that acts for all, where one has to.
    pub fn is_first(&self, worker: usize) -> bool {
        self.workers.first() == Some(&worker)
    }

    /// Where a worker's flows begin.
    pub fn start_of(&self, worker: usize) -> usize {
        self.workers.iter().position(|&known| known == worker).unwrap_or(0) * self.per_worker
    }

    /// Says that the flow at a place has begun or ended.
    pub fn set_generation(&self, at: usize, generation: u32) {
        self.generations[at].store(generation, Relaxed);
    }

    fn generation(&self, at: usize) -> Option<u32> {
        Some(self.generations.get(at)?.load(Relaxed))
    }
}

/// The numbers of a manager's flows among those of all managers of a configuration.
#[derive(Clone)]
pub struct Numbers {
    /// The manager's name and class.
    manager: (String, &'static str),
    first: u32,
    /// What the generations of flows begin above. It differs where anything differs that numbers depend on, so that
    /// the tags of packets that wait in queues while the configuration is replaced fit no flow of another manager, or
    /// of other places, by chance.
    base: u32,
    flows: Arc<Flows>,
    feeds: Feeds,
}

impl Numbers {
    /// Those of a manager; None if the element is none. Numbers are in the order of the configuration, from 1.
    pub fn of(info: &Info, element: usize) -> Result<Option<Numbers>, ConfigError> {
        let Some(flows) = info.shared::<Flows>(element) else { return Ok(None) };
        let before: usize = (0..element).filter_map(|at| info.shared::<Flows>(at)).map(|f| f.total()).sum();
        if before + flows.total() > MOST {
            return Err(
                "CAPACITY: there are too many flows, with those of the managers before this one".into()
            );
        }
        let node = &info.nodes[element];
        let name = (node.name.clone(), node.class.name);
        Ok(Some(Numbers::new(name, before as u32 + 1, flows, Feeds::of(info, element))))
    }

    /// Those of a manager with this name and class, from `first` on.
    pub fn new(manager: (String, &'static str), first: u32, flows: Arc<Flows>, feeds: Feeds) -> Numbers {
        let mut hasher = DefaultHasher::new();
        (&manager, first, &flows.workers, flows.per_worker).hash(&mut hasher);
        // Even, as of flows that there are not.
        let base = hasher.finish() as u32 & !1;
        Numbers { manager, first, base, flows, feeds }
    }

    /// The first of all.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The one after the last.
    pub fn end(&self) -> usize {
        self.first as usize + self.flows.total()
    }

    /// Those of a worker's flows.
    pub fn of_worker(&self, worker: usize) -> std::ops::Range<usize> {
        let first = self.first as usize + self.flows.start_of(worker);
        first..first + self.flows.per_worker
    }

    /// What the generations of flows begin above.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Whether a flow is still there.
    pub fn is_live(&self, flow: FlowTag) -> bool {
        self.age(flow) == Some(0)
    }

    /// Whether no other flow has had the number since.
    pub fn is_latest(&self, flow: FlowTag) -> bool {
        self.age(flow).is_some_and(|age| age <= 1)
    }

    fn age(&self, flow: FlowTag) -> Option<u32> {
        let latest = self.flows.generation((flow.number - self.first) as usize)?;
        Some(latest.wrapping_sub(flow.generation))
    }

    /// Whether flows of the manager with the numbers `old`, of a former configuration, are this manager's now.
    pub fn succeeds(&self, old: &Numbers) -> bool {
        self.manager == old.manager
    }

    /// Whether flows of the manager with the numbers `old` stay with their workers: packets come to the same ones. Otherwise all of them are
    /// parked, because it cannot be known which worker sees them next; also while some are still parked from a change before.
    pub fn keeps(&self, old: &Numbers) -> bool {
        self.feeds == old.feeds && self.flows.workers == old.flows.workers && !old.flows.parking.was_open()
    }

    /// Where flows of the manager wait that no worker has.
    #[inline]
    pub fn parking(&self) -> &Parking {
        &self.flows.parking
    }

    /// What a flow is called now that had a tag by the numbers `old`; None if it has lost its place.
    pub fn translate(&self, old: &Numbers, flow: FlowTag) -> Option<FlowTag> {
        let at = (flow.number - old.first) as usize;
        let (worker, place) = (old.flows.workers.get(at / old.flows.per_worker)?, at % old.flows.per_worker);
        let share = self.flows.workers.iter().position(|known| known == worker)?;
        let number = self.first as usize + share * self.flows.per_worker + place;
        (place < self.flows.per_worker).then(|| FlowTag {
            number: number as u32,
            generation: flow.generation.wrapping_add(self.shift(old)),
        })
    }

    /// What is added to the generations of flows that had the numbers `old`.
    pub fn shift(&self, old: &Numbers) -> u32 {
        self.base.wrapping_sub(old.base)
    }
}

/// The numbers of the managers upstream of the running element, in ascending order.
///
/// # Errors
/// There is none.
pub fn managers(cx: &Cx<'_>) -> Result<Vec<Numbers>, ConfigError> {
    let (info, mut known) = (cx.info(), BTreeSet::from([cx.index()]));
    let (mut ahead, mut found) = (vec![cx.index()], Vec::new());
    while let Some(element) = ahead.pop() {
        let peers = info.nodes[element].inputs.iter().flat_map(|input| &input.peers);
        for &(peer, _) in peers {
            if !known.insert(peer) {
                continue;
            }
            match Numbers::of(info, peer)? {
                Some(numbers) => found.push(numbers),
                None => ahead.push(peer),
            }
        }
    }
    if found.is_empty() {
        return Err("needs a flow manager upstream, FlowIPManager for instance".into());
    }
    found.sort_unstable_by_key(Numbers::first);
    Ok(found)
}
