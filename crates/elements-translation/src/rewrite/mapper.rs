//! Mappers: elements that choose among several patterns for each new flow.

use super::input::{Outputs, PatternRef};
use super::pattern::Pattern;
use super::record::NewFlow;
use super::source_hash::Ring;
use elements_shared::flow_id::FlowId;
use router::Info;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The classes of mappers.
pub(super) const CLASSES: &[&str] = &["RoundRobinIPMapper", "ThreadIPMapper", "SourceIPHashMapper"];

/// How a mapper chooses.
#[derive(Debug)]
pub(super) enum MapperPolicy {
    /// One pattern after the other; the next one is this.
    InTurn(AtomicUsize),
    /// By the worker that makes the flow.
    ByWorker,
    /// By the source address.
    BySource(Ring),
}

/// A mapper's shared part.
#[derive(Debug)]
pub(super) struct Mapper {
    policy: MapperPolicy,
    written: Vec<(PatternRef, Outputs)>,
    patterns: OnceLock<Vec<(Arc<Pattern>, Outputs)>>,
}

/// Whether they choose among the same patterns, in whatever way.
impl PartialEq for Mapper {
    fn eq(&self, other: &Mapper) -> bool {
        self.patterns.get() == other.patterns.get()
    }
}

impl Mapper {
    /// A mapper among these patterns, of which there is at least one.
    pub(super) fn new(policy: MapperPolicy, written: Vec<(PatternRef, Outputs)>) -> Mapper {
        Mapper { policy, written, patterns: OnceLock::new() }
    }

    /// Looks up the patterns that are named, once all elements exist. `of` is the mapper's element.
    ///
    /// # Errors
    /// There is no such pattern.
    pub(super) fn resolve(&self, info: &Info, of: usize) -> Result<(), String> {
        let resolve = |(pattern, outputs): &(PatternRef, Outputs)| Ok((pattern.resolve(info, of)?, *outputs));
        let patterns = self.written.iter().map(resolve).collect::<Result<Vec<_>, String>>()?;
        // Other instances of the element have found the same.
        let _ = self.patterns.set(patterns);
        Ok(())
    }

    /// Checks that a rewriter has the outputs that the patterns name. `of` is the mapper's element.
    ///
    /// # Errors
    /// It has not.
    pub(super) fn check(&self, info: &Info, of: usize, outputs: usize) -> Result<(), String> {
        let bad =
            self.written.iter().position(|(_, ports)| ports.iter().any(|&port| usize::from(port) >= outputs));
        bad.map_or(Ok(()), |pattern| {
            let mapper = info.nodes[of].declaration();
            Err(format!("output port out of range in {mapper} pattern {pattern}"))
        })
    }

    /// Whether packets of flows that it makes may leave by an output.
    pub(super) fn leads_to(&self, output: u16) -> bool {
        self.written.iter().any(|(_, outputs)| outputs.contains(&output))
    }

    /// Whether a flow that the mapper `old` made may go on: the pattern that made it is one of this mapper's, too.
    pub(super) fn keeps(&self, old: &Mapper, flow: &NewFlow) -> bool {
        let (Some(own), Some(theirs)) = (self.patterns.get(), old.patterns.get()) else { return false };
        own.iter()
            .filter(|entry| theirs.contains(entry))
            .any(|(pattern, outputs)| *outputs == flow.outputs && pattern.may_make(flow))
    }

    /// Whether one of its patterns may have made a flow.
    pub(super) fn may_make(&self, flow: &NewFlow) -> bool {
        self.keeps(self, flow)
    }

    /// Whether all its patterns map endpoints: see [`Pattern::maps_endpoints`].
    pub(super) fn maps_endpoints(&self) -> bool {
        self.patterns.get().is_some_and(|all| all.iter().all(|(pattern, _)| pattern.maps_endpoints()))
    }

    /// What the identifier of a new flow of a worker becomes, and where its packets leave. `choose` applies a pattern, if that is possible.
    pub(super) fn choose(
        &self,
        id: FlowId,
        worker: usize,
        mut choose: impl FnMut(&Pattern) -> Option<FlowId>,
    ) -> Option<(FlowId, Outputs)> {
        let patterns = self.patterns.get()?;
        let mut apply =
            |at: usize| patterns.get(at).and_then(|(pattern, outputs)| Some((choose(pattern)?, *outputs)));
        match &self.policy {
            MapperPolicy::InTurn(next) => (0..patterns.len()).find_map(|_| {
                let at = next.load(Relaxed);
                next.store(if at + 1 < patterns.len() { at + 1 } else { 0 }, Relaxed);
                apply(at)
            }),
            MapperPolicy::ByWorker => apply(worker % patterns.len().max(1)),
            MapperPolicy::BySource(ring) => apply(ring.find(id.source())),
        }
    }
}
