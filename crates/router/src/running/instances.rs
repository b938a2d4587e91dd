//! The instances of elements: made from the plan, a worker's after the other's.

use crate::configuration::node::Node;
use crate::configuration::plan::Plan;
use crate::element::behaviour::Element;
use crate::element::class::Class;
use crate::element::config::{Config, Resources};
use crate::element::handlers::{Functions, Handlers};
use crate::error::ConfigError;
use crate::handlers::declaration::Declarations;
use crate::shared::info::{Made, SharedParts};
use crate::text::args::split_expected;
use crate::text::current::Current;
use crate::text::names::Names;
use lang::{Context, Diagnostic};
use std::collections::BTreeMap;

/// Instances by worker and element.
pub(crate) type Instances = Vec<Vec<Option<Box<dyn Element>>>>;

/// What is wrong with an element, where it was declared.
pub(crate) fn diagnose(node: &Node, context: &Context, error: ConfigError) -> Vec<Diagnostic> {
    let at = |message: String| {
        let (said, expected) = split_expected(&message);
        let error = Diagnostic::error(said).at(node.landmark.clone(), node.span).within(context.clone());
        Diagnostic { expected, ..error }
    };
    error.messages.into_iter().map(at).collect()
}

/// The making of all instances.
pub(crate) struct Configuring<'a> {
    plan: &'a Plan,
    classes: &'a [&'static Class],
    resources: &'a Resources,
    instances: Instances,
    shared: SharedParts,
    names: Names,
    current: Current,
    driver_manager: Option<usize>,
}

impl<'a> Configuring<'a> {
    /// None is made yet.
    pub(crate) fn new(
        plan: &'a Plan,
        classes: &'a [&'static Class],
        workers: usize,
        resources: &'a Resources,
    ) -> Configuring<'a> {
        let none = || plan.nodes.iter().map(|_| None).collect();
        Configuring {
            plan,
            classes,
            resources,
            instances: (0..workers).map(|_| none()).collect(),
            shared: SharedParts::default(),
            names: Names::default(),
            current: Current::default(),
            driver_manager: None,
        }
    }

    /// Makes all, or none if an element is refused; adds what elements say, and what is said of them, to what was found before.
    pub(crate) fn all(mut self, order: &[usize], found: &mut Vec<Diagnostic>) -> Option<(Instances, Made)> {
        let mut refused = false;
        for &element in order {
            let node = &self.plan.nodes[element];
            let context = Context::configuring(&node.name, node.class.name, node.landmark.clone());
            let mut said = Vec::new();
            let made = self.make(element, &mut said);
            let here = |said: Diagnostic| said.at(node.landmark.clone(), node.span).within(context.clone());
            found.extend(said.into_iter().map(here));
            if let Err(error) = made {
                found.extend(diagnose(node, &context, error));
                refused = true;
            }
        }
        let Configuring { instances, shared, names, current, driver_manager, .. } = self;
        let handlers = Vec::new();
        (!refused).then_some((instances, Made { handlers, shared, names, current, driver_manager }))
    }

    /// What is wrong with elements' arguments, whatever other elements there are, and whatever is defined elsewhere; by element.
    pub(crate) fn sure_errors(mut self, order: &[usize]) -> BTreeMap<usize, Vec<Diagnostic>> {
        let mut found = BTreeMap::new();
        for &element in order {
            let node = &self.plan.nodes[element];
            let references = self.names.references();
            let Err(mut error) = self.make(element, &mut Vec::new()) else { continue };
            if self.names.references() != references {
                error.messages = std::mem::take(&mut error.sure);
            }
            let context = Context::configuring(&node.name, node.class.name, node.landmark.clone());
            found.insert(element, diagnose(node, &context, error));
        }
        found
    }

    /// Makes an element's instances, up to the first that fails: the others would fail alike.
    fn make(&mut self, element: usize, said: &mut Vec<Diagnostic>) -> Result<(), ConfigError> {
        for &worker in &self.plan.nodes[element].workers {
            let instance = (self.classes[element].create)(&mut Config {
                plan: self.plan,
                current: &self.current,
                element,
                worker,
                shared: &mut self.shared,
                names: &mut self.names,
                resources: self.resources,
                said,
                driver_manager: &mut self.driver_manager,
                text: None,
            })?;
            self.instances[worker][element] = Some(instance);
        }
        Ok(())
    }
}

/// Every element's handlers, as its first instance declares them.
pub(crate) fn handlers(instances: &Instances) -> (Vec<Declarations>, Vec<Functions>) {
    let elements = instances.first().map_or(0, Vec::len);
    let of = |element: usize| {
        let mut handlers = Handlers::default();
        if let Some(instance) = instances.iter().find_map(|worker| worker[element].as_ref()) {
            instance.handlers(&mut handlers);
        }
        (handlers.declared, handlers.functions)
    };
    (0..elements).map(of).unzip()
}
