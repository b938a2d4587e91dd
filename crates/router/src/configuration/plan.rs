//! The plan of a configuration: what is fixed before any element exists.

use crate::chance::secret::Secret;
use crate::configuration::class::Classes;
use crate::configuration::filter::CompileFilter;
use crate::configuration::layout::Layout;
use crate::configuration::node::Node;
use crate::text::names::{ElementNames, InterfaceAddresses};
use lang::secrets::KeyNames;
use std::any::Any;

/// A configuration that is laid out. Nothing in it changes while the router runs.
pub struct Plan {
    /// The elements, in the order of the configuration.
    pub nodes: Vec<Node>,
    /// The configuration as a graph.
    pub graph: lang::Graph,
    /// The configuration's text as it was given.
    pub source: String,
    /// The variables of the configuration that have keys.
    pub key_names: KeyNames,
    /// The names of all classes that the program knows.
    pub class_names: Vec<&'static str>,
    /// Packets that sources put into a batch, at most.
    pub vector: usize,
    /// The seed of all randomness, unless there is a secret.
    pub seed: u64,
    /// Where randomness comes from instead.
    pub(crate) secret: Option<Secret>,
    /// How many configurations the same seed was for before.
    pub(crate) generation: u64,
    /// What says the addresses of the machine's interfaces.
    pub(crate) interfaces: Option<InterfaceAddresses>,
    /// What makes filters of expressions.
    pub(crate) filters: Option<CompileFilter>,
    /// The names of the elements.
    pub(crate) elements: ElementNames,
    /// Whether there is the handler `hotconfig`.
    pub(crate) reconfigurable: bool,
    /// Whether packets are counted: see [`crate::Router::balance`].
    pub(crate) counts: bool,
}

/// How a router is to run, as far as the plan says it.
pub(crate) struct RunOptions {
    pub(crate) vector: usize,
    pub(crate) seed: u64,
    pub(crate) secret: Option<Secret>,
    pub(crate) generation: u64,
    pub(crate) reconfigurable: bool,
    pub(crate) counts: bool,
}

impl Plan {
    /// The plan of a layout.
    pub(crate) fn new<C: Any + Send + Sync>(
        layout: Layout<C>,
        source: String,
        known: &Classes<C>,
        options: RunOptions,
    ) -> Plan {
        let nodes: Vec<Node> = (layout.graph.elements.iter())
            .zip(layout.classes)
            .zip(layout.ports)
            .zip(layout.placement.workers)
            .zip(layout.placement.homes)
            .map(|((((element, class), [inputs, outputs]), workers), home)| Node {
                name: element.name.clone(),
                class,
                config: element.config.clone(),
                landmark: element.landmark.clone(),
                span: element.span,
                inputs,
                outputs,
                workers,
                home,
            })
            .collect();
        Plan {
            key_names: KeyNames::of(nodes.iter().map(|node| node.config.as_str())),
            elements: nodes.iter().map(|node| node.name.as_str()).collect(),
            nodes,
            graph: layout.graph,
            source,
            class_names: known.names().collect(),
            vector: options.vector.clamp(1, packet::BATCH_MAX),
            seed: options.seed,
            secret: options.secret,
            generation: options.generation,
            interfaces: known.interfaces,
            filters: known.filters,
            reconfigurable: options.reconfigurable,
            counts: options.counts,
        }
    }

    /// The element with a name, seen from another element's compound: that compound's names hide those further out.
    pub fn find(&self, name: &str, from: Option<usize>) -> Option<usize> {
        self.elements.find(name, from.map_or("", |element| &self.nodes[element].name))
    }

    /// The seed with which this run comes again, if it can.
    pub fn given_seed(&self) -> Option<u64> {
        self.secret.is_none().then_some(self.seed)
    }

    /// The seed of one of many things: of which, `salt` says. Another one each time if there is a secret, and for each generation.
    pub(crate) fn seed(&self, salt: u64) -> u64 {
        match &self.secret {
            Some(secret) => secret.draw(),
            None => self.seed ^ self.generation.wrapping_mul(0xa076_1d64_78bd_642f) ^ salt,
        }
    }

    /// A seed that is the same for everything, and for configurations that follow. It is secret if this run has a secret: it may be handed on to the
    /// process that takes this one's place, and to no other.
    pub fn common_seed(&self) -> u64 {
        self.secret.as_ref().map_or(self.seed, Secret::common)
    }

    /// Workers that have an instance of some element: as many as there are up to the last one.
    pub(crate) fn workers(&self) -> usize {
        self.nodes.iter().flat_map(|node| node.workers.last()).max().map_or(1, |last| last + 1)
    }
}
