//! Security policies, as workers search them (the SPD of RFC 4301, section 4.4.1).
//!
//! A table does not change: a new one takes its place. Policies whose selectors have the same lengths of prefixes are in one hash table, by
//! these prefixes, so that a search takes a step for each pair of lengths rather than for each policy. There are few pairs: gateways with
//! ten thousand tunnels have one or two.

use super::associations::{Entry, Sa};
use super::flow::{Flow, bits, mask, matches_upper};
use elements_shared::ipsec_port::{Action, Policy, Template};
use rcu::{OptionCell, Weigh};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

/// The association that packets of a template leave by, at this time.
pub(crate) struct Slot {
    pub(crate) template: Template,
    pub(crate) current: OptionCell<Entry>,
    /// When an association was asked for last.
    pub(crate) asked_ns: AtomicI64,
}

impl Slot {
    pub(crate) fn new(template: Template) -> Slot {
        Slot { template, current: OptionCell::new(None), asked_ns: AtomicI64::new(i64::MIN / 2) }
    }
}

/// Whether an association is of the kind that a template asks for.
pub(crate) fn fits(template: &Template, sa: &Sa) -> bool {
    let is = |wanted: IpAddr, has: IpAddr| wanted.is_unspecified() || wanted == has;
    let number = |wanted: u32, has: u32| wanted == 0 || wanted == has;
    template.mode == sa.mode
        && is(template.source, sa.source)
        && is(template.destination, sa.destination)
        && number(template.reqid, sa.reqid)
        && number(template.spi, sa.spi)
}

/// A policy in a table.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) policy: Policy,
    /// Among equals the lowest counts.
    pub(crate) age: u64,
    /// For what is to be protected.
    pub(crate) slot: Option<Arc<Slot>>,
}

impl Rule {
    fn rank(&self) -> (u32, u64) {
        (self.policy.priority, self.age)
    }
}

/// The policies of a direction.
#[derive(Default)]
pub(crate) struct Spd {
    rules: Vec<Rule>,
    pairs: Vec<Pair>,
}

/// Policies of a pair of lengths.
struct Pair {
    /// The best rank among them.
    best: (u32, u64),
    six: bool,
    masks: (u128, u128),
    /// Places of rules, the best first.
    places: HashMap<(u128, u128), Vec<u32>, BuildHasherDefault<Mixed>>,
}

impl Spd {
    /// A table of rules.
    pub(crate) fn new(mut rules: Vec<Rule>) -> Spd {
        rules.sort_by_key(Rule::rank);
        let (mut pairs, mut known) = (Vec::<Pair>::new(), HashMap::new());
        for (place, rule) in (0..).zip(&rules) {
            let selector = &rule.policy.selector;
            let (source, destination) = (selector.source, selector.destination);
            let six = source.address.is_ipv6();
            let at = *known.entry((six, source.len, destination.len)).or_insert_with(|| {
                let masks = (mask(source.len), mask(destination.len));
                pairs.push(Pair { best: rule.rank(), six, masks, places: HashMap::default() });
                pairs.len() - 1
            });
            let key =
                (bits(source.address) & pairs[at].masks.0, bits(destination.address) & pairs[at].masks.1);
            pairs[at].places.entry(key).or_default().push(place);
        }
        // They were found in the order of their best.
        Spd { rules, pairs }
    }

    /// The rule that counts for a packet.
    #[inline]
    pub(crate) fn find(&self, flow: &Flow) -> Option<&Rule> {
        let mut found: Option<&Rule> = None;
        for pair in &self.pairs {
            if found.is_some_and(|found| found.rank() < pair.best) {
                break;
            }
            if pair.six != flow.six {
                continue;
            }
            let Some(places) =
                pair.places.get(&(flow.source & pair.masks.0, flow.destination & pair.masks.1))
            else {
                continue;
            };
            let rules = places.iter().filter_map(|place| self.rules.get(*place as usize));
            let first = rules.into_iter().find(|rule| matches_upper(&rule.policy.selector, flow));
            if let Some(rule) = first.filter(|rule| found.is_none_or(|found| rule.rank() < found.rank())) {
                found = Some(rule);
            }
        }
        found
    }

    /// All of them, the best first.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }
}

impl Weigh for Spd {
    fn heap_bytes(&self) -> usize {
        self.rules.capacity() * (size_of::<Rule>() + size_of::<(u128, u128, Vec<u32>)>() + 16)
    }
}

/// Whether a packet that an association protected, or none, was protected as a rule wants it; otherwise the reason why not.
pub(crate) fn admits(rule: &Rule, sa: Option<&Sa>) -> Result<(), &'static str> {
    match (&rule.policy.action, sa) {
        (Action::Discard, _) => Err("the policy says discard"),
        (Action::Protect(template), Some(sa)) if fits(template, sa) => Ok(()),
        (Action::Protect(_), Some(_)) => Err("protected by another association than the policy says"),
        (Action::Protect(_), None) => Err("not protected as the policy says"),
        (Action::Bypass, None) => Ok(()),
        (Action::Bypass, Some(_)) => Err("protected, where the policy says bypass"),
    }
}

/// Mixes the bits of addresses. Who makes policies is trusted, and packets add nothing to the table, so that it needs no secret.
#[derive(Default)]
pub(crate) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(byte.into()));
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        let product = u128::from(self.0 ^ number as u64 ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from((number >> 64) as u64 ^ 0xd1b5_4a32_d192_ed03 ^ self.0.rotate_left(29));
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elements_shared::ipsec_port::{Direction, Selector};
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
            six in any::<bool>(), addresses in any::<[u8; 2]>(),
            lens in [0u8..5, 0u8..5], protocol in prop_oneof![Just(0u8), Just(17)],
            ports in prop_oneof![Just((0u16, 0u16)), (0u16..3).prop_map(|port| (port, 0xffff))], priority in 0u32..4, tag in any::<u32>()
        ) -> Policy {
            let selector = Selector {
                source: prefix(six, addresses[0], lens[0]), destination: prefix(six, addresses[1], lens[1]),
                protocol, source_port: (0, 0), destination_port: ports,
            };
            Policy { direction: Direction::Out, tag, selector, priority, action: Action::Bypass }
        }
    }

    proptest! {
        /// As a search of the list, one after the other.
        #[test]
        fn as_a_list(
            policies in prop::collection::vec(policy(), 0..40),
            packets in prop::collection::vec((any::<[u8; 2]>(), any::<bool>(), prop::option::of(0u16..3)), 1..40)
        ) {
            let rules: Vec<Rule> =
                (0..).zip(&policies).map(|(age, policy)| Rule { policy: *policy, age, slot: None }).collect();
            let table = Spd::new(rules.clone());
            for (addresses, six, port) in packets {
                let [source, destination] = addresses.map(|byte| u128::from(byte) << 120 | 1 << 97);
                let ports = port.map(|port| (9, port));
                let flow = Flow { six, source, destination, protocol: 17, ports, offset: 20, is_fragment: false };
                let listed = rules.iter().filter(|rule| matches(&rule.policy.selector, &flow)).min_by_key(|rule| rule.rank());
                prop_assert_eq!(table.find(&flow).map(|rule| rule.age), listed.map(|rule| rule.age));
            }
        }
    }
}
