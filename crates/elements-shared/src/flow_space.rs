//! What an element keeps of each flow.

use crate::flow_numbers::{Numbers, managers};
use packet::{Batch, FlowTag};
use router::{ConfigError, Cx};

/// Why packets are dropped that carry no flow that is known.
pub const NO_FLOW: &str = "no flow";

/// Flows whose memory comes together.
const CHUNK: usize = 1024;

/// Of one flow.
#[derive(Clone, Default)]
struct State<T> {
    /// 0 if there was no flow.
    generation: u32,
    value: T,
}

type Chunk<T> = Option<Box<[State<T>]>>;

/// Something of each flow that reaches an element on one worker. Memory for the flows that the worker's own managers find is there from
/// the beginning; where packets were handed over from another worker, it comes with the first flow of a chunk.
pub struct Space<T> {
    managers: Vec<Numbers>,
    chunks: Vec<Chunk<T>>,
}

impl<T> Default for Space<T> {
    fn default() -> Space<T> {
        Space { managers: Vec::new(), chunks: Vec::new() }
    }
}

impl<T: Default + Clone> Space<T> {
    /// Finds the managers upstream. For `initialize`.
    pub fn connect(&mut self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        self.managers = managers(cx)?;
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
        if !manager_of(&self.managers, flow.number)?.is_latest(flow) {
            return None;
        }
        let old = std::mem::take(&mut state.value);
        if std::mem::replace(&mut state.generation, flow.generation) != 0 {
            ended(old);
        }
        Some((&mut state.value, true))
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

    /// Looks at what is kept of each flow that there is, or was.
    pub fn each(&mut self, mut look: impl FnMut(&mut T)) {
        let states = self.chunks.iter_mut().flatten().flatten();
        states.filter(|state| state.generation != 0).for_each(|state| look(&mut state.value));
    }

    /// Forgets flows that are over.
    pub fn sweep(&mut self, mut ended: impl FnMut(T)) {
        for (flow, state) in states(&mut self.chunks) {
            if !manager_of(&self.managers, flow.number).is_some_and(|manager| manager.is_live(flow)) {
                state.generation = 0;
                ended(std::mem::take(&mut state.value));
            }
        }
    }

    /// Everything, for the element's namesake in a configuration that replaces this one.
    pub fn give(&mut self) -> Space<T> {
        let empty = self.chunks.iter().map(|_| None).collect();
        Space { managers: self.managers.clone(), chunks: std::mem::replace(&mut self.chunks, empty) }
    }

    /// Takes over what a namesake gave, in the form that `fit` gives it, of flows that have a place here; what `fit` makes nothing of is
    /// forgotten, so that the flow begins anew. Says in the log of how many flows nothing was taken over.
    pub fn adopt(&mut self, cx: &Cx<'_>, mut old: Space<T>, mut fit: impl FnMut(T) -> Option<T>) {
        let mut lost = 0;
        for (flow, state) in states(&mut old.chunks) {
            let tag = manager_of(&old.managers, flow.number).and_then(|former| {
                let manager = self.managers.iter().find(|manager| manager.succeeds(former))?;
                manager.translate(former, flow)
            });
            let kept = tag.and_then(|tag| Some((tag, fit(std::mem::take(&mut state.value))?)));
            let Some((FlowTag { number, generation }, value)) = kept else {
                lost += 1;
                continue;
            };
            let chunk = self.chunks[number as usize / CHUNK].get_or_insert_with(new_chunk);
            chunk[number as usize % CHUNK] = State { generation, value };
        }
        if lost > 0 {
            cx.log(&format!("{}: state of {lost} flows lost", cx.name()));
        }
    }
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

fn new_chunk<T: Default + Clone>() -> Box<[State<T>]> {
    vec![State::default(); CHUNK].into()
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
        let manager = Numbers::new(("m".to_owned(), "M"), 1, flows.clone());
        let mut space: Space<u8> = Space { managers: vec![manager], chunks: vec![None] };
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
