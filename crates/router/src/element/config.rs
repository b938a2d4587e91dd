//! How an element is made from its configuration.

use crate::configuration::plan::Plan;
use crate::element::estate::{Estate, StateReader};
use crate::error::ConfigError;
use crate::shared::info::SharedParts;
use crate::text::args::{Args, Scope};
use crate::text::current::Current;
use crate::text::names::{Names, Value};
use lang::Diagnostic;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// Things from outside a configuration that its elements may use (interfaces in memory, for instance), by type. The
/// program puts them in; elements look them up.
#[derive(Default)]
pub struct Resources {
    by_type: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
}

impl Resources {
    /// Puts a thing in, in the place of one of the same type.
    pub fn insert<T: Any + Send + Sync>(&mut self, thing: T) {
        self.by_type.insert(TypeId::of::<T>(), Box::new(thing));
    }

    /// The thing of this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.by_type.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

/// All that the creation of one instance of an element may depend on.
pub struct Config<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) current: &'a Current,
    pub(crate) element: usize,
    pub(crate) worker: usize,
    pub(crate) shared: &'a mut SharedParts,
    pub(crate) names: &'a mut Names,
    pub(crate) resources: &'a Resources,
    pub(crate) said: &'a mut Vec<Diagnostic>,
    /// The element that is asked before the driver stops.
    pub(crate) driver_manager: &'a mut Option<usize>,
    /// The configuration string, if it is not the one that the configuration says.
    pub(crate) text: Option<&'a str>,
}

impl Config<'_> {
    /// The element's name.
    pub fn name(&self) -> &str {
        &self.plan.nodes[self.element].name
    }

    /// The element's index in the configuration.
    pub fn index(&self) -> usize {
        self.element
    }

    /// The configuration string as written, variables expanded.
    pub fn text(&self) -> &str {
        self.text.unwrap_or(&self.plan.nodes[self.element].config)
    }

    /// A reader for the comma-separated arguments.
    pub fn args<'v>(&self) -> Args<'_, 'v> {
        Args::of_element(self.text(), self.scope(), self.current, self.element)
    }

    /// The names that arguments may use, seen from this element.
    pub fn scope(&self) -> Scope<'_> {
        Scope {
            names: self.names,
            element: self.name(),
            elements: &self.plan.elements,
            interfaces: self.plan.interfaces,
        }
    }

    /// Defines an address name for all elements that are configured later (AddressInfo).
    pub fn define(&mut self, name: &str, value: Value) {
        let element = self.plan.nodes[self.element].name.clone();
        self.names.define(&element, name, value);
    }

    /// Number of inputs in use.
    pub fn inputs(&self) -> usize {
        self.plan.nodes[self.element].inputs.len()
    }

    /// Number of outputs in use.
    pub fn outputs(&self) -> usize {
        self.plan.nodes[self.element].outputs.len()
    }

    /// Whether an input exists and is push.
    pub fn input_is_push(&self, port: usize) -> bool {
        self.plan.nodes[self.element].inputs.get(port).is_some_and(|p| p.push)
    }

    /// Whether an output exists and is push.
    pub fn output_is_push(&self, port: usize) -> bool {
        self.plan.nodes[self.element].outputs.get(port).is_some_and(|p| p.push)
    }

    /// The workers that have an instance of the element.
    pub fn workers(&self) -> &[usize] {
        &self.plan.nodes[self.element].workers
    }

    /// The worker that the element's own work, its task for instance, is for. Others may have an instance to push into.
    pub fn home(&self) -> usize {
        self.plan.nodes[self.element].home
    }

    /// The worker that this instance is for.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// The shared part of the element: made by the first instance, found by the others.
    ///
    /// # Errors
    /// What `make` returns.
    pub fn shared<T: Any + Send + Sync>(
        &mut self,
        make: impl FnOnce() -> Result<T, ConfigError>,
    ) -> Result<Arc<T>, ConfigError> {
        let key = (self.element, TypeId::of::<T>());
        if let Some(part) = self.shared.get(&key) {
            return part.clone().downcast().map_err(|_| "shared part of another type".into());
        }
        let part = Arc::new(make()?);
        self.shared.insert(key, part.clone());
        Ok(part)
    }

    /// Something the program provides.
    pub fn resource<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.resources.get()
    }

    /// What the instance's namesake has left in a process whose place this one takes: for descriptors, which have to be there before the
    /// element is initialised. What it has else comes by [`crate::Element::read_state`].
    pub fn inherited(&self) -> Option<StateReader> {
        let estate: &Estate = self.resource()?;
        estate.of(self.name(), self.plan.nodes[self.element].class.name, self.worker)
    }

    /// Tells the user something that is no error.
    pub fn warn(&mut self, message: impl Into<String>) {
        self.tell(Diagnostic::warning(message));
    }

    /// Tells the user something that is not even a warning.
    pub fn say(&mut self, message: impl Into<String>) {
        self.tell(Diagnostic::message(message));
    }

    fn tell(&mut self, diagnostic: Diagnostic) {
        if self.workers().first() == Some(&self.worker) {
            self.said.push(diagnostic);
        }
    }

    /// Says that this element is asked before the driver stops: `router` is written to its handler `step`, and when
    /// that has come to its end the driver stops if the run count has not grown meanwhile, goes on if it is positive,
    /// and asks again otherwise. False if another element has said so before, which then is the one.
    pub fn steer_driver(&mut self) -> bool {
        *self.driver_manager.get_or_insert(self.element) == self.element
    }

    /// A seed for this instance's randomness, or a key of its own: strangers cannot guess it in a real run ([`crate::Secret`]), and it is
    /// another one in each configuration.
    pub fn seed(&self) -> u64 {
        // Two odd constants spread neighbouring elements and workers over the seed space.
        let element = (self.element as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.plan.seed(element ^ (self.worker as u64 + 1).wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// A seed that all instances of all elements have in common, also those of configurations that follow: the key of what they have to
    /// agree about. Strangers cannot guess it in a real run.
    pub fn common_seed(&self) -> u64 {
        self.plan.common_seed()
    }

    /// The most packets that a batch should have.
    pub fn vector(&self) -> usize {
        self.plan.vector
    }

    /// The index of the element with this name, seen from this element's compound.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.note_reference();
        self.plan.find(name, Some(self.element))
    }

    /// Of the elements of this class that have the same arguments at these places: which one this is, and how many there are. No places mean
    /// that none is like this one.
    pub fn alike(&self, places: &[usize]) -> (usize, usize) {
        let class = self.plan.nodes[self.element].class.name;
        let words = |config: &str| -> Vec<Option<String>> {
            let args = lang::conf::split_args(config);
            places.iter().map(|&place| args.get(place).cloned()).collect()
        };
        let own = words(self.text());
        let alike = |&(index, node): &(usize, &crate::Node)| {
            index == self.element
                || !places.is_empty() && node.class.name == class && words(&node.config) == own
        };
        let alike: Vec<usize> =
            self.plan.nodes.iter().enumerate().filter(alike).map(|(index, _)| index).collect();
        (alike.iter().position(|&index| index == self.element).unwrap_or(0), alike.len())
    }

    /// The class of another element.
    pub fn class_of(&self, element: usize) -> &'static str {
        self.plan.nodes[element].class.name
    }
}
