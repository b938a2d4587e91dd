//! Where routes lead: a next hop, or several with weights.

use super::family::Family;
use elements_shared::route_text::line;
use lpm::{Group, Prefix};
use rcu::Weigh;
use std::hash::Hash;
use std::sync::Arc;

/// One next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hop<A> {
    /// The gateway; the unspecified address if there is none.
    pub(super) gateway: A,
    /// The output.
    pub(super) port: u32,
}

/// Where a route leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target<A> {
    /// One next hop.
    One(Hop<A>),
    /// Several with weights, over which flows are spread; at least one weight exceeds 0.
    Many(Arc<[(Hop<A>, u32)]>),
    /// Nowhere: packets are dropped.
    Nowhere,
}

impl<A: Copy + PartialEq> Target<A> {
    /// A target with these next hops and weights; nowhere if no weight exceeds 0. A next hop of weight 0 beside others keeps the flows that it
    /// has, where flows are remembered, and gets no new ones. A next hop that is named twice has the sum of its weights.
    pub(super) fn of(hops: impl IntoIterator<Item = (Hop<A>, u32)>) -> Self {
        let mut members: Vec<(Hop<A>, u32)> = Vec::new();
        for (hop, weight) in hops {
            match members.iter_mut().find(|(known, _)| *known == hop) {
                Some((_, sum)) => *sum = sum.saturating_add(weight),
                None => members.push((hop, weight)),
            }
        }
        match members[..] {
            _ if members.iter().all(|&(_, weight)| weight == 0) => Target::Nowhere,
            [(hop, _)] => Target::One(hop),
            _ => Target::Many(members.into()),
        }
    }

    /// The next hops and their weights.
    pub(super) fn hops(&self) -> Vec<(Hop<A>, u32)> {
        match self {
            Target::One(hop) => vec![(*hop, 1)],
            Target::Many(members) => members.to_vec(),
            Target::Nowhere => Vec::new(),
        }
    }
}

/// How packets of a route are forwarded: its target as workers read it.
#[derive(Debug)]
pub(super) enum Forwarding<F: Family> {
    /// To one next hop, whose gateway is of the packets' family. Nearly all routes lead to one of these.
    One(Hop<F::Address>),
    /// To one next hop, whose gateway is of another family.
    Across(Hop<F::Gateway>),
    /// To the one of several that a flow's hash chooses.
    Many(Group<Hop<F::Gateway>>),
    /// The same, beside next hops that keep the flows that they have.
    Draining(Box<Draining<F>>),
    /// Nowhere.
    Nowhere,
}

/// Next hops for new flows, and those that have no more than their old ones.
#[derive(Debug)]
pub(super) struct Draining<F: Family> {
    group: Group<Hop<F::Gateway>>,
    drained: Box<[Hop<F::Gateway>]>,
}

impl<A> Weigh for Hop<A> {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl<F: Family> Weigh for Forwarding<F> {
    fn heap_bytes(&self) -> usize {
        match self {
            Forwarding::Many(group) => group.heap_bytes(),
            Forwarding::Draining(draining) => {
                size_of::<Draining<F>>() + draining.group.heap_bytes() + size_of_val(&*draining.drained)
            }
            Forwarding::One(_) | Forwarding::Across(_) | Forwarding::Nowhere => 0,
        }
    }
}

impl<F: Family> Forwarding<F> {
    /// The forwarding to a target.
    pub(super) fn to(target: &Target<F::Gateway>) -> Self {
        match target {
            Target::One(hop) => match F::near(hop.gateway) {
                Some(gateway) => Forwarding::One(Hop { gateway, port: hop.port }),
                None => Forwarding::Across(*hop),
            },
            Target::Many(members) => {
                let drained = members.iter().filter(|&&(_, weight)| weight == 0);
                let drained: Box<[_]> = drained.map(|&(hop, _)| hop).collect();
                match Group::new(members.iter().copied()) {
                    None => Forwarding::Nowhere,
                    Some(group) if drained.is_empty() => Forwarding::Many(group),
                    Some(group) => Forwarding::Draining(Box::new(Draining { group, drained })),
                }
            }
            Target::Nowhere => Forwarding::Nowhere,
        }
    }

    /// The next hop for a flow, whose hash is only made if it matters; `None` if packets are to be dropped.
    pub(super) fn pick(&self, flow: impl FnOnce() -> u64) -> Option<Hop<F::Gateway>> {
        match self {
            Forwarding::One(hop) => Some(Hop { gateway: F::Gateway::from(hop.gateway), port: hop.port }),
            Forwarding::Across(hop) => Some(*hop),
            Forwarding::Many(group) => Some(*pick(group, flow())),
            Forwarding::Draining(draining) => Some(*pick(&draining.group, flow())),
            Forwarding::Nowhere => None,
        }
    }

    /// Whether a next hop is one that a flow may go on with.
    pub(super) fn leads_to(&self, hop: &Hop<F::Gateway>) -> bool {
        let is_in = |group: &Group<Hop<F::Gateway>>| group.members().iter().any(|(member, _)| member == hop);
        match self {
            Forwarding::One(one) => one.port == hop.port && F::Gateway::from(one.gateway) == hop.gateway,
            Forwarding::Across(one) => one == hop,
            Forwarding::Many(group) => is_in(group),
            Forwarding::Draining(draining) => is_in(&draining.group) || draining.drained.contains(hop),
            Forwarding::Nowhere => false,
        }
    }
}

/// The next hop of several for a flow with this hash.
fn pick<A>(group: &Group<Hop<A>>, flow: u64) -> &Hop<A> {
    group.pick((flow >> 32) as u32)
}

/// One route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route<F: Family> {
    pub(super) prefix: Prefix<F::Key>,
    pub(super) to: Target<F::Gateway>,
}

/// Gateway and output of a next hop, as routes are printed.
fn columns<F: Family>(hop: Option<&Hop<F::Gateway>>) -> (String, String) {
    let gateway = hop.map(|hop| hop.gateway).filter(|&gateway| gateway != F::DIRECT);
    let port = hop.map_or("-1".to_owned(), |hop| hop.port.to_string());
    (gateway.map_or("-".to_owned(), |gateway| gateway.to_string()), port)
}

impl<F: Family> Route<F> {
    /// `ADDR/MASK GATEWAY OUTPUT`, as messages show a route; of several next hops the first.
    pub(super) fn words(&self) -> String {
        let hops = self.to.hops();
        let (gateway, port) = columns::<F>(hops.first().map(|(hop, _)| hop));
        format!("{}/{} {gateway} {port}", F::address(self.prefix.addr()), self.prefix.len())
    }

    /// Where it leads, as commands write it: `GATEWAY|- OUTPUT`, or each of several next hops with its weight.
    pub(super) fn destination_words(to: &Target<F::Gateway>) -> String {
        let words = |hop: &Hop<F::Gateway>| {
            let (gateway, port) = columns::<F>(Some(hop));
            format!("{gateway} {port}")
        };
        match to {
            Target::Nowhere => "- -1".to_owned(),
            Target::One(hop) => words(hop),
            Target::Many(members) => {
                let each = members.iter().map(|(hop, weight)| format!("nexthop {} {weight}", words(hop)));
                each.collect::<Vec<_>>().join(" ")
            }
        }
    }

    /// The same in columns, as Click's tables print it. Each of several next hops has a line, with its weight; a route that
    /// leads nowhere has the output -1.
    pub(super) fn lines(&self) -> String {
        let hops = self.to.hops();
        match &hops[..] {
            [] | [_] => self.line(hops.first().map(|(hop, _)| hop), ""),
            _ => {
                hops.iter().map(|(hop, weight)| self.line(Some(hop), &format!("\tweight {weight}"))).collect()
            }
        }
    }

    /// The same as Click's table of IPv6 routes prints it, with a gateway in each line.
    pub(super) fn plain_lines(&self) -> String {
        let line = |gateway: F::Gateway, port: &dyn std::fmt::Display, rest: &str| {
            let Route { prefix, .. } = self;
            format!("{}/{}\t{gateway}\t{port}{rest}\n", F::address(prefix.addr()), prefix.len())
        };
        match &self.to.hops()[..] {
            [] => line(F::DIRECT, &-1, ""),
            [(hop, _)] => line(hop.gateway, &hop.port, ""),
            hops => hops
                .iter()
                .map(|(hop, weight)| line(hop.gateway, &hop.port, &format!("\tweight {weight}")))
                .collect(),
        }
    }

    /// One line of them, with something behind it.
    pub(super) fn line(&self, hop: Option<&Hop<F::Gateway>>, rest: &str) -> String {
        let (gateway, port) = columns::<F>(hop);
        let prefix = format!("{}/{}", F::address(self.prefix.addr()), self.prefix.len());
        line(&prefix, &gateway, &port, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::{Gateway4, V4};
    use super::*;

    #[test]
    fn several_next_hops_print_a_line_each() {
        let hop = |port| Hop { gateway: Gateway4::Near([10, 0, 0, port as u8].into()), port };
        let to = Target::of([(hop(1), 1), (hop(2), 3)]);
        let route = Route::<V4> { prefix: Prefix::new(20 << 24, 8).expect("a length"), to };
        let lines = "20.0.0.0/8\t\t10.0.0.1\t1\tweight 1\n20.0.0.0/8\t\t10.0.0.2\t2\tweight 3\n";
        assert_eq!((route.lines(), route.words()), (lines.into(), "20.0.0.0/8 10.0.0.1 1".into()));
        let drained = Target::of([(hop(1), 5), (hop(2), 0)]);
        assert_eq!(drained, Target::Many([(hop(1), 5), (hop(2), 0)].into()));
        let drained = Forwarding::<V4>::to(&drained);
        assert!((0..64).all(|flow| drained.pick(|| flow << 58) == Some(hop(1))) && drained.leads_to(&hop(2)));
        assert_eq!(
            Target::of([(hop(1), 5), (hop(2), 1), (hop(1), 2)]),
            Target::of([(hop(1), 7), (hop(2), 1)])
        );
        let nowhere = Route::<V4> { to: Target::of([(hop(1), 0)]), ..route };
        assert_eq!(nowhere.lines(), "20.0.0.0/8\t\t-\t\t-1\n");
    }

    /// Packets read this for each look-up: gateways of another family make it no larger than groups do.
    #[test]
    fn what_packets_read_is_small() {
        assert_eq!(size_of::<Forwarding<V4>>(), size_of::<Group<Hop<Gateway4>>>() + size_of::<usize>());
        assert_eq!(size_of::<Hop<<V4 as Family>::Address>>(), 8);
    }
}
