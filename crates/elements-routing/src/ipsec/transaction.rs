//! Changes of the tables that are made together (RFC 4301, section 4.4).
//!
//! What a change takes away waits for a grace period, and there is room for so much of that. A change waits for room, but one that has waited in vain
//! ends that for the others of its transaction, too: they are tried, and are refused at once.

use super::associations::{End, Entry, Sa};
use super::kinds::templates;
use super::policies::{Rule, Slot};
use super::rules::{Key, canonical};
use super::table::{Books, Tables, locked};
use elements_shared::ipsec_port::{Action, Association, Change, Direction, Mode, Policy, Refused, Template};
use rcu::{Domain, Updater};
use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Release;
use std::time::{Duration, Instant};

/// Associations and policies, each, at most.
const MOST: usize = 1 << 20;
/// How long a change waits for room, if none of its transaction has waited in vain.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a change waits.
struct Patience(Cell<Duration>);

impl Patience {
    /// Tries until it is done, or until there was no room for too long.
    fn perform(&self, mut step: impl FnMut() -> bool) -> Result<(), Refused> {
        if step() {
            return Ok(());
        }
        let until = Instant::now() + self.0.get();
        while Instant::now() < until {
            Domain::global().wait_for_room(1 << 16, Duration::from_millis(100));
            if step() {
                return Ok(());
            }
        }
        self.0.set(Duration::ZERO);
        Err(Refused::Backpressure)
    }
}

/// Changes that are made together.
pub(super) struct Transaction<'t> {
    tables: &'t Tables,
    patience: Patience,
}

impl<'t> Transaction<'t> {
    pub(super) fn new(tables: &'t Tables) -> Transaction<'t> {
        Transaction { tables, patience: Patience(Cell::new(PATIENCE)) }
    }

    /// Makes changes; those that are wrong, and why.
    ///
    /// Lists of pairs of lengths are published together; but before an association goes, which a policy in front of it may have stopped
    /// needing: strongSwan's name the number of the association that they want.
    pub(super) fn make(&self, changes: Vec<Change>) -> Vec<(usize, Refused)> {
        let (mut refused, mut rules_changed) = (Vec::new(), false);
        let mut note = |place, made: Result<(), Refused>| refused.extend(made.err().map(|why| (place, why)));
        note(usize::MAX, self.settle_rest());
        for (place, change) in changes.into_iter().enumerate() {
            let goes = matches!(change, Change::Dissociate(..) | Change::DissociateAll);
            if goes && std::mem::take(&mut rules_changed) {
                note(usize::MAX, self.publish());
            }
            let made = match change {
                Change::Associate(of) => self.associate(*of),
                Change::Dissociate(destination, spi) => self.dissociate(destination, spi),
                Change::DissociateAll => self.dissociate_all(),
                change => {
                    rules_changed = true;
                    self.change_rules(change)
                }
            };
            note(place, made);
        }
        if rules_changed {
            note(usize::MAX, self.publish());
        }
        refused
    }

    /// Tries until there is room. Nothing is locked while it waits but what the caller holds, which no worker wants.
    fn with_room(&self, mut step: impl FnMut(&Updater) -> bool) -> Result<(), Refused> {
        self.patience.perform(|| step(&locked(&self.tables.updater)))
    }

    /// What was left undone when there was no room.
    fn settle_rest(&self) -> Result<(), Refused> {
        let mut books = locked(&self.tables.books);
        let rest = std::mem::take(&mut books.unsettled);
        // One that fails must not keep the others from being noted again.
        let mut settled = Ok(());
        for sa in &rest {
            settled = self.settle(&mut books, sa).and(settled);
        }
        settled
    }

    fn associate(&self, of: Association) -> Result<(), Refused> {
        let mut books = locked(&self.tables.books);
        let key = (of.destination, of.spi);
        if books.associations.len() >= MOST && !books.associations.contains_key(&key) {
            return Err(Refused::Full);
        }
        // A configuration that is replaced says all again, and few are other ones.
        if books.associations.get(&key).is_some_and(|before| before.is(&of)) {
            return Ok(());
        }
        books.age += 1;
        let start = books.start();
        let before = books.associations.get(&key).map(|before| &**before);
        let sa = Arc::new(Sa::new(of, start, books.age, before).map_err(Refused::Unsupported)?);
        self.with_room(|updater| self.tables.sad.insert(&sa, updater))?;
        // Behind it: a worker that sees this age finds the association.
        self.tables.newest.store(books.age, Release);
        let has_other = books.has_other(&sa);
        let before = books.insert(&sa);
        if before.is_none() {
            self.tables.report(if has_other { "renewed" } else { "new" }, &sa);
        }
        let settled = self.settle(&mut books, &sa);
        // Another reqid, or another mode: slots that it fitted do without it.
        before.map_or(Ok(()), |before| self.settle(&mut books, &before)).and(settled)
    }

    fn dissociate(&self, destination: IpAddr, spi: u32) -> Result<(), Refused> {
        let mut books = locked(&self.tables.books);
        let key = (destination, spi);
        if !books.associations.contains_key(&key) {
            return Ok(());
        }
        self.with_room(|updater| self.tables.sad.remove(spi, destination, updater))?;
        let Some(sa) = books.remove(&key) else { return Ok(()) };
        self.tables.report("gone", &sa);
        self.settle(&mut books, &sa)
    }

    fn dissociate_all(&self) -> Result<(), Refused> {
        let keys: Vec<(IpAddr, u32)> = locked(&self.tables.books).associations.keys().copied().collect();
        let mut all_gone = Ok(());
        for (destination, spi) in keys {
            all_gone = self.dissociate(destination, spi).and(all_gone);
        }
        all_gone
    }

    /// An association has come or gone: slots that it fits have the right one again. If there is no room the books note that they have not.
    fn settle(&self, books: &mut Books, sa: &Arc<Sa>) -> Result<(), Refused> {
        let settled = self.fill_slots(books, sa);
        if settled.is_err() {
            books.unsettled.push(sa.clone());
        }
        settled
    }

    fn fill_slots(&self, books: &Books, sa: &Sa) -> Result<(), Refused> {
        let slots = templates(sa).filter_map(|template| books.slots.get(&template));
        slots.into_iter().try_for_each(|(slot, _)| self.fill(books, slot))?;
        if sa.mode == Mode::Tunnel {
            return Ok(());
        }
        let (source, destination) = (sa.source, sa.destination);
        [0, sa.reqid].into_iter().try_for_each(|reqid| {
            let template = Template { source, destination, spi: 0, reqid, mode: sa.mode };
            let best = books.best(&template);
            self.with_room(|updater| {
                self.tables.ends.set(End(source, destination, reqid), best.as_ref(), updater)
            })
        })
    }

    fn fill(&self, books: &Books, slot: &Slot) -> Result<(), Refused> {
        let best = books.best(&slot.template);
        let filled = self.with_room(|updater| {
            slot.current.replace(best.clone().map(|sa| Box::new(Entry::new(sa))), updater).is_ok()
        });
        slot.has_changed();
        filled
    }

    fn change_rules(&self, change: Change) -> Result<(), Refused> {
        let mut books = locked(&self.tables.books);
        match change {
            Change::Policy(policy) => self.put_policy(&mut books, *policy),
            Change::ForgetPolicy(direction, tag, selector) => {
                self.set_rule(&mut books, (direction, canonical(selector), tag), None)
            }
            Change::ForgetPolicies => {
                books.rules.clear();
                books.slots.clear();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn put_policy(&self, books: &mut Books, mut policy: Policy) -> Result<(), Refused> {
        policy.selector = canonical(policy.selector);
        let (from, to) = (policy.selector.source.address, policy.selector.destination.address);
        if from.is_ipv4() != to.is_ipv4() {
            let why = "the selector's addresses are of different families";
            return Err(Refused::Unsupported(why.into()));
        }
        let key = (policy.direction, policy.selector, policy.tag);
        let before = books.rules.get(&key).map(|rule| rule.age);
        if books.rules.len() >= MOST && before.is_none() {
            return Err(Refused::Full);
        }
        let slot = match policy.action {
            Action::Protect(template) if policy.direction == Direction::Out => {
                Some(self.slot(books, template)?)
            }
            _ => None,
        };
        books.age += 1;
        let age = before.unwrap_or(books.age);
        self.set_rule(books, key, Some(Rule { policy, age, slot }))
    }

    /// Puts a policy in the place of what has its key, or takes that away. Slots that none needs any more are forgotten.
    fn set_rule(&self, books: &mut Books, key: Key, rule: Option<Rule>) -> Result<(), Refused> {
        let slot = rule.as_ref().and_then(|rule| rule.slot.clone());
        let set = books.rules.set(key, rule, &|step| self.with_room(|updater| step(updater)).is_ok());
        let (goes, result) = match set {
            Ok(before) => (before.and_then(|rule| rule.slot), Ok(())),
            Err(()) => (slot, Err(Refused::Backpressure)),
        };
        if let Some(slot) = goes {
            books.let_go(&slot.template);
        }
        result
    }

    /// The slot of a template, which one policy more has now.
    fn slot(&self, books: &mut Books, template: Template) -> Result<Arc<Slot>, Refused> {
        if let Some((slot, users)) = books.slots.get_mut(&template) {
            *users += 1;
            return Ok(slot.clone());
        }
        let slot = Arc::new(Slot::new(template));
        self.fill(books, &slot)?;
        books.slots.insert(template, (slot.clone(), 1));
        Ok(slot)
    }

    /// What workers search becomes what the books say.
    fn publish(&self) -> Result<(), Refused> {
        let perform =
            |step: &mut dyn FnMut(&Updater) -> bool| self.with_room(|updater| step(updater)).is_ok();
        let published =
            locked(&self.tables.books).rules.publish(&self.tables.out, &self.tables.into, &perform);
        published.map_err(|()| Refused::Backpressure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first change waits, and the others do not; those that find room are made.
    #[test]
    fn one_wait_for_all() {
        let (patience, start) = (Patience(Cell::new(Duration::from_millis(50))), Instant::now());
        assert_eq!(patience.perform(|| false), Err(Refused::Backpressure));
        assert!(start.elapsed() >= Duration::from_millis(50));
        for _ in 0..1000 {
            let mut tries = 0;
            let refused = patience.perform(|| {
                tries += 1;
                false
            });
            assert_eq!((refused, tries), (Err(Refused::Backpressure), 1));
            assert_eq!(patience.perform(|| true), Ok(()));
        }
        // What has waited and found room takes nothing from the others.
        let (patience, mut tries) = (Patience(Cell::new(Duration::from_secs(9))), 0);
        let done = patience.perform(|| {
            tries += 1;
            tries == 3
        });
        assert_eq!((done, patience.0.get()), (Ok(()), Duration::from_secs(9)));
    }
}
