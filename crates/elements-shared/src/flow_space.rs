//! What an element keeps of each flow.

use crate::feeds::Feeds;
use crate::flow_numbers::{Numbers, managers};
use crate::flow_parking::{Id, Shelf};
use packet::{Batch, FlowTag};
use router::{ConfigError, Cx, Level};
use std::sync::Arc;

/// Why packets are dropped that carry no flow that is known.
pub const NO_FLOW: &str = "no flow";

/// Flows whose memory comes together.
const CHUNK: usize = 1024;

/// Of one flow.
#[derive(Default)]
struct State<T> {
    /// 0 if there was no flow.
    generation: u32,
    value: T,
}

type Chunk<T> = Option<Box<[State<T>]>>;

/// Something of each flow that reaches an element on one worker. Memory for the flows that the worker's own managers find is there from
/// the beginning; where packets were handed over from another worker, it comes with the first flow of a chunk.
///
/// When a hot swap may have other workers see the packets, what is kept of each flow waits for the worker that sees it first
/// ([`crate::flow_parking`]).
pub struct Space<T> {
    managers: Vec<Numbers>,
    /// Where the element keeps what it knows of flows that no worker has, or no worker has asked for, by manager.
    shelves: Vec<Arc<Shelf<T>>>,
    chunks: Vec<Chunk<T>>,
    feeds: Feeds,
    worker: usize,
    is_first: bool,
}

/// What goes to a new configuration.
pub struct Given<T> {
    space: Space<T>,
    /// What was parked, with the place of its manager.
    parked: Vec<(usize, Id, T)>,
}

impl<T> Default for Space<T> {
    fn default() -> Space<T> {
        let (managers, shelves, chunks) = (Vec::new(), Vec::new(), Vec::new());
        Space { managers, shelves, chunks, feeds: Feeds::default(), worker: 0, is_first: false }
    }
}

impl<T: Default + Send + 'static> Space<T> {
    /// Finds the managers upstream. For `initialize`.
    pub fn connect(&mut self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        self.managers = managers(cx)?;
        self.shelves = self.managers.iter().map(|manager| manager.parking().shelf(cx.name())).collect();
        self.feeds = Feeds::of(cx.info(), cx.index());
        self.worker = cx.worker();
        self.is_first = cx.info().nodes[cx.index()].workers.first() == Some(&self.worker);
        let numbers = self.managers.last().map_or(0, Numbers::end);
        self.chunks.resize_with(numbers.div_ceil(CHUNK), || None);
        for manager in &self.managers {
            let own = manager.of_worker(cx.worker());
            for chunk in own.start / CHUNK..own.end.div_ceil(CHUNK) {
                self.chunks[chunk].get_or_insert_with(new_chunk);
            }
        }
        Ok(())
    }

    /// What is kept of a flow, and whether it is new. What was kept of the flow that had its number before goes to `ended`.
    /// None if the flow is not known, or is over.
    #[inline]
    pub fn of(&mut self, flow: FlowTag, ended: impl FnOnce(T)) -> Option<(&mut T, bool)> {
        let chunk = self.chunks.get_mut(flow.number as usize / CHUNK)?;
        if flow.number == 0 {
            return None;
        }
        let state = &mut chunk.get_or_insert_with(new_chunk)[flow.number as usize % CHUNK];
        if state.generation == flow.generation {
            return Some((&mut state.value, false));
        }
        // A packet may have waited somewhere until its flow was over, or the configuration was replaced.
        let at = manager_at(&self.managers, flow.number)?;
        let (manager, shelf) = (&self.managers[at], &self.shelves[at]);
        if !manager.is_latest(flow) {
            return None;
        }
        let parked = if shelf.kept.is_empty() { None } else { manager.parking().take(shelf, flow) };
        let is_new = parked.is_none();
        let old = std::mem::replace(&mut state.value, parked.unwrap_or_default());
        if std::mem::replace(&mut state.generation, flow.generation) != 0 {
            ended(old);
        }
        Some((&mut state.value, is_new))
    }

    /// Asks for the memory of what is kept of a batch's flows.
    #[inline]
    pub fn prefetch(&self, batch: &Batch) {
        for packet in batch.iter() {
            let number = packet.flow().number as usize;
            if let Some(Some(chunk)) = self.chunks.get(number / CHUNK) {
                packet::prefetch(&chunk[number % CHUNK]);
            }
        }
    }

    /// Looks at what is kept of each flow that there is, or was, also of those that wait for a worker.
    pub fn each(&mut self, mut look: impl FnMut(&mut T)) {
        self.each_own(&mut look);
        self.each_parked(look);
    }

    /// Looks at what is kept of each flow of this worker that there is, or was.
    pub fn each_own(&mut self, mut look: impl FnMut(&mut T)) {
        let states = self.chunks.iter_mut().flatten().flatten();
        states.filter(|state| state.generation != 0).for_each(|state| look(&mut state.value));
    }

    /// Looks at what is kept of flows that wait for a worker: the same on all of them.
    pub fn each_parked(&self, mut look: impl FnMut(&mut T)) {
        for shelf in self.shelves.iter().filter(|shelf| !shelf.kept.is_empty() || !shelf.ended.is_empty()) {
            shelf.kept.with(|kept| kept.values_mut().for_each(&mut look));
            shelf.ended.with(|ended| ended.values_mut().for_each(&mut look));
        }
    }

    /// Flows of which something is kept; the element's first instance counts those that wait for a worker, too.
    pub fn len(&self) -> usize {
        let states = self.chunks.iter().flatten().flatten();
        let parked = self.shelves.iter().filter(|_| self.is_first).map(|shelf| shelf.kept.len());
        states.filter(|state| state.generation != 0).count() + parked.sum::<usize>()
    }

    /// Whether nothing is kept of any.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets flows that are over.
    pub fn sweep(&mut self, mut ended: impl FnMut(T)) {
        for (flow, state) in states(&mut self.chunks) {
            if !manager_of(&self.managers, flow.number).is_some_and(|manager| manager.is_live(flow)) {
                state.generation = 0;
                ended(std::mem::take(&mut state.value));
            }
        }
        for shelf in self.shelves.iter().filter(|shelf| !shelf.ended.is_empty()) {
            shelf.ended.take_all().into_values().for_each(&mut ended);
        }
    }

    /// Everything, for the element's namesake in a configuration that replaces this one.
    pub fn give(&mut self) -> Given<T> {
        // Before anything is taken out.
        self.managers.iter().for_each(|manager| _ = manager.parking().was_open());
        let mut parked = Vec::new();
        for (at, shelf) in self.shelves.iter().enumerate() {
            let all = shelf.kept.take_all().into_iter().chain(shelf.ended.take_all());
            parked.extend(all.map(|(id, kept)| (at, id, kept)));
        }
        Given { space: std::mem::take(self), parked }
    }

    /// Takes over what a namesake gave, in the form that `fit` gives it, of flows that have a place here; what `fit` makes nothing of is
    /// forgotten, so that the flow begins anew. Says in the log of how many flows nothing was taken over.
    pub fn adopt(&mut self, cx: &Cx<'_>, given: Given<T>, mut fit: impl FnMut(T) -> Option<T>) {
        let Given { space: mut old, parked } = given;
        let mut lost = 0;
        let stays = self.feeds == old.feeds && self.worker == old.worker;
        for (flow, state) in states(&mut old.chunks) {
            let way = manager_of(&old.managers, flow.number).and_then(|former| {
                let at = self.heir_of(former)?;
                let keeps = self.managers[at].keeps(former);
                let tag = if keeps { self.managers[at].translate(former, flow)? } else { flow };
                let parking = if keeps { self.managers[at].parking() } else { former.parking() };
                Some((at, tag, parking.id(tag), keeps && stays))
            });
            let kept = way.and_then(|way| Some((way, fit(std::mem::take(&mut state.value))?)));
            let Some(((at, FlowTag { number, generation }, id, is_own), value)) = kept else {
                lost += 1;
                continue;
            };
            if !is_own {
                self.shelves[at].kept.park(id, value);
                continue;
            }
            let chunk = self.chunks[number as usize / CHUNK].get_or_insert_with(new_chunk);
            chunk[number as usize % CHUNK] = State { generation, value };
        }
        for (former, id, kept) in parked {
            let at = old.managers.get(former).and_then(|former| self.heir_of(former));
            match at.and_then(|at| Some((at, fit(kept)?))) {
                Some((at, kept)) => self.shelves[at].kept.park(id, kept),
                None => lost += 1,
            }
        }
        if lost > 0 {
            cx.say(Level::Warning, format_args!("{}: state of {lost} flows lost", cx.name()));
        }
    }

    /// The place of the manager that goes on with another one's flows.
    fn heir_of(&self, former: &Numbers) -> Option<usize> {
        self.managers.iter().position(|manager| manager.succeeds(former))
    }
}

/// The place of the manager that a number is from.
fn manager_at(managers: &[Numbers], number: u32) -> Option<usize> {
    managers.iter().rposition(|manager| manager.first() <= number)
}

/// The manager that a number is from.
fn manager_of(managers: &[Numbers], number: u32) -> Option<&Numbers> {
    managers.iter().rfind(|manager| manager.first() <= number)
}

/// What is kept of flows, and of which.
fn states<T>(chunks: &mut [Chunk<T>]) -> impl Iterator<Item = (FlowTag, &mut State<T>)> {
    let chunks = chunks.iter_mut().enumerate();
    let states = chunks.filter_map(|(at, chunk)| Some((at * CHUNK..).zip(chunk.as_mut()?.iter_mut())));
    states.flatten().filter(|(_, state)| state.generation != 0).map(|(number, state)| {
        let generation = state.generation;
        (FlowTag { number: number as u32, generation }, state)
    })
}

fn new_chunk<T: Default>() -> Box<[State<T>]> {
    (0..CHUNK).map(|_| State::default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_numbers::Flows;
    use std::sync::Arc;

    fn tag(number: u32, generation: u32) -> FlowTag {
        FlowTag { number, generation }
    }

    /// What is kept of a flow ends with it, whether another one has its number by then or none does; packets that were late get
    /// nothing, and neither do those without a flow, or with one that no manager has.
    #[test]
    fn flows_come_and_go() {
        let flows = Arc::new(Flows::new(&[0], 2).unwrap());
        let manager = Numbers::new(("m".to_owned(), "M"), 1, flows.clone(), Feeds::default());
        let shelves = vec![manager.parking().shelf("e")];
        let mut space: Space<u8> =
            Space { managers: vec![manager], shelves, chunks: vec![None], ..Space::default() };
        flows.set_generation(0, 1);
        flows.set_generation(1, 5);
        let mut ended = Vec::new();
        let mut enter = |space: &mut Space<u8>, tag, value: u8| {
            let (kept, new) = space.of(tag, |old| ended.push(old))?;
            Some((std::mem::replace(kept, value), new))
        };
        assert_eq!(enter(&mut space, tag(1, 1), 7), Some((0, true)));
        assert_eq!(enter(&mut space, tag(2, 5), 9), Some((0, true)));
        assert_eq!(enter(&mut space, tag(1, 1), 8), Some((7, false)));
        flows.set_generation(0, 4);
        assert_eq!(enter(&mut space, tag(1, 3), 4), Some((0, true)), "over, but the last one");
        flows.set_generation(0, 3);
        assert_eq!(enter(&mut space, tag(1, 1), 6), None);
        assert_eq!(enter(&mut space, tag(1, 5), 6), None);
        assert_eq!(enter(&mut space, FlowTag::NONE, 6), None);
        assert_eq!(enter(&mut space, tag(CHUNK as u32, 1), 6), None);
        assert_eq!(ended, [8]);
        flows.set_generation(1, 6);
        let mut swept = Vec::new();
        space.sweep(|old| swept.push(old));
        assert_eq!(swept, [9]);
        assert_eq!(space.of(tag(1, 3), drop), Some((&mut 4, false)));
    }
}
