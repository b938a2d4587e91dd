//! Which ranges have nothing left.
//!
//! To find that all ports towards a destination are taken is to try them all. It is remembered, so that the next packet to
//! that destination does not try again before a port is free. What is remembered is changed by who holds the whole table; marks
//! tell those who do not.

use super::crowds::Adder;
use elements_shared::flow_id::{FlowId, Key};
use elements_shared::keyed_hash::HashKey;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Ranges that are remembered: a power of two. Others are tried again.
const PLACES: usize = 1024;

/// What a range gives a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Its source port.
    Ports,
    /// Its source address.
    Addresses,
    /// The identifier of an echo, which says what stands for the destination port.
    Echoes,
}

impl Field {
    pub(super) const ALL: [Field; 3] = [Field::Ports, Field::Addresses, Field::Echoes];

    /// A rewritten identifier without that, and what it was.
    pub(super) fn split(self, rewritten: FlowId) -> (FlowId, u32) {
        match self {
            Field::Ports => (FlowId { sport: 0, ..rewritten }, rewritten.sport.into()),
            Field::Addresses => (FlowId { saddr: 0, ..rewritten }, rewritten.saddr),
            Field::Echoes => (FlowId { sport: 0, dport: 0, ..rewritten }, rewritten.sport.into()),
        }
    }
}

/// What a range is taken from: a flow's rewritten identifier without what the range gives it, and the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    pub(super) id: FlowId,
    pub(super) field: Field,
    /// The first number, and how many more there are.
    pub(super) range: (u32, u32),
}

/// A mark for each place: what a hash makes of the range that is remembered there, or 0.
pub(super) struct Marks {
    key: HashKey,
    marks: Box<[AtomicU64]>,
    /// How many there are: hardly ever any.
    number: AtomicU32,
}

impl Marks {
    fn mark(&self, map: u32, domain: Domain) -> u64 {
        let (key, (first, top)) = (Key::new(map, domain.id), domain.range);
        let (ports, range) = (u64::from(key.ports()), u64::from(first) << 32 | u64::from(top));
        self.key.hash([key.addresses(), u64::from(map) << 32 | ports, range]) | 1
    }

    fn place(&self, map: u32, id: FlowId) -> usize {
        (Key::new(map, id).hash(&self.key) >> 32) as usize % PLACES
    }

    /// Whether nothing is left of a domain, as far as a look without the lock can tell.
    #[inline]
    pub(super) fn has(&self, map: u32, domain: Domain) -> bool {
        self.has_any() && self.is_marked(map, domain)
    }

    /// Whether nothing is left of any domain.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.number.load(Relaxed) > 0
    }

    fn is_marked(&self, map: u32, domain: Domain) -> bool {
        self.marks[self.place(map, domain.id)].load(Relaxed) == self.mark(map, domain)
    }
}

/// The ranges, by a hash of the identifier.
pub(super) struct Exhausted {
    places: Box<[Option<(u32, Domain)>]>,
    marks: Arc<Marks>,
    /// What crowded ranges are added with.
    pub(super) adder: Adder,
}

impl Exhausted {
    /// None yet.
    pub(super) fn new(key: HashKey) -> Exhausted {
        let marks = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        Exhausted {
            places: vec![None; PLACES].into(),
            marks: Arc::new(Marks { key, marks, number: AtomicU32::new(0) }),
            adder: Adder::new(),
        }
    }

    /// What tells others.
    pub(super) fn marks(&self) -> &Arc<Marks> {
        &self.marks
    }

    /// Notes that nothing is left.
    pub(super) fn add(&mut self, map: u32, domain: Domain) {
        let place = self.marks.place(map, domain.id);
        if self.places[place].replace((map, domain)).is_none() {
            self.marks.number.fetch_add(1, Relaxed);
        }
        self.marks.marks[place].store(self.marks.mark(map, domain), Relaxed);
    }

    /// A flow with this rewritten identifier is gone.
    pub(super) fn forget(&mut self, map: u32, rewritten: FlowId) {
        if !self.marks.has_any() {
            return;
        }
        for field in Field::ALL {
            let (id, _) = field.split(rewritten);
            let place = self.marks.place(map, id);
            if self.places[place].is_some_and(|(of, known)| (of, known.id, known.field) == (map, id, field)) {
                self.places[place] = None;
                self.marks.marks[place].store(0, Relaxed);
                self.marks.number.fetch_sub(1, Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A domain is exhausted until one of its flows goes, also if a range differs only in where it begins.
    #[test]
    fn until_one_goes() {
        let mut exhausted = Exhausted::new(HashKey::new(1));
        let id = FlowId { saddr: 1, daddr: 2, sport: 0, dport: 80 };
        let ports = Domain { id, field: Field::Ports, range: (1000, 9) };
        exhausted.add(7, ports);
        assert!(exhausted.marks.has(7, ports) && !exhausted.marks.has(6, ports));
        assert!(!exhausted.marks.has(7, Domain { range: (2000, 9), ..ports }));
        exhausted.forget(7, FlowId { sport: 1005, daddr: 3, ..id });
        assert!(exhausted.marks.has(7, ports));
        exhausted.forget(7, FlowId { sport: 1005, ..id });
        assert!(!exhausted.marks.has(7, ports));
        let id = FlowId { sport: 5, ..id };
        let addresses = Domain { id: FlowId { saddr: 0, ..id }, field: Field::Addresses, range: (1, 9) };
        exhausted.add(7, addresses);
        exhausted.add(7, addresses);
        exhausted.forget(7, FlowId { saddr: 4, ..id });
        assert!(!exhausted.marks.has(7, addresses));
        assert_eq!(exhausted.marks.number.load(Relaxed), 0, "none is counted twice, nor for ever");
    }
}
