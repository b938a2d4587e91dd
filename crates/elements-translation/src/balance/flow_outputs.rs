//! The outputs of flows: what the elements remember that spread flows without a flow manager.

use elements_shared::flow_id::{FlowId, Key};
use elements_shared::keyed_hash::HashKey;
use router::{Config, ConfigError, TableSize};
use std::collections::HashMap;
use std::hash::RandomState;

/// What output the packets of each flow leave at.
pub(super) struct FlowOutputs {
    /// Its hasher has a secret, so that no sender can choose flows that collide.
    flows: HashMap<FlowId, usize>,
    capacity: usize,
    outputs: usize,
    /// For flows that there is no room for.
    key: HashKey,
}

impl FlowOutputs {
    /// From the arguments MAX and CAPACITY.
    pub(super) fn new(config: &mut Config<'_>) -> Result<FlowOutputs, ConfigError> {
        let (mut max, mut capacity) = (config.outputs() as u32, TableSize(65536));
        config.args().keyword("MAX", &mut max).keyword("CAPACITY", &mut capacity).finish()?;
        let outputs = max as usize;
        if outputs == 0 || outputs > config.outputs() {
            return Err(format!("MAX: between 1 and {} expected", config.outputs()).into());
        }
        // With its room from the beginning, the table never grows while packets come.
        let flows = HashMap::with_capacity_and_hasher(capacity.0, RandomState::new());
        Ok(FlowOutputs { flows, capacity: capacity.0, outputs, key: HashKey::new(config.seed()) })
    }

    /// How many outputs take part.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Flows that are remembered.
    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    /// The output of a flow; that of a new one is chosen.
    #[inline]
    pub(super) fn of(&mut self, flow: FlowId, choose: impl FnOnce() -> usize) -> usize {
        if let Some(&output) = self.flows.get(&flow) {
            return output;
        }
        if self.flows.len() >= self.capacity {
            let hash = Key::new(0, flow).hash(&self.key);
            return hash as usize % self.outputs;
        }
        let output = choose();
        self.flows.insert(flow, output);
        output
    }

    /// All flows, for the element's namesake in a configuration that replaces this one.
    pub(super) fn give(&mut self) -> HashMap<FlowId, usize> {
        std::mem::take(&mut self.flows)
    }

    /// Takes over what a namesake gave: flows keep their outputs, as far as these are there.
    pub(super) fn adopt(&mut self, old: HashMap<FlowId, usize>) {
        let known = old.into_iter().filter(|(_, output)| *output < self.outputs);
        self.flows.extend(known.take(self.capacity));
    }
}
