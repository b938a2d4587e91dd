//! Changes that are gathered before they are published.

use super::family::Family;
use super::table::{Change, Decision, Refusal};
use super::target::{Route, Target};
use lpm::Prefix;
use std::collections::HashMap;

/// What a table is to become, as far as it changes.
#[derive(Clone)]
pub(super) struct Draft<F: Family> {
    /// Whether all routes go that the draft says nothing of.
    flush: bool,
    decided: HashMap<Prefix<F::Key>, Option<Target<F::Gateway>>>,
    /// The prefixes in the order in which they were decided, some more than once.
    order: Vec<Prefix<F::Key>>,
}

impl<F: Family> Default for Draft<F> {
    fn default() -> Self {
        Draft { flush: false, decided: HashMap::new(), order: Vec::new() }
    }
}

impl<F: Family> Draft<F> {
    /// What the draft says of a prefix; `None` if nothing.
    pub(super) fn get(&self, prefix: Prefix<F::Key>) -> Option<Option<Target<F::Gateway>>> {
        match self.decided.get(&prefix) {
            Some(decided) => Some(decided.clone()),
            None => self.flush.then_some(None),
        }
    }

    /// Enters a change; `known` says where prefixes lead of which the draft says nothing.
    ///
    /// # Errors
    /// [`Refusal`]; nothing is entered then.
    pub(super) fn enter(
        &mut self,
        change: Change<F>,
        known: impl Fn(Prefix<F::Key>) -> Option<Target<F::Gateway>>,
    ) -> Result<(), Refusal<F>> {
        let now = |prefix| self.get(prefix).unwrap_or_else(|| known(prefix));
        match change {
            Change::Add(route) => match now(route.prefix) {
                Some(to) => return Err(Refusal::Exists(Route { prefix: route.prefix, to })),
                None => self.set(route),
            },
            Change::Set(route) => self.set(route),
            Change::Remove(prefix, to) => match now(prefix) {
                Some(old) if to.as_ref().is_none_or(|to| *to == old) => self.decide(prefix, None),
                _ => return Err(Refusal::Missing(Route { prefix, to: to.unwrap_or(Target::Nowhere) })),
            },
            Change::Forget(prefix) => self.decide(prefix, None),
            Change::Flush => *self = Draft { flush: true, ..Draft::default() },
        }
        Ok(())
    }

    /// Enters a route.
    pub(super) fn set(&mut self, route: Route<F>) {
        self.decide(route.prefix, Some(route.to));
    }

    fn decide(&mut self, prefix: Prefix<F::Key>, to: Option<Target<F::Gateway>>) {
        self.decided.insert(prefix, to);
        self.order.push(prefix);
    }

    /// Enters what a later draft says.
    pub(super) fn append(&mut self, later: Draft<F>) {
        let decisions = later.decisions();
        if later.flush {
            *self = later;
            return;
        }
        for (prefix, to) in decisions {
            self.decide(prefix, to);
        }
    }

    /// Whether all routes go that the draft says nothing of.
    pub(super) fn flushes(&self) -> bool {
        self.flush
    }

    /// What the draft says, one decision for each prefix, in the order in which prefixes were first mentioned.
    pub(super) fn decisions(&self) -> Vec<Decision<F>> {
        let mut seen = std::collections::HashSet::with_capacity(self.decided.len());
        let mentioned = self.order.iter().filter(|&&prefix| seen.insert(prefix));
        mentioned.filter_map(|prefix| Some((*prefix, self.decided.get(prefix)?.clone()))).collect()
    }
}
