//! The tables of an IPsec element: what workers read under RCU, and the books of those who change it.
//!
//! Associations are found by their numbers when packets come, and by the slots of policies when packets leave. A slot has the youngest
//! association that fits: so a new one carries the traffic from the moment on at which it is there, and the old one still decrypts until it
//! is taken away (make before break).

use super::associations::{End, Ends, Sa, Sad};
use super::flow::Flow;
use super::kinds::Kinds;
use super::policies::{Slot, Spd, fits};
use super::rules::{Key, Ruled};
use super::side_by_side::MANY;
use super::too_big::TooBig;
use super::transaction::Transaction;
use elements_shared::ipsec_port::{Change, IpsecFeed, IpsecPort, Notice, Policy, Refused, Template, Usage};
use rcu::{Cell, Domain, Turn, Updater};
use router::Info;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Notices that may wait.
const NOTICES: usize = 1024;

/// What workers read.
pub(crate) struct Tables {
    pub(crate) sad: Sad,
    pub(super) ends: Ends,
    pub(crate) out: Cell<Spd>,
    pub(crate) into: Cell<Spd>,
    pub(super) books: Mutex<Books>,
    /// How many associations and policies there are.
    counts: [AtomicUsize; 2],
    /// The age of the youngest association: all that were made up to it have come into `sad`.
    pub(super) newest: AtomicU64,
    notices: Mutex<Vec<Notice>>,
    /// What arguments brought.
    arguments: Mutex<Brought>,
    pub(super) updater: Mutex<Updater>,
    /// Who listens to what happens, and the element in whose name it is told.
    listeners: Mutex<Option<(Weak<Info>, String)>>,
}

/// Associations and policies by what names them.
#[derive(Default)]
struct Brought {
    associations: HashSet<(IpAddr, u32)>,
    policies: HashSet<Key>,
}

impl Brought {
    fn of(changes: &[Change]) -> Brought {
        let mut brought = Brought::default();
        for change in changes {
            match change {
                Change::Associate(of) => drop(brought.associations.insert((of.destination, of.spi))),
                Change::Policy(of) => drop(brought.policies.insert((of.direction, of.selector, of.tag))),
                _ => {}
            }
        }
        brought
    }

    /// What takes away what is in this one, and not in the other.
    fn without(&self, other: &Brought) -> Vec<Change> {
        let associations = self.associations.difference(&other.associations);
        let policies = self.policies.difference(&other.policies);
        associations
            .map(|&(destination, spi)| Change::Dissociate(destination, spi))
            .chain(policies.map(|&(direction, selector, tag)| Change::ForgetPolicy(direction, tag, selector)))
            .collect()
    }
}

/// What those know who change the tables.
pub(super) struct Books {
    /// By destination and number.
    pub(super) associations: BTreeMap<(IpAddr, u32), Arc<Sa>>,
    /// The same ones.
    kinds: Kinds,
    /// Each with the number of policies that have it.
    pub(super) slots: HashMap<Template, (Arc<Slot>, usize)>,
    pub(super) rules: Ruled,
    /// Associations that have come or gone, and of which slots do not know for want of room.
    pub(super) unsettled: Vec<Arc<Sa>>,
    /// The age of what comes next.
    pub(super) age: u64,
    /// What initialisation vectors begin with is made of it.
    seed: u64,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tables {
    /// Empty ones. The seed must be another one in each run of the program.
    pub(crate) fn new(seed: u64) -> Tables {
        Tables {
            sad: Sad::new(),
            ends: Ends::new(),
            out: Cell::new(Spd::default()),
            into: Cell::new(Spd::default()),
            books: Mutex::new(Books {
                associations: BTreeMap::new(),
                kinds: Kinds::default(),
                slots: HashMap::new(),
                rules: Ruled::default(),
                unsettled: Vec::new(),
                age: 0,
                seed,
            }),
            counts: Default::default(),
            newest: AtomicU64::new(0),
            notices: Mutex::default(),
            arguments: Mutex::default(),
            updater: Mutex::new(Domain::global().updater()),
            listeners: Mutex::default(),
        }
    }

    /// Tells the listeners of a router from now on.
    pub(crate) fn tell(&self, info: &Arc<Info>, element: &str) {
        *locked(&self.listeners) = Some((Arc::downgrade(info), element.to_owned()));
    }

    /// Tells what has become of an association.
    pub(super) fn report(&self, what: &str, sa: &Sa) {
        let listeners = locked(&self.listeners);
        let Some((info, element)) = &*listeners else { return };
        let Some(info) = info.upgrade().filter(|info| info.events.is_heard()) else { return };
        info.events.publish(&format!("ipsec {element} {what} {} 0x{:08x}", sa.destination, sa.spi));
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
        let [out, into] = [&self.out, &self.into].map(|spd| spd.read(guard.turn()).rules(guard.turn()));
        out.iter().chain(&into).map(|rule| rule.policy).collect()
    }

    /// How many associations and policies there are.
    pub(crate) fn count(&self) -> (usize, usize) {
        let [associations, policies] = &self.counts;
        (associations.load(Relaxed), policies.load(Relaxed))
    }

    /// Whether there are so many that no cache has them all.
    #[inline]
    pub(crate) fn are_many(&self) -> bool {
        self.counts.iter().any(|count| count.load(Relaxed) > MANY)
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
        let brought = Brought::of(&changes);
        let gone = {
            let mut arguments = locked(&self.arguments);
            let gone = arguments.without(&brought);
            *arguments = brought;
            gone
        };
        self.apply(gone);
        self.apply(changes)
    }

    /// The association by which a packet leaves whose policy names none: that between its own addresses.
    pub(crate) fn between<'t>(&'t self, template: &Template, flow: &Flow, turn: Turn<'t>) -> Option<&'t Sa> {
        let [source, destination] = flow.ends();
        let found = match template.spi {
            0 => self.ends.find(End(source, destination, template.reqid), turn),
            spi => self.sad.find(spi, destination, turn).filter(|sa| sa.source == source),
        };
        found.filter(|sa| fits(template, sa))
    }

    /// Heeds what a router says of a packet of ESP: the association that has sent it, and whether its packets are to be shorter from now on. None
    /// if none has sent a packet like that.
    pub(crate) fn heed<'t>(&'t self, said: &TooBig, turn: Turn<'t>, now_ns: i64) -> Option<(&'t Sa, bool)> {
        let sa = self.sad.find(said.spi, said.destination, turn)?;
        let is_its = sa.source == said.source && sa.ports == said.ports && sa.has_sent(said.sequence);
        is_its.then(|| (sa, sa.lower_mtu(said.mtu, now_ns)))
    }

    /// Makes changes; those that are wrong, and why. Waits for memory, so no packet worker calls it while it runs.
    pub(crate) fn apply(&self, changes: Vec<Change>) -> Vec<(usize, Refused)> {
        let refused = Transaction::new(self).make(changes);
        let books = locked(&self.books);
        self.counts[0].store(books.associations.len(), Relaxed);
        self.counts[1].store(books.rules.len(), Relaxed);
        refused
    }
}

impl Books {
    /// Puts an association in; the one whose place it takes.
    pub(super) fn insert(&mut self, sa: &Arc<Sa>) -> Option<Arc<Sa>> {
        let before = self.remove(&(sa.destination, sa.spi));
        self.kinds.insert(sa);
        self.associations.insert((sa.destination, sa.spi), sa.clone());
        before
    }

    pub(super) fn remove(&mut self, key: &(IpAddr, u32)) -> Option<Arc<Sa>> {
        let sa = self.associations.remove(key)?;
        self.kinds.remove(&sa);
        Some(sa)
    }

    /// The youngest association that fits, and whose destination is that of the template.
    pub(super) fn best(&self, template: &Template) -> Option<Arc<Sa>> {
        let found = match template.spi {
            0 => self.kinds.youngest(template),
            spi => {
                let named = self.associations.get(&(template.destination, spi));
                named.filter(|sa| fits(template, sa))
            }
        };
        found.cloned()
    }

    /// Whether there is another association between the same ends, for the same policies.
    pub(super) fn has_other(&self, sa: &Sa) -> bool {
        let (source, destination, reqid, mode) = (sa.source, sa.destination, sa.reqid, sa.mode);
        self.kinds.youngest(&Template { source, destination, spi: 0, reqid, mode }).is_some()
    }

    /// One policy less has the slot of a template.
    pub(super) fn let_go(&mut self, template: &Template) {
        if let Some((_, users)) = self.slots.get_mut(template) {
            *users -= 1;
            if *users == 0 {
                self.slots.remove(template);
            }
        }
    }

    /// A number far from others that were drawn.
    pub(super) fn start(&self) -> u64 {
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
    use super::super::flow::bits;
    use super::super::text;
    use super::*;
    use elements_shared::ipsec_port::{
        Action, Algorithm, Association, Direction, KeyMaterial, Limits, Mode, Selector,
    };
    use elements_shared::route_port::Destination;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;
    use std::sync::atomic::AtomicBool;
    use std::time::Instant;

    fn address(last: u8) -> IpAddr {
        let last = if last == 0 { [0; 4] } else { [192, 0, 2, last] };
        Ipv4Addr::from(last).into()
    }

    fn made(from: u8, to: u8, spi: u32, reqid: u32, mode: Mode, key: u8) -> Change {
        Change::Associate(Box::new(Association {
            source: address(from),
            destination: address(to),
            spi,
            reqid,
            mode,
            algorithm: Algorithm::AesGcm,
            key: KeyMaterial::new(vec![key; 20]),
            extended: false,
            window: 64,
            ports: None,
            soft: Limits::NONE,
            hard: Limits::NONE,
            used: (0, 0),
        }))
    }

    /// A selector that no other number has.
    fn selector(number: u32) -> Selector {
        let prefix = |number: u32| Destination { address: Ipv4Addr::from(number).into(), len: 32 };
        Selector {
            source: prefix(0x0a00_0000 | number),
            destination: prefix(0x0b00_0000 | number),
            protocol: 0,
            source_port: (0, 0),
            destination_port: (0, 0),
        }
    }

    fn wanted(number: u32, template: Template) -> Change {
        let action = Action::Protect(template);
        Change::Policy(Box::new(Policy {
            direction: Direction::Out,
            tag: 0,
            selector: selector(number),
            priority: 0,
            action,
        }))
    }

    fn mode() -> impl Strategy<Value = Mode> {
        prop_oneof![4 => Just(Mode::Tunnel), 1 => Just(Mode::Transport)]
    }

    fn change() -> impl Strategy<Value = Change> {
        // An unspecified address is 0.
        let associated = (1u8..3, 0u8..4, 300u32..304, 0u32..3, mode(), 0u8..2)
            .prop_map(|(from, to, spi, reqid, mode, key)| made(from, to, spi, reqid, mode, key));
        let gone = (0u8..4, 300u32..304).prop_map(|(to, spi)| Change::Dissociate(address(to), spi));
        let spi = prop_oneof![3 => Just(0), 1 => 300u32..304];
        let policy = (0u32..8, 0u8..3, 0u8..4, spi, 0u32..3, mode()).prop_map(
            |(number, from, to, spi, reqid, mode)| {
                wanted(number, Template { source: address(from), destination: address(to), spi, reqid, mode })
            },
        );
        let forgotten =
            (0u32..8).prop_map(|number| Change::ForgetPolicy(Direction::Out, 0, selector(number)));
        let none = prop_oneof![Just(Change::DissociateAll), Just(Change::ForgetPolicies)];
        prop_oneof![12 => associated, 6 => gone, 10 => policy, 2 => forgotten, 1 => none]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// Each policy's packets leave by the association that a walk over all of them finds, whatever has come, changed and gone.
        #[test]
        fn as_a_walk_over_all(changes in prop::collection::vec(change(), 1..120)) {
            let tables = Tables::new(1);
            for change in changes {
                prop_assert_eq!(tables.apply(vec![change.clone()]), vec![]);
                let all = tables.associations();
                let guard = Domain::global().guard();
                for rule in tables.out.read(guard.turn()).rules(guard.turn()) {
                    let slot = rule.slot.as_ref().expect("a slot");
                    let of = &slot.template;
                    let near = all.iter().filter(|sa| sa.destination == of.destination && fits(of, sa));
                    let best = near.max_by_key(|sa| sa.age());
                    let current = slot.current.read(guard.turn()).map(|entry| &entry.0);
                    let same = best.map(Arc::as_ptr) == current.map(Arc::as_ptr);
                    prop_assert!(same, "{:?} by {:?}", of, change);
                }
                // The policy names no addresses, and packets have some.
                for (from, to, reqid) in (1..3).flat_map(|from| (1..4).flat_map(move |to| (0..3).map(move |reqid| (from, to, reqid)))) {
                    let none = address(0);
                    let of = Template { source: none, destination: none, spi: 0, reqid, mode: Mode::Transport };
                    let [source, destination] = [from, to].map(|last| bits(address(last)));
                    let flow = Flow { six: false, source, destination, protocol: 17, ports: None, offset: 20, is_fragment: false };
                    let near = all.iter().filter(|sa| [sa.source, sa.destination] == flow.ends() && fits(&of, sa));
                    let best = near.max_by_key(|sa| sa.age()).map(Arc::as_ptr);
                    let found = tables.between(&of, &flow, guard.turn()).map(std::ptr::from_ref);
                    prop_assert_eq!(best, found, "{:?} by {:?}", of, change);
                }
            }
        }
    }

    /// Prints how long ten thousand associations take to come and to go: the policies of tunnels to one gateway, and to as many.
    #[test]
    #[ignore = "measures: cargo test --release -p clique-elements-routing -- --ignored --nocapture ten_thousand"]
    fn ten_thousand_come_and_go() {
        const COUNT: u32 = 10_000;
        for (what, gateways) in [("one gateway", 1), ("10,000 gateways", COUNT)] {
            let to = |number: u32| IpAddr::from(Ipv4Addr::from(0xc000_0201 + number % gateways));
            let tables = Tables::new(1);
            let policies = (1..=COUNT).map(|number| {
                let (source, destination) = (address(9), to(number));
                wanted(number, Template { source, destination, spi: 0, reqid: number, mode: Mode::Tunnel })
            });
            assert_eq!(tables.apply(policies.collect()), vec![]);
            let come = (1..=COUNT).map(|number| {
                let Change::Associate(mut of) = made(9, 1, 256 + number, number, Mode::Tunnel, 7) else {
                    panic!("none")
                };
                of.destination = to(number);
                Change::Associate(of)
            });
            let gone = (1..=COUNT).map(|number| Change::Dissociate(to(number), 256 + number));
            for (done, changes) in [("come", come.collect::<Vec<_>>()), ("go", gone.collect())] {
                let start = Instant::now();
                for change in changes {
                    assert_eq!(tables.apply(vec![change]), vec![]);
                }
                println!("{COUNT} associations {done}, {what}: {:.3} s", start.elapsed().as_secs_f64());
            }
        }
    }

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
                    let rules = tables.out.read(guard.turn()).rules(guard.turn());
                    let slot = rules[0].slot.as_ref().expect("a slot");
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

    /// The slot of a template goes with the last policy that has it.
    #[test]
    fn slots_go_with_their_policies() {
        let (tables, unspecified) = (Tables::new(1), address(0));
        let template = |reqid| Template {
            source: unspecified,
            destination: address(1),
            spi: 0,
            reqid,
            mode: Mode::Tunnel,
        };
        let slots = || locked(&tables.books).slots.len();
        let gone = |number| Change::ForgetPolicy(Direction::Out, 0, selector(number));
        for (change, left) in [
            (wanted(1, template(1)), 1),
            (wanted(2, template(1)), 1),
            (wanted(2, template(1)), 1),
            (wanted(3, template(2)), 2),
            (gone(1), 2),
            (wanted(2, template(2)), 1),
            (gone(2), 1),
            (gone(2), 1),
            (gone(3), 0),
            (wanted(1, template(1)), 1),
            (Change::ForgetPolicies, 0),
        ] {
            assert_eq!((tables.apply(vec![change]), slots()), (vec![], left));
        }
    }

    /// What arguments no longer have goes, and what commands brought stays.
    #[test]
    fn arguments_take_back_what_they_brought() {
        let (tables, unspecified) = (Tables::new(1), address(0));
        let template =
            Template { source: unspecified, destination: address(1), spi: 0, reqid: 0, mode: Mode::Tunnel };
        let association = |spi| made(2, 1, spi, 0, Mode::Tunnel, 7);
        let arguments = |range: std::ops::Range<u32>| {
            range.flat_map(|number| [association(300 + number), wanted(number, template)]).collect::<Vec<_>>()
        };
        assert_eq!(tables.apply(vec![association(1000), wanted(1000, template)]), vec![]);
        assert_eq!((tables.apply_arguments(arguments(0..40)), tables.count()), (vec![], (41, 41)));
        let at = || locked(&tables.books).associations.values().map(Arc::as_ptr).collect::<Vec<_>>();
        let before = at();
        assert_eq!((tables.apply_arguments(arguments(0..40)), tables.count()), (vec![], (41, 41)));
        assert_eq!(before, at(), "none is made again");
        assert_eq!((tables.apply_arguments(arguments(30..50)), tables.count()), (vec![], (21, 21)));
        assert_eq!((tables.apply_arguments(vec![]), tables.count()), (vec![], (1, 1)));
    }
}
