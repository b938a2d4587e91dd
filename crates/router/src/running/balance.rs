//! Whether every packet is accounted for.
//!
//! For each element, packets that arrived, came into being there or were taken over are as many as those that left, were dropped, ended,
//! were given away or are held. Elements do not count this themselves (see `element/counted.rs`), and classes declare which of it is
//! theirs to do; so an element that loses, doubles or hides a packet is found, whatever it says of itself.

use crate::context::work::Work;
use crate::running::router::Router;
use crate::worker::instances::ASTRAY;
use crate::worker::instances::Worker;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;

/// What became of an element's packets, on all workers together.
#[derive(Clone, Debug, Default)]
pub struct Entry {
    /// The element's index in the configuration.
    pub element: usize,
    /// Its name.
    pub name: String,
    /// The name of its class.
    pub class: &'static str,
    /// What the class makes, absorbs and holds, as it declares it: empty for nothing.
    pub declared: [&'static str; 3],
    /// Whether elements of other classes hold packets together with it.
    pub jointly: bool,
    /// Packets that were handed to it.
    pub arrived: u64,
    /// Packets that it made.
    pub made: u64,
    /// Packets that it took over as part of its namesake's state in a former configuration.
    pub taken: i64,
    /// Packets that it handed on.
    pub left: u64,
    /// Packets that it dropped, by reason.
    pub dropped: Vec<(&'static str, u64)>,
    /// Packets that ended in it and were not counted as dropped.
    pub absorbed: u64,
    /// Packets that it gave away as part of its state.
    pub given: i64,
    /// Packets that it says it holds.
    pub held: u64,
}

impl Entry {
    /// Packets that it dropped, for whatever reason.
    pub fn drops(&self) -> u64 {
        self.dropped.iter().map(|(_, packets)| packets).sum()
    }

    /// Adds the figures of another element.
    fn add(&mut self, other: &Entry) {
        self.arrived += other.arrived;
        self.made += other.made;
        self.taken += other.taken;
        self.left += other.left;
        self.absorbed += other.absorbed;
        self.given += other.given;
        self.held += other.held;
        for &(reason, packets) in &other.dropped {
            match self.dropped.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, sum)) => *sum += packets,
                None => self.dropped.push((reason, packets)),
            }
        }
    }

    /// Packets that it must hold by what came and went.
    pub fn must_hold(&self) -> i64 {
        let came = (self.arrived + self.made) as i64 + self.taken;
        came - (self.left + self.drops() + self.absorbed) as i64 - self.given
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { arrived, made, taken, left, absorbed, given, held, .. } = self;
        write!(f, "{arrived} arrived + {made} made + {taken} taken over = {left} left")?;
        for (reason, packets) in &self.dropped {
            write!(f, " + {packets} dropped ({reason})")?;
        }
        write!(f, " + {absorbed} ended + {given} given away + {held} held")
    }
}

/// What is wrong with an element's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It made so many packets, and its class does not declare that.
    Made(u64),
    /// So many packets ended in it that it did not count as dropped, and its class does not declare that.
    Lost(u64),
    /// It keeps so many packets, and its class does not declare that.
    Kept(i64),
    /// By what came and went it must hold so many packets, which is not what it says.
    Held(i64),
    /// So many packets were left behind in a configuration that was replaced, although it has a namesake of its class in the new one.
    LeftBehind(u64),
    /// So many more packets were in the state that it took over than were given away, or fewer.
    Transferred(i64),
}

/// An element whose packets are not all accounted for.
#[derive(Clone, Debug)]
pub struct Imbalance {
    /// What is wrong; `None` if this router does not count packets, so that nothing is known.
    pub fault: Option<Fault>,
    /// Its figures.
    pub entry: Entry,
}

impl fmt::Display for Imbalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { name, class, held, .. } = &self.entry;
        let Some(fault) = self.fault else { return write!(f, "packets are not counted") };
        write!(f, "{name} ({class}) ")?;
        match fault {
            Fault::Made(n) => write!(f, "makes {n} packets, which its class does not declare"),
            Fault::Lost(n) => write!(f, "loses {n} packets that it does not count as dropped"),
            Fault::Kept(n) => write!(f, "keeps {n} packets, which its class does not declare"),
            Fault::Held(n) => write!(f, "must hold {n} packets and says {held}"),
            Fault::LeftBehind(n) => write!(f, "leaves {n} packets behind when it is replaced"),
            Fault::Transferred(n) => write!(f, "takes over {n} packets more than were given away"),
        }?;
        write!(f, ": {}", self.entry)
    }
}

/// What became of all packets of a router.
#[derive(Clone, Debug, Default)]
pub struct Balance {
    /// By element; empty if this router does not count packets ([`crate::Options::counted`]).
    pub elements: Vec<Entry>,
    /// Packets on their way between elements.
    pub in_flight: u64,
    /// Packets that were dropped on their way because they led nowhere.
    pub astray: u64,
    /// Whether something has begun that has not come to its end, a request or a control computation: it may have packets that no element
    /// says it holds.
    pub pending: bool,
}

impl Balance {
    /// Whether every packet is accounted for.
    ///
    /// # Errors
    /// Each element where that is not so; one without a name for packets that were lost or doubled on their way between elements.
    pub fn check(&self) -> Result<(), Vec<Imbalance>> {
        if self.elements.is_empty() {
            return Err(vec![Imbalance { fault: None, entry: Entry::default() }]);
        }
        let mut faults: Vec<_> = self.elements.iter().flat_map(faults).collect();
        faults.extend(self.joint());
        let may_hold = |fault| matches!(fault, Some(Fault::Kept(_) | Fault::Held(_)));
        faults.retain(|found| !self.pending || !may_hold(found.fault));
        faults.extend(self.between());
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    /// The figures of all elements together. What arrived and left is on its way between them.
    pub fn total(&self) -> Entry {
        let mut total = Entry { name: "all".into(), ..Entry::default() };
        self.elements.iter().for_each(|entry| total.add(entry));
        total
    }

    /// Packets that elements hold together: one element for each kind of which the figures are wrong, with those of all.
    fn joint(&self) -> Vec<Imbalance> {
        let mut sums = BTreeMap::<&str, Entry>::new();
        for entry in self.elements.iter().filter(|entry| entry.jointly) {
            match sums.entry(entry.declared[2]) {
                Vacant(place) => drop(place.insert(entry.clone())),
                Occupied(mut place) => place.get_mut().add(entry),
            }
        }
        let wrong = sums.into_values().filter(|sum| sum.must_hold() != sum.held as i64);
        wrong.map(|sum| Imbalance { fault: Some(Fault::Held(sum.must_hold())), entry: sum }).collect()
    }

    /// Packets that left an element and did not arrive at another, or the other way round.
    fn between(&self) -> Option<Imbalance> {
        let left: u64 = self.elements.iter().map(|entry| entry.left).sum();
        let arrived: u64 = self.elements.iter().map(|entry| entry.arrived).sum();
        let entry = Entry {
            name: "the way between elements".into(),
            class: "worker",
            arrived: left,
            left: arrived,
            dropped: vec![("astray", self.astray)],
            held: self.in_flight,
            ..Entry::default()
        };
        let lost = entry.must_hold() - self.in_flight as i64;
        (lost != 0).then(|| Imbalance { fault: Some(Fault::Held(entry.must_hold())), entry })
    }

    /// Whether what elements of `old` held, a configuration that this one has replaced, is here: what one gave away the other has taken
    /// over, and none that has a namesake of its class here has kept anything.
    ///
    /// # Errors
    /// Each element where that is not so.
    pub fn check_swap(&self, old: &Balance) -> Result<(), Vec<Imbalance>> {
        let mut faults = Vec::new();
        for entry in &old.elements {
            let mut namesakes =
                self.elements.iter().filter(|new| new.name == entry.name && new.class == entry.class);
            let Some(new) = namesakes.next() else { continue };
            let mut blame = |fault, entry: &Entry| {
                faults.push(Imbalance { fault: Some(fault), entry: entry.clone() });
            };
            if entry.held > 0 {
                blame(Fault::LeftBehind(entry.held), entry);
            }
            if entry.given != new.taken {
                blame(Fault::Transferred(new.taken - entry.given), new);
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

/// The figures of each element, a line each.
impl fmt::Display for Balance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.elements
            .iter()
            .try_for_each(|entry| writeln!(f, "{} ({}): {entry}", entry.name, entry.class))?;
        writeln!(f, "on their way: {}, led nowhere: {}", self.in_flight, self.astray)
    }
}

/// What is wrong with one element's packets.
fn faults(entry: &Entry) -> impl Iterator<Item = Imbalance> {
    let [makes, absorbs, holds] = entry.declared.map(|what| !what.is_empty());
    let must_hold = entry.must_hold();
    let found = [
        (!makes && entry.made > 0).then_some(Fault::Made(entry.made)),
        (!absorbs && entry.absorbed > 0).then_some(Fault::Lost(entry.absorbed)),
        match () {
            () if must_hold == 0 && entry.held == 0 => None,
            () if entry.jointly => None,
            () if !holds => Some(Fault::Kept(must_hold)),
            () => (must_hold != entry.held as i64).then_some(Fault::Held(must_hold)),
        },
    ];
    found.into_iter().flatten().map(|fault| Imbalance { fault: Some(fault), entry: entry.clone() })
}

impl Router {
    /// What became of all packets so far, if this router counts them ([`crate::Options::counted`]). To be asked while it does not run,
    /// and before [`Router::finish`].
    pub fn balance(&self) -> Balance {
        let counted = !self.info.ledgers.is_empty();
        let elements = if counted { self.info.nodes.len() } else { 0 };
        let list = |work: &Work| work.packets();
        let astray = |drops: &Vec<(&str, u64)>| {
            drops.iter().filter(|(reason, _)| ASTRAY.contains(reason)).map(|(_, n)| n).sum::<u64>()
        };
        Balance {
            elements: (0..elements).map(|element| self.entry(element)).collect(),
            pending: self.workers.iter().any(Worker::is_amid_something),
            in_flight: self.workers.iter().flat_map(|worker| &worker.core.list).map(list).sum(),
            astray: self.workers.iter().flat_map(|worker| &worker.core.drops).map(astray).sum(),
        }
    }

    fn entry(&self, element: usize) -> Entry {
        let node = &self.info.nodes[element];
        let class = &node.class;
        let declared = [class.makes, class.absorbs, class.holds];
        let (name, jointly) = (node.name.clone(), class.jointly);
        let mut entry = Entry { element, name, class: class.name, declared, jointly, ..Entry::default() };
        for ledgers in &self.info.ledgers {
            let ledger = &ledgers[element];
            entry.arrived += ledger.arrived.load(Relaxed);
            entry.made += ledger.made.load(Relaxed);
            entry.taken += ledger.taken.load(Relaxed);
            entry.left += ledger.left.load(Relaxed);
            entry.absorbed += ledger.ended.load(Relaxed);
            entry.given += ledger.given.load(Relaxed);
        }
        let mut together = 0;
        for instance in self.workers.iter().filter_map(|worker| worker.slots[element].instance.as_ref()) {
            entry.held += instance.held() as u64;
            together = instance.held_together() as u64;
        }
        entry.held += together;
        let drops = self.drops().into_iter();
        entry.dropped = drops
            .filter(|&(dropper, reason, _)| dropper == element && !ASTRAY.contains(&reason))
            .map(|(_, reason, packets)| (reason, packets))
            .collect();
        entry
    }
}
