//! The tables of an IPsec element: what workers read under RCU, and the books of those who change it.
//!
//! Associations are found by their numbers when packets come, and by the slots of policies when packets leave. A slot has the youngest
//! association that fits: so a new one carries the traffic from the moment on at which it is there, and the old one still decrypts until it
//! is taken away (make before break).

use super::associations::{Entry, Sa, Sad};
use super::policies::{Rule, Slot, Spd, fits};
use elements_shared::ipsec_port::{
    Action, Association, Change, Direction, IpsecFeed, IpsecPort, Notice, Policy, Refused, Selector,
    Template, Usage,
};
use rcu::{Cell, Domain, Updater};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Associations and policies, each, at most.
const MOST: usize = 1 << 20;
/// Notices that may wait.
const NOTICES: usize = 1024;
/// How long a change waits for memory that waits for a grace period.
const PATIENCE: Duration = Duration::from_secs(10);

/// What workers read.
pub(crate) struct Tables {
    pub(crate) sad: Sad,
    pub(crate) out: Cell<Spd>,
    pub(crate) into: Cell<Spd>,
    books: Mutex<Books>,
    /// How many associations and policies there are.
    counts: [AtomicUsize; 2],
    /// The age of the youngest association: all that were made up to it have come into `sad`.
    newest: AtomicU64,
    notices: Mutex<Vec<Notice>>,
    /// What takes away what arguments brought.
    arguments: Mutex<Vec<Change>>,
    updater: Mutex<Updater>,
}

struct Books {
    /// By destination, so that those of a template are together.
    associations: BTreeMap<(IpAddr, u32), Arc<Sa>>,
    slots: HashMap<Template, Arc<Slot>>,
    rules: BTreeMap<(Direction, Selector, u32), Rule>,
    /// The age of what comes next.
    age: u64,
    /// What initialisation vectors begin with is made of it.
    seed: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tables {
    /// Empty ones. The seed must be another one in each run of the program.
    pub(crate) fn new(seed: u64) -> Tables {
        Tables {
            sad: Sad::new(),
            out: Cell::new(Spd::default()),
            into: Cell::new(Spd::default()),
            books: Mutex::new(Books {
                associations: BTreeMap::new(),
                slots: HashMap::new(),
                rules: BTreeMap::new(),
                age: 0,
                seed,
            }),
            counts: Default::default(),
            newest: AtomicU64::new(0),
            notices: Mutex::default(),
            arguments: Mutex::default(),
            updater: Mutex::new(Domain::global().updater()),
        }
    }

    /// Tells those who bring associations, unless too much waits for them already; whether it does.
    pub(crate) fn notice(&self, notice: Notice) -> bool {
        let mut notices = locked(&self.notices);
        let room = notices.len() < NOTICES;
        if room {
            notices.push(notice);
        }
        room
    }

    /// What was noticed since the last call.
    pub(crate) fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *locked(&self.notices))
    }

    /// All associations, by destination and number. No worker calls it while it runs.
    pub(crate) fn associations(&self) -> Vec<Arc<Sa>> {
        locked(&self.books).associations.values().cloned().collect()
    }

    /// All policies, the best of each direction first.
    pub(crate) fn policies(&self) -> Vec<Policy> {
        let guard = Domain::global().guard();
        let [out, into] = [&self.out, &self.into].map(|spd| spd.read(guard.turn()).rules());
        out.iter().chain(into).map(|rule| rule.policy).collect()
    }

    /// How many associations and policies there are.
    pub(crate) fn count(&self) -> (usize, usize) {
        let [associations, policies] = &self.counts;
        (associations.load(Relaxed), policies.load(Relaxed))
    }

    /// The age of the youngest association. What is looked up after this call finds those that are as old.
    #[inline]
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Acquire)
    }

    /// Adds to the seed what another run would not have: the time.
    pub(crate) fn stir(&self, now_ns: i64) {
        let mut books = locked(&self.books);
        books.seed = books.seed.wrapping_add(now_ns as u64);
    }

    /// Makes changes that arguments say.
    pub(crate) fn apply_arguments(&self, changes: Vec<Change>) -> Vec<(usize, Refused)> {
        let back = changes.iter().filter_map(|change| match change {
            Change::Associate(of) => Some(Change::Dissociate(of.destination, of.spi)),
            Change::Policy(of) => Some(Change::ForgetPolicy(of.direction, of.tag, of.selector)),
            _ => None,
        });
        let before = std::mem::replace(&mut *locked(&self.arguments), back.collect());
        let gone: Vec<Change> =
            before.into_iter().filter(|change| !locked(&self.arguments).contains(change)).collect();
        self.apply(gone);
        self.apply(changes)
    }

    /// Makes changes; those that are wrong, and why. Waits for memory, so no packet worker calls it while it runs.
    ///
    /// Policies are published together, since that costs as much as there are policies; but before an association goes, which a policy in
    /// front of it may have stopped needing: strongSwan's name the number of the association that they want.
    pub(crate) fn apply(&self, changes: Vec<Change>) -> Vec<(usize, Refused)> {
        let (mut refused, mut rules_changed) = (Vec::new(), false);
        for (place, change) in changes.into_iter().enumerate() {
            let goes = matches!(change, Change::Dissociate(..) | Change::DissociateAll);
            if goes
                && std::mem::take(&mut rules_changed)
                && let Err(why) = self.publish()
            {
                refused.push((usize::MAX, why));
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
            if let Err(why) = made {
                refused.push((place, why));
            }
        }
        if rules_changed && let Err(why) = self.publish() {
            refused.push((usize::MAX, why));
        }
        let books = locked(&self.books);
        self.counts[0].store(books.associations.len(), Relaxed);
        self.counts[1].store(books.rules.len(), Relaxed);
        drop(books);
        refused
    }

    /// Tries until there is room. Nothing is locked while it waits but what the caller holds, which no worker wants.
    fn with_room(&self, mut step: impl FnMut(&Updater) -> bool) -> Result<(), Refused> {
        let until = Instant::now() + PATIENCE;
        loop {
            if step(&locked(&self.updater)) {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(Refused::Backpressure);
            }
            Domain::global().wait_for_room(1 << 16, Duration::from_millis(100));
        }
    }

    fn associate(&self, of: Association) -> Result<(), Refused> {
        let mut books = locked(&self.books);
        let key = (of.destination, of.spi);
        if books.associations.len() >= MOST && !books.associations.contains_key(&key) {
            return Err(Refused::Full);
        }
        books.age += 1;
        let start = books.start();
        let before = books.associations.get(&key).map(|before| &**before);
        let sa = Arc::new(Sa::new(of, start, books.age, before).map_err(Refused::Unsupported)?);
        self.with_room(|updater| self.sad.insert(&sa, updater))?;
        // Behind it: a worker that sees this age finds the association.
        self.newest.store(books.age, Release);
        books.associations.insert(key, sa.clone());
        self.settle(&books, &sa)
    }

    fn dissociate(&self, destination: IpAddr, spi: u32) -> Result<(), Refused> {
        let mut books = locked(&self.books);
        let Some(sa) = books.associations.remove(&(destination, spi)) else { return Ok(()) };
        self.with_room(|updater| self.sad.remove(spi, destination, updater))?;
        self.settle(&books, &sa)
    }

    fn dissociate_all(&self) -> Result<(), Refused> {
        let keys: Vec<(IpAddr, u32)> = locked(&self.books).associations.keys().copied().collect();
        keys.into_iter().try_for_each(|(destination, spi)| self.dissociate(destination, spi))
    }

    /// An association has come or gone: slots that it fits have the right one again.
    fn settle(&self, books: &Books, sa: &Sa) -> Result<(), Refused> {
        let slots = books.slots.values().filter(|slot| fits(&slot.template, sa));
        slots.into_iter().try_for_each(|slot| self.fill(books, slot))
    }

    fn fill(&self, books: &Books, slot: &Slot) -> Result<(), Refused> {
        let best = books.best(&slot.template);
        self.with_room(|updater| {
            slot.current.replace(best.clone().map(|sa| Box::new(Entry(sa))), updater).is_ok()
        })
    }

    fn change_rules(&self, change: Change) -> Result<(), Refused> {
        let mut books = locked(&self.books);
        match change {
            Change::Policy(policy) => {
                let (from, to) = (policy.selector.source.address, policy.selector.destination.address);
                if from.is_ipv4() != to.is_ipv4() {
                    return Err(Refused::Unsupported(
                        "the selector's addresses are of different families".into(),
                    ));
                }
                let key = (policy.direction, policy.selector, policy.tag);
                if books.rules.len() >= MOST && !books.rules.contains_key(&key) {
                    return Err(Refused::Full);
                }
                let slot = match policy.action {
                    Action::Protect(template) if policy.direction == Direction::Out => {
                        Some(self.slot(&mut books, template)?)
                    }
                    _ => None,
                };
                books.age += 1;
                let age = books.rules.get(&key).map_or(books.age, |rule| rule.age);
                books.rules.insert(key, Rule { policy: *policy, age, slot });
            }
            Change::ForgetPolicy(direction, tag, selector) => {
                books.rules.remove(&(direction, selector, tag));
            }
            Change::ForgetPolicies => books.rules.clear(),
            _ => {}
        }
        Ok(())
    }

    fn slot(&self, books: &mut Books, template: Template) -> Result<Arc<Slot>, Refused> {
        if let Some(slot) = books.slots.get(&template) {
            return Ok(slot.clone());
        }
        let slot = Arc::new(Slot::new(template));
        self.fill(books, &slot)?;
        books.slots.insert(template, slot.clone());
        Ok(slot)
    }

    /// Policies become what the books say.
    fn publish(&self) -> Result<(), Refused> {
        let mut books = locked(&self.books);
        for (direction, cell) in [(Direction::Out, &self.out), (Direction::In, &self.into)] {
            let rules =
                || books.rules.iter().filter(|(key, _)| key.0 == direction).map(|(_, rule)| rule.clone());
            self.with_room(|updater| cell.replace(Box::new(Spd::new(rules().collect())), updater).is_ok())?;
        }
        let used: std::collections::HashSet<Template> =
            books.rules.values().filter_map(|rule| rule.slot.as_ref().map(|slot| slot.template)).collect();
        books.slots.retain(|template, _| used.contains(template));
        Ok(())
    }
}

impl Books {
    /// The youngest association that fits.
    fn best(&self, template: &Template) -> Option<Arc<Sa>> {
        let to = template.destination;
        let near = self.associations.range((to, 0)..=(to, u32::MAX)).map(|(_, sa)| sa);
        near.filter(|sa| fits(template, sa)).max_by_key(|sa| sa.age).cloned()
    }

    /// A number far from others that were drawn.
    fn start(&self) -> u64 {
        let mixed =
            (self.seed ^ self.age.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ mixed >> 31
    }
}

/// What instances of an element share: the tables, which a successor takes over.
pub(crate) struct Shared(Mutex<Arc<Tables>>);

impl Shared {
    pub(crate) fn new(seed: u64) -> Shared {
        Shared(Mutex::new(Arc::new(Tables::new(seed))))
    }

    pub(crate) fn tables(&self) -> Arc<Tables> {
        locked(&self.0).clone()
    }

    pub(crate) fn take_over(&self, tables: Arc<Tables>) {
        *locked(&self.0) = tables;
    }
}

/// The way in for other threads.
pub(crate) struct Way(pub(crate) Arc<Shared>);

impl IpsecPort for Way {
    fn join(&self) -> Box<dyn IpsecFeed> {
        Box::new(Way(self.0.clone()))
    }
}

impl IpsecFeed for Way {
    fn apply(&mut self, changes: Vec<Change>) -> Vec<(usize, Refused)> {
        self.0.tables().apply(changes)
    }

    fn usage(&self) -> Vec<Usage> {
        self.0.tables().associations().iter().map(|sa| sa.usage()).collect()
    }

    fn notices(&mut self) -> Vec<Notice> {
        self.0.tables().take_notices()
    }
}

#[cfg(test)]
mod tests {
    use super::super::text;
    use super::*;
    use std::sync::atomic::AtomicBool;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// A policy names an association by its number, as strongSwan's do. While keys are renewed, in one batch each time, there is always one.
    #[test]
    fn a_policy_that_names_its_association_is_never_without_one() {
        let association = |spi: u32| {
            let key = "000102030405060708090a0b0c0d0e0f10111213";
            let text = format!("192.0.2.1 192.0.2.2 {spi} aes-gcm key {key}");
            Change::Associate(Box::new(text::association(&words(&text), 0, true).expect("an association")))
        };
        let policy = |spi: u32| {
            let text = format!("out 0.0.0.0/0 0.0.0.0/0 protect 192.0.2.1 192.0.2.2 spi {spi}");
            Change::Policy(Box::new(text::policy(&words(&text)).expect("a policy")))
        };
        let (tables, end) = (Tables::new(1), AtomicBool::new(false));
        assert_eq!(tables.apply(vec![association(1000), policy(1000)]), vec![]);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut looked, mut without) = (0u64, 0u64);
                while !end.load(Relaxed) || looked == 0 {
                    let guard = Domain::global().guard();
                    let slot = tables.out.read(guard.turn()).rules()[0].slot.as_ref().expect("a slot");
                    without += u64::from(slot.current.read(guard.turn()).is_none());
                    looked += 1;
                }
                without
            });
            for spi in 1001..3000 {
                let gone = Change::Dissociate([192, 0, 2, 2].into(), spi - 1);
                assert_eq!(tables.apply(vec![association(spi), policy(spi), gone]), vec![]);
            }
            end.store(true, Relaxed);
            assert_eq!(reader.join().expect("no panic"), 0);
        });
    }
}
