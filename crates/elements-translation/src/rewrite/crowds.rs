//! Which numbers of crowded ranges are taken.
//!
//! Whether a number is free says the index, number by number. Where many in a row are taken, as of a range that is nearly used up, a new flow would
//! look at thousands. So the table remembers of such a range which numbers are taken, and a search passes over those.
//!
//! What is remembered is no more than the truth: a number that is noted is taken, one that is not may be taken. So nothing has to be noted
//! while no range is crowded, and flows that were there before a range was are noted by who comes upon them. A number is noted with a
//! lane in hand, in which it was seen to be taken, and no flow is removed meanwhile; who removes a flow has all lanes, and strikes out what
//! it has taken.

use super::bits::Bits;
use super::exhausted::{Domain, Field};
use super::sync::domain;
use elements_shared::flow_id::{FlowId, Key};
use elements_shared::keyed_hash::HashKey;
use rcu::{OptionCell, Turn, Updater};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Lists of ranges, by their hashes: a power of two.
const PLACES: usize = 4096;
/// In a smaller range it is quick to look at all numbers.
const LEAST_TOP: u32 = 255;
/// Bytes that ranges take, at most: some, and more for each flow that is in the table when one is added. A range of which half is taken gets along
/// with the latter. Those whose flows are gone since then go when the table is looked through for flows whose time is over.
const BYTES: usize = 64 << 10;
const BYTES_A_FLOW: usize = 4;
/// What a range takes beside its numbers.
const OVERHEAD: usize = 128;
/// Lists that are searched at once for ranges that are crowded no more.
const SWEPT: usize = 256;

/// A crowded range.
pub(super) struct Crowd {
    map: u32,
    domain: Domain,
    taken: Bits,
}

impl Crowd {
    fn bytes(domain: Domain) -> usize {
        Bits::bytes(domain.range.1) + OVERHEAD
    }

    /// The first number from here on that is not noted; the words that were looked at are added to `looks`.
    pub(super) fn next(&self, from: u32, looks: &mut usize) -> Option<u32> {
        self.taken.missing(from, looks)
    }

    /// Notes that a number is taken. For who holds a lane in which that was seen.
    pub(super) fn note(&self, number: u32) {
        self.taken.add(number);
    }

    /// Whether fewer than a fourth of the numbers are noted.
    fn is_sparse(&self) -> bool {
        self.taken.count() < self.domain.range.1 as usize / 4
    }
}

/// The ranges of a list.
type Crowded = Vec<Arc<Crowd>>;

/// All crowded ranges of a table.
pub(super) struct Crowds {
    key: HashKey,
    /// How many there are: hardly ever any.
    number: AtomicUsize,
    places: OnceLock<Box<[OptionCell<Crowded>]>>,
}

/// What it takes to add ranges.
pub(super) struct Adder {
    updater: Updater,
    bytes: usize,
    /// The list that is searched next for what is crowded no more.
    hand: usize,
}

impl Adder {
    pub(super) fn new() -> Adder {
        Adder { updater: domain().updater(), bytes: 0, hand: 0 }
    }
}

impl Crowds {
    /// None yet.
    pub(super) fn new(key: HashKey) -> Crowds {
        Crowds { key, number: AtomicUsize::new(0), places: OnceLock::new() }
    }

    /// Whether there are any.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.number.load(Relaxed) > 0
    }

    fn place(&self, map: u32, id: FlowId) -> usize {
        (Key::new(map, id).hash(&self.key) >> 40) as usize % PLACES
    }

    fn list<'t>(&'t self, turn: Turn<'t>, place: usize) -> &'t [Arc<Crowd>] {
        let list = self.places.get().and_then(|places| places[place].read(turn));
        list.map_or(&[], Vec::as_slice)
    }

    /// What is known of a range, if it is crowded.
    #[inline]
    pub(super) fn find<'t>(&'t self, turn: Turn<'t>, map: u32, domain: Domain) -> Option<&'t Crowd> {
        if !self.has_any() {
            return None;
        }
        let list = self.list(turn, self.place(map, domain.id));
        list.iter().find(|crowd| (crowd.map, crowd.domain) == (map, domain)).map(|crowd| &**crowd)
    }

    /// Those that may have made this of a flow, and by which number.
    fn each(&self, turn: Turn<'_>, map: u32, rewritten: FlowId, mut change: impl FnMut(&Bits, u32)) {
        for field in Field::ALL {
            let (id, value) = field.split(rewritten);
            for crowd in self.list(turn, self.place(map, id)) {
                let (first, top) = crowd.domain.range;
                let number = value.wrapping_sub(first);
                if (crowd.map, crowd.domain.id, crowd.domain.field) == (map, id, field) && number <= top {
                    change(&crowd.taken, number);
                }
            }
        }
    }

    /// Notes what a new flow has become. For who holds the lane to which the flow was added.
    #[inline]
    pub(super) fn note(&self, turn: Turn<'_>, map: u32, rewritten: FlowId) {
        if self.has_any() {
            self.each(turn, map, rewritten, Bits::add);
        }
    }

    /// A flow is gone that had become this. For who holds all lanes, and what ranges are added with.
    pub(super) fn forget(&self, turn: Turn<'_>, map: u32, rewritten: FlowId) {
        if self.has_any() {
            self.each(turn, map, rewritten, Bits::remove);
        }
    }

    /// Adds a range, if it is large enough and a table of `flows` flows has memory for it.
    pub(super) fn add(&self, adder: &mut Adder, turn: Turn<'_>, flows: usize, (map, domain): (u32, Domain)) {
        let (bytes, most) = (Crowd::bytes(domain), BYTES + flows * BYTES_A_FLOW);
        if domain.range.1 < LEAST_TOP || self.find(turn, map, domain).is_some() {
            return;
        }
        if adder.bytes + bytes > most {
            self.sweep_some(adder, turn);
        }
        if adder.bytes + bytes > most {
            return;
        }
        let place = self.place(map, domain.id);
        let mut list = self.list(turn, place).to_vec();
        list.push(Arc::new(Crowd { map, domain, taken: Bits::new(domain.range.1) }));
        self.replace(adder, turn, place, list);
    }

    /// Drops ranges of some lists that are crowded no more. Says whether there are more lists to look at in this round.
    pub(super) fn sweep_some(&self, adder: &mut Adder, turn: Turn<'_>) -> bool {
        if !self.has_any() {
            return false;
        }
        (0..SWEPT).for_each(|_| self.sweep(adder, turn));
        !adder.hand.is_multiple_of(PLACES)
    }

    /// Drops those of a list that are crowded no more.
    fn sweep(&self, adder: &mut Adder, turn: Turn<'_>) {
        let place = adder.hand % PLACES;
        adder.hand += 1;
        let old = self.list(turn, place);
        let list: Crowded = old.iter().filter(|crowd| !crowd.is_sparse()).cloned().collect();
        if list.len() < old.len() {
            self.replace(adder, turn, place, list);
        }
    }

    /// Puts a list in the place of the old one. If too much memory waits to be reclaimed, that one stays.
    fn replace(&self, adder: &mut Adder, turn: Turn<'_>, place: usize, list: Crowded) {
        let bytes = |list: &[Arc<Crowd>]| list.iter().map(|crowd| Crowd::bytes(crowd.domain)).sum::<usize>();
        let places = self.places.get_or_init(|| (0..PLACES).map(|_| OptionCell::new(None)).collect());
        let old = self.list(turn, place);
        let (before, after) = ((old.len(), bytes(old)), (list.len(), bytes(&list)));
        let list = Some(Box::new(list)).filter(|list| !list.is_empty());
        let gone = before.1.saturating_sub(after.1);
        if places[place].replace_weighing(list, gone, &adder.updater).is_ok() {
            adder.bytes = adder.bytes + after.1 - before.1;
            self.number.store(self.number.load(Relaxed) + after.0 - before.0, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: FlowId = FlowId { saddr: 1, daddr: 2, sport: 0, dport: 80 };

    fn ports(daddr: u32, first: u32) -> Domain {
        Domain { id: FlowId { daddr, ..ID }, field: Field::Ports, range: (first, 999) }
    }

    /// A range knows what flows have become by it, and those of no other range or map.
    #[test]
    fn what_is_taken() {
        let reader = rcu::Domain::global().register("test");
        let (turn, crowds) = (reader.turn(), Crowds::new(HashKey::new(1)));
        let adder = &mut Adder::new();
        crowds.note(turn, 0, FlowId { sport: 1000, ..ID }); // none is crowded
        crowds.add(adder, turn, 0, (0, ports(2, 1000)));
        crowds.add(adder, turn, 0, (0, ports(2, 1500)));
        let next = |first: u32, from: u32| {
            let crowd = crowds.find(turn, 0, ports(2, first)).expect("a crowd");
            crowd.next(from, &mut 0)
        };
        assert_eq!((next(1000, 0), next(1500, 0)), (Some(0), Some(0)));
        for port in [1000, 1001, 1500, 2400] {
            crowds.note(turn, 0, FlowId { sport: port, ..ID });
        }
        crowds.note(turn, 1, FlowId { sport: 1002, ..ID });
        crowds.note(turn, 0, FlowId { sport: 1002, daddr: 3, ..ID });
        assert_eq!(
            [next(1000, 0), next(1000, 500), next(1500, 0), next(1500, 900)],
            [2, 501, 1, 901].map(Some)
        );
        crowds.forget(turn, 0, FlowId { sport: 1000, ..ID });
        crowds.forget(turn, 0, FlowId { sport: 1500, ..ID });
        assert_eq!((next(1000, 0), next(1000, 500), next(1500, 0)), (Some(0), Some(500), Some(0)));
    }

    /// Echoes have a second identifier that follows from the first, and addresses are numbers, too.
    #[test]
    fn other_fields() {
        let reader = rcu::Domain::global().register("test");
        let (turn, crowds) = (reader.turn(), Crowds::new(HashKey::new(1)));
        let adder = &mut Adder::new();
        let echoes = Domain { id: FlowId { dport: 0, ..ID }, field: Field::Echoes, range: (1, 999) };
        let addresses = Domain { id: FlowId { saddr: 0, ..ID }, field: Field::Addresses, range: (7, 999) };
        crowds.add(adder, turn, 0, (0, echoes));
        crowds.add(adder, turn, 0, (0, addresses));
        crowds.note(turn, 0, FlowId { sport: 1, dport: 257, ..ID });
        crowds.note(turn, 0, FlowId { saddr: 7, ..ID });
        let next = |domain| crowds.find(turn, 0, domain).and_then(|crowd| crowd.next(0, &mut 0));
        assert_eq!((next(echoes), next(addresses)), (Some(1), Some(1)));
    }

    /// Ranges take no more memory than flows grant; those that are crowded no more go first.
    #[test]
    fn memory() {
        let reader = rcu::Domain::global().register("test");
        let (turn, crowds) = (reader.turn(), Crowds::new(HashKey::new(1)));
        let adder = &mut Adder::new();
        (0..1000).for_each(|daddr| crowds.add(adder, turn, 0, (0, ports(daddr, 1000))));
        let most = BYTES / Crowd::bytes(ports(0, 0));
        // All were empty, so that each might go.
        assert!(crowds.has_any() && crowds.number.load(Relaxed) <= most);
        assert!(adder.bytes <= BYTES);
        let known = (0..1000).filter(|&daddr| crowds.find(turn, 0, ports(daddr, 1000)).is_some());
        let known: Vec<u32> = known.collect();
        assert_eq!(known.len(), crowds.number.load(Relaxed));
        for &daddr in &known {
            (1000..1300).for_each(|sport| crowds.note(turn, 0, FlowId { daddr, sport, ..ID }));
        }
        (1000..3000).for_each(|daddr| crowds.add(adder, turn, 0, (0, ports(daddr, 1000))));
        assert!(known.iter().all(|&daddr| crowds.find(turn, 0, ports(daddr, 1000)).is_some()));
        assert!(adder.bytes <= BYTES);
        let before = crowds.number.load(Relaxed);
        (3000..4000).for_each(|daddr| crowds.add(adder, turn, 1 << 20, (0, ports(daddr, 1000))));
        assert_eq!(crowds.number.load(Relaxed), before + 1000);
        crowds.add(adder, turn, 1 << 20, (0, Domain { range: (1, 99), ..ports(9, 1) }));
        assert_eq!(crowds.number.load(Relaxed), before + 1000, "a small range needs none");
    }
}
