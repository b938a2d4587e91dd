//! Policies, as those keep them who change them (the SPD of RFC 4301, section 4.4.1).
//!
//! What a worker searches is beside each pair of lengths: the books say what is to be in it, and a change concerns the entry of its prefixes, however
//! many others there are. A table that has grown full is copied to one four times as wide.

use super::flow::{address, bits, mask};
use super::policies::{Pair, Place, Places, Prefixes, Rank, Rule, Spd};
use elements_shared::ipsec_port::{Direction, Selector};
use rcu::{Cell, Domain, Updater};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasherDefault;
use std::sync::Arc;

/// Chains of a table in the beginning.
const NARROW: usize = 16;
/// How many times as wide a table becomes that is full.
const WIDER: usize = 4;

/// What names a policy.
pub(super) type Key = (Direction, Selector, u32);

/// The family of prefixes, and their lengths.
type Lengths = (bool, u8, u8);

/// Policies of both directions.
#[derive(Default)]
pub(super) struct Ruled {
    rules: BTreeMap<Key, Rule>,
    lots: BTreeMap<(Direction, Lengths), Lot>,
    /// Directions whose list of pairs is not that of the books, and the octets that go with it.
    stale: BTreeMap<Direction, usize>,
}

/// Policies of a pair of lengths.
struct Lot {
    places: Arc<Places>,
    chains: usize,
    /// Prefixes that have policies.
    entries: usize,
    ranks: BTreeSet<Rank>,
}

impl Lot {
    fn new() -> Lot {
        Lot { places: Arc::new(places(NARROW)), chains: NARROW, entries: 0, ranks: BTreeSet::new() }
    }

    /// What it frees when it goes.
    fn bytes(&self) -> usize {
        self.chains * 32 + self.entries * (2 * size_of::<Place>() + 64) + self.ranks.len() * size_of::<Rule>()
    }
}

fn places(chains: usize) -> Places {
    Places::with_hasher(chains, BuildHasherDefault::default())
}

/// The selector with nothing in the bits that do not count.
pub(super) fn canonical(mut selector: Selector) -> Selector {
    for of in [&mut selector.source, &mut selector.destination] {
        of.address = address(of.address.is_ipv6(), bits(of.address) & mask(of.len));
    }
    selector
}

fn lengths(selector: &Selector) -> Lengths {
    (selector.source.address.is_ipv6(), selector.source.len, selector.destination.len)
}

/// Performs a step of a change, when there is room for what waits for a grace period. False if there was none in time.
pub(super) type Perform<'p> = &'p dyn Fn(&mut dyn FnMut(&Updater) -> bool) -> bool;

impl Ruled {
    pub(super) fn len(&self) -> usize {
        self.rules.len()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Rule> {
        self.rules.get(key)
    }

    /// Puts a policy in the place of what has its key, or takes that away. What was there; an error if there was no room, and then nothing changed.
    pub(super) fn set(
        &mut self,
        key: Key,
        rule: Option<Rule>,
        perform: Perform<'_>,
    ) -> Result<Option<Rule>, ()> {
        // A configuration that is replaced says all again, and few are other ones.
        match (self.rules.get(&key), &rule) {
            (None, None) => return Ok(None),
            (Some(before), Some(rule)) if before.is(rule) => return Ok(Some(before.clone())),
            _ => {}
        }
        let before = self.rules.get(&key).map(Rule::rank);
        let rank = rule.as_ref().map(Rule::rank);
        let (direction, prefixes) = (key.0, Prefixes::of(&key.1));
        let new = Place::new(prefixes, self.with(&key, rule.as_ref()));
        let name = (direction, lengths(&key.1));
        let lot = self.lots.entry(name).or_insert_with(Lot::new);
        let had = self.rules.range(neighbours(&key)).next().is_some();
        let first = lot.ranks.first().copied();
        let mut gone = None;
        if !had && 2 * lot.entries >= lot.chains {
            gone = Some(lot.bytes());
            widen(lot);
        }
        let place = &lot.places;
        let done = match &new {
            None => perform(&mut |updater| place.remove(&prefixes, updater).is_ok()),
            Some(new) => perform(&mut |updater| place.insert(new.clone(), (), updater).is_ok()),
        };
        if done {
            lot.entries = lot.entries + usize::from(new.is_some()) - usize::from(had);
            if let Some(before) = before {
                lot.ranks.remove(&before);
            }
            lot.ranks.extend(rank);
        }
        if gone.is_some() || first != lot.ranks.first().copied() {
            *self.stale.entry(direction).or_default() += gone.unwrap_or(0);
        }
        if lot.ranks.is_empty() {
            let lot = self.lots.remove(&name);
            *self.stale.entry(direction).or_default() += lot.map_or(0, |lot| lot.bytes());
        }
        if !done {
            return Err(());
        }
        Ok(match rule {
            Some(rule) => self.rules.insert(key, rule),
            None => self.rules.remove(&key),
        })
    }

    /// The policies with the prefixes of a key, the best first, when that names this one, or none.
    fn with(&self, key: &Key, rule: Option<&Rule>) -> Vec<Rule> {
        let others =
            self.rules.range(neighbours(key)).filter(|(other, _)| *other != key).map(|(_, rule)| rule);
        let mut rules: Vec<Rule> = others.chain(rule).cloned().collect();
        rules.sort_by_key(Rule::rank);
        rules
    }

    /// Takes all away.
    pub(super) fn clear(&mut self) {
        for ((direction, _), lot) in std::mem::take(&mut self.lots) {
            *self.stale.entry(direction).or_default() += lot.bytes();
        }
        self.rules.clear();
    }

    /// Lists of pairs become what the books say.
    pub(super) fn publish(
        &mut self,
        out: &Cell<Spd>,
        into: &Cell<Spd>,
        perform: Perform<'_>,
    ) -> Result<(), ()> {
        while let Some((&direction, &bytes)) = self.stale.first_key_value() {
            let cell = if direction == Direction::Out { out } else { into };
            let list = || Box::new(self.list(direction));
            if !perform(&mut |updater| cell.replace_weighing(list(), bytes, updater).is_ok()) {
                return Err(());
            }
            self.stale.remove(&direction);
        }
        Ok(())
    }

    fn list(&self, direction: Direction) -> Spd {
        let mut pairs: Vec<Pair> = self
            .lots
            .iter()
            .filter(|((other, _), _)| *other == direction)
            .filter_map(|((_, (six, source, destination)), lot)| {
                let masks = (mask(*source), mask(*destination));
                Some(Pair { best: *lot.ranks.first()?, six: *six, masks, places: lot.places.clone() })
            })
            .collect();
        pairs.sort_by_key(|pair| pair.best);
        Spd(pairs)
    }
}

/// The keys of policies that have the prefixes of this one.
fn neighbours(key: &Key) -> std::ops::RangeInclusive<Key> {
    let (direction, of, _) = key;
    let with = |protocol, ports| Selector { protocol, source_port: ports, destination_port: ports, ..*of };
    (*direction, with(0, (0, 0)), 0)..=(*direction, with(u8::MAX, (u16::MAX, u16::MAX)), u32::MAX)
}

/// Copies what is in a table to a wider one, which no worker sees yet.
fn widen(lot: &mut Lot) {
    let (wider, domain) = (places(lot.chains * WIDER), Domain::global());
    let (guard, updater) = (domain.guard(), domain.updater());
    for (place, ()) in lot.places.iter(guard.turn()) {
        // Each is new there, so that nothing waits for a grace period and there is always room.
        let _ = wider.insert(place.clone(), (), &updater);
    }
    (lot.places, lot.chains) = (Arc::new(wider), lot.chains * WIDER);
}

#[cfg(test)]
mod tests {
    use super::super::flow::{Flow, matches_upper};
    use super::*;
    use elements_shared::ipsec_port::{Action, Policy};
    use elements_shared::route_port::Destination;
    use proptest::prelude::*;

    fn prefix(six: bool, address: u8, len: u8) -> Destination {
        let len = if six { len.min(128) } else { len.min(32) };
        let number = u128::from(address) << 120 & mask(len);
        Destination { address: crate::ipsec::flow::address(six, number), len }
    }

    /// Whether a selector matches what is in a packet; its addresses, and what is behind them.
    fn matches(selector: &Selector, flow: &Flow) -> bool {
        within(selector.source, flow.six, flow.source)
            && within(selector.destination, flow.six, flow.destination)
            && matches_upper(selector, flow)
    }

    fn within(prefix: Destination, six: bool, address: u128) -> bool {
        prefix.address.is_ipv6() == six && (bits(prefix.address) ^ address) & mask(prefix.len) == 0
    }

    prop_compose! {
        fn policy()(
            six in any::<bool>(), addresses in [0u8..8, 0u8..8].prop_map(|of| of.map(|bits| bits << 5)),
            lens in [0u8..5, 0u8..5], protocol in prop_oneof![Just(0u8), Just(17)],
            ports in prop_oneof![Just((0u16, 0u16)), (0u16..3).prop_map(|port| (port, 0xffff))], priority in 0u32..4, tag in 0u32..2,
            direction in prop_oneof![4 => Just(Direction::Out), 1 => Just(Direction::In)],
        ) -> Policy {
            let selector = Selector {
                source: prefix(six, addresses[0], lens[0]), destination: prefix(six, addresses[1], lens[1]),
                protocol, source_port: (0, 0), destination_port: ports,
            };
            Policy { direction, tag, selector, priority, action: Action::Bypass }
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(Policy),
        Take(prop::sample::Index),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            60 => policy().prop_map(Step::Put),
            20 => any::<prop::sample::Index>().prop_map(Step::Take),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        /// As a search of a list that changes in the same way, one policy after the other.
        #[test]
        fn as_a_list(
            steps in prop::collection::vec(step(), 0..150),
            packets in prop::collection::vec(
                ([0u8..8, 0u8..8].prop_map(|of| of.map(|bits| bits << 5)), any::<bool>(), prop::option::of(0u16..3)), 1..12)
        ) {
            let (out, into) = (Cell::new(Spd::default()), Cell::new(Spd::default()));
            let (domain, mut ruled, mut list) = (Domain::global(), Ruled::default(), Vec::<(Key, Rule)>::new());
            let updater = domain.updater();
            let perform: Perform<'_> = &|step| step(&updater);
            for (age, step) in (0..).zip(steps) {
                match step {
                    Step::Put(policy) => {
                        let key = (policy.direction, policy.selector, policy.tag);
                        let age = ruled.get(&key).map_or(age, |rule| rule.age);
                        let rule = Rule { policy, age, slot: None };
                        let was = ruled.set(key, Some(rule.clone()), perform).expect("room");
                        prop_assert_eq!(was.is_some(), list.iter().any(|(other, _)| *other == key));
                        list.retain(|(other, _)| *other != key);
                        list.push((key, rule));
                    }
                    Step::Take(at) if !list.is_empty() => {
                        let (key, rule) = list.remove(at.index(list.len()));
                        let was = ruled.set(key, None, perform).expect("room");
                        prop_assert_eq!(was.map(|rule| rule.age), Some(rule.age));
                    }
                    Step::Take(_) => {}
                    Step::Clear => { ruled.clear(); list.clear(); }
                }
                ruled.publish(&out, &into, perform).expect("room");
                prop_assert_eq!(ruled.len(), list.len());
                let guard = domain.guard();
                for (direction, cell) in [(Direction::Out, &out), (Direction::In, &into)] {
                    let spd = cell.read(guard.turn());
                    let of = || list.iter().map(|(_, rule)| rule).filter(|rule| rule.policy.direction == direction);
                    let mut ranks: Vec<Rank> = of().map(Rule::rank).collect();
                    ranks.sort_unstable();
                    prop_assert_eq!(spd.rules(guard.turn()).iter().map(|rule| rule.rank()).collect::<Vec<_>>(), ranks);
                    let flows: Vec<Option<Flow>> = packets.iter().map(|(addresses, six, port)| {
                        let [source, destination] = addresses.map(|byte| u128::from(byte) << 120 | 1 << 97);
                        let ports = port.map(|port| (9, port));
                        Some(Flow { six: *six, source, destination, protocol: 17, ports, offset: 20, is_fragment: false })
                    }).chain([None]).collect();
                    let all = spd.find_all(&flows, guard.turn());
                    for (flow, beside) in flows.iter().zip(all) {
                        let Some(flow) = *flow else { prop_assert!(beside.is_none()); continue };
                        prop_assert_eq!(
                            spd.find(&flow, guard.turn()).map(|hit| hit.rule().age), beside.map(|hit| hit.rule().age)
                        );
                        let listed = of().filter(|rule| matches(&rule.policy.selector, &flow)).min_by_key(|rule| rule.rank());
                        prop_assert_eq!(
                            spd.find(&flow, guard.turn()).map(|hit| hit.rule().age), listed.map(|rule| rule.age)
                        );
                    }
                }
            }
        }
    }

    /// A table that has become wide has all that was put in, and what is put in again costs no room.
    #[test]
    fn ten_thousand() {
        let (out, into) = (Cell::new(Spd::default()), Cell::new(Spd::default()));
        let (domain, mut ruled) = (Domain::global(), Ruled::default());
        let updater = domain.updater();
        let perform: Perform<'_> = &|step| step(&updater);
        let selector = |number: u32| {
            let whole = |bits: u32| Destination { address: std::net::Ipv4Addr::from(bits).into(), len: 32 };
            Selector {
                source: whole(0x0a00_0000),
                destination: whole(0x0b00_0000 | number),
                protocol: 0,
                source_port: (0, 0),
                destination_port: (0, 0),
            }
        };
        let rule = |number: u32| {
            let (direction, selector) = (Direction::Out, selector(number));
            let policy = Policy { direction, tag: 0, selector, priority: 0, action: Action::Bypass };
            Rule { policy, age: number.into(), slot: None }
        };
        for number in 0..10_000 {
            ruled.set((Direction::Out, selector(number), 0), Some(rule(number)), perform).expect("room");
            ruled.publish(&out, &into, perform).expect("room");
        }
        // Said again, none changes anything.
        for number in 0..10_000 {
            let again =
                ruled.set((Direction::Out, selector(number), 0), Some(rule(number)), &|_| unreachable!());
            assert!(again.is_ok_and(|before| before.is_some_and(|before| before.is(&rule(number)))));
        }
        let guard = domain.guard();
        for number in 0..10_000u32 {
            let (source, destination) =
                (u128::from(0x0a00_0000u32) << 96, u128::from(0x0b00_0000 | number) << 96);
            let flow = Flow {
                six: false,
                source,
                destination,
                protocol: 6,
                ports: None,
                offset: 20,
                is_fragment: false,
            };
            let found = out.read(guard.turn()).find(&flow, guard.turn()).map(|hit| hit.rule().age);
            assert_eq!(found, Some(number.into()));
        }
    }
}
