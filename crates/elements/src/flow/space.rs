//! What an element keeps of each flow.

use super::shared::{Flows, managers};
use packet::FlowTag;
use router::{ConfigError, Cx};
use std::sync::Arc;

/// Flows whose memory comes together.
const CHUNK: usize = 1024;

/// Of one flow.
#[derive(Clone, Default)]
struct State<T> {
    /// 0 if there was no flow.
    generation: u32,
    value: T,
}

/// Something of each flow that reaches an element on one worker. Memory for the flows that the worker's own managers find is there from
/// the beginning; where packets were handed over from another worker, it comes with the first flow of a chunk.
pub(super) struct Space<T> {
    managers: Vec<(u32, Arc<Flows>)>,
    chunks: Vec<Option<Box<[State<T>]>>>,
}

impl<T> Default for Space<T> {
    fn default() -> Space<T> {
        Space { managers: Vec::new(), chunks: Vec::new() }
    }
}

impl<T: Default + Clone> Space<T> {
    /// Finds the managers upstream. For `initialize`.
    pub(super) fn connect(&mut self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        self.managers = managers(cx)?;
        let end = |first: u32, flows: &Flows| first as usize + flows.total();
        let numbers = self.managers.iter().map(|(first, flows)| end(*first, flows)).max().unwrap_or(0);
        self.chunks.resize_with(numbers.div_ceil(CHUNK), || None);
        for (first, flows) in &self.managers {
            let own = *first as usize + flows.start_of(cx.worker());
            for chunk in own / CHUNK..(own + flows.per_worker()).div_ceil(CHUNK) {
                self.chunks[chunk].get_or_insert_with(new_chunk);
            }
        }
        Ok(())
    }

    /// What is kept of a flow, and whether it is new. What was kept of the flow that had its number before goes to `ended`.
    /// None if the flow is not known, or is over.
    #[inline]
    pub(super) fn of(&mut self, flow: FlowTag, ended: impl FnOnce(T)) -> Option<(&mut T, bool)> {
        let chunk = self.chunks.get_mut(flow.number as usize / CHUNK)?;
        if flow.number == 0 {
            return None;
        }
        let state = &mut chunk.get_or_insert_with(new_chunk)[flow.number as usize % CHUNK];
        if state.generation == flow.generation {
            return Some((&mut state.value, false));
        }
        // A packet that waited somewhere until its flow was over; generations wrap.
        if state.generation != 0 && (flow.generation.wrapping_sub(state.generation) as i32) < 0 {
            return None;
        }
        let old = std::mem::take(&mut state.value);
        if std::mem::replace(&mut state.generation, flow.generation) != 0 {
            ended(old);
        }
        Some((&mut state.value, true))
    }

    /// Forgets flows that are over.
    pub(super) fn sweep(&mut self, mut ended: impl FnMut(T)) {
        let chunks = self.chunks.iter_mut().enumerate();
        let states =
            chunks.filter_map(|(at, chunk)| Some((at * CHUNK..).zip(chunk.as_mut()?.iter_mut()))).flatten();
        for (number, state) in states {
            let manager = self.managers.iter().rfind(|(first, _)| *first as usize <= number);
            let live = |(first, flows): &(u32, Arc<Flows>)| {
                flows.is_live(number - *first as usize, state.generation)
            };
            if state.generation != 0 && !manager.is_some_and(live) {
                state.generation = 0;
                ended(std::mem::take(&mut state.value));
            }
        }
    }
}

fn new_chunk<T: Default + Clone>() -> Box<[State<T>]> {
    vec![State::default(); CHUNK].into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(number: u32, generation: u32) -> FlowTag {
        FlowTag { number, generation }
    }

    /// What is kept of a flow ends with it, whether another one has its number by then or nobody does; packets that were late get
    /// nothing, and neither do those without a flow, or with one that no manager has.
    #[test]
    fn flows_come_and_go() {
        let flows = Arc::new(Flows::new(&[0], 2).unwrap());
        let chunks = vec![None];
        let mut space: Space<u8> = Space { managers: vec![(1, flows.clone())], chunks };
        let mut ended = Vec::new();
        let mut enter = |space: &mut Space<u8>, tag, value: u8| {
            let (kept, new) = space.of(tag, |old| ended.push(old))?;
            Some((std::mem::replace(kept, value), new))
        };
        assert_eq!(enter(&mut space, tag(1, 1), 7), Some((0, true)));
        assert_eq!(enter(&mut space, tag(2, 5), 9), Some((0, true)));
        assert_eq!(enter(&mut space, tag(1, 1), 8), Some((7, false)));
        assert_eq!(enter(&mut space, tag(1, 3), 4), Some((0, true)));
        assert_eq!(enter(&mut space, tag(1, 1), 6), None);
        assert_eq!(enter(&mut space, FlowTag::NONE, 6), None);
        assert_eq!(enter(&mut space, tag(CHUNK as u32, 1), 6), None);
        assert_eq!(ended, [8]);
        flows.set_generation(0, 3);
        flows.set_generation(1, 6);
        let mut swept = Vec::new();
        space.sweep(|old| swept.push(old));
        assert_eq!(swept, [9]);
        assert_eq!(space.of(tag(1, 3), drop), Some((&mut 4, false)));
    }
}
