//! Where routes lead: a next hop, or several with weights.

use super::family::Family;
use lpm::{Group, Prefix};
use std::fmt::Write;
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
    /// Several, over which flows are spread.
    #[cfg_attr(not(test), expect(dead_code, reason = "no list that is read has several yet"))]
    Many(Arc<Group<Hop<A>>>),
}

impl<A: Copy + PartialEq> Target<A> {
    #[cfg(test)]
    /// A target with these next hops and weights; `None` if no weight exceeds 0.
    pub(super) fn of(hops: impl IntoIterator<Item = (Hop<A>, u32)>) -> Option<Self> {
        let group = Group::new(hops)?;
        match group.members() {
            &[(hop, _)] => Some(Target::One(hop)),
            _ => Some(Target::Many(Arc::new(group))),
        }
    }

    /// The next hops and their weights.
    pub(super) fn hops(&self) -> Vec<(Hop<A>, u32)> {
        match self {
            Target::One(hop) => vec![(*hop, 1)],
            Target::Many(group) => group.members().to_vec(),
        }
    }
}

/// What packets see of a target.
pub(super) struct Paths<A> {
    /// The first next hop, mostly the only one.
    first: Hop<A>,
    group: Option<Arc<Group<Hop<A>>>>,
}

impl<A: Copy> Paths<A> {
    pub(super) fn new(target: &Target<A>) -> Self {
        match target {
            Target::One(hop) => Paths { first: *hop, group: None },
            Target::Many(group) => Paths { first: *group.pick(0), group: Some(group.clone()) },
        }
    }

    /// The next hop for a flow, whose hash is only made if it matters.
    #[inline]
    pub(super) fn pick(&self, flow: impl FnOnce() -> u32) -> &Hop<A> {
        match &self.group {
            None => &self.first,
            Some(group) => group.pick(flow()),
        }
    }
}

/// One route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route<F: Family> {
    pub(super) prefix: Prefix<F::Key>,
    pub(super) to: Target<F::Address>,
}

fn gateway<F: Family>(hop: &Hop<F::Address>) -> String {
    if hop.gateway == F::NONE { "-".to_owned() } else { hop.gateway.to_string() }
}

impl<F: Family> Route<F> {
    /// `ADDR/MASK GATEWAY OUTPUT`, as messages show a route; of several next hops the first.
    pub(super) fn words(&self) -> String {
        let hop = Paths::new(&self.to).first;
        let (address, len) = (F::address(self.prefix.addr()), self.prefix.len());
        format!("{address}/{len} {} {}", gateway::<F>(&hop), hop.port)
    }

    /// The same in columns, as Click's tables print it. Each of several next hops has a line, with its weight.
    pub(super) fn lines(&self) -> String {
        let (mut text, hops) = (String::new(), self.to.hops());
        for (hop, weight) in &hops {
            let mut line = format!("{}/{}\t", F::address(self.prefix.addr()), self.prefix.len());
            if line.len() < 17 {
                line.push('\t');
            }
            let at = line.len();
            let _ = write!(line, "{}\t", gateway::<F>(hop));
            if line.len() < at + 9 {
                line.push('\t');
            }
            let _ = write!(line, "{}", hop.port);
            if hops.len() > 1 {
                let _ = write!(line, "\tweight {weight}");
            }
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::V4;
    use super::*;

    #[test]
    fn several_next_hops_print_a_line_each() {
        let hop = |port| Hop { gateway: [10, 0, 0, port as u8].into(), port };
        let to = Target::of([(hop(1), 1), (hop(2), 3)]).expect("weights");
        let route = Route::<V4> { prefix: Prefix::new(20 << 24, 8).expect("a length"), to };
        let lines = "20.0.0.0/8\t\t10.0.0.1\t1\tweight 1\n20.0.0.0/8\t\t10.0.0.2\t2\tweight 3\n";
        assert_eq!((route.lines(), route.words()), (lines.into(), "20.0.0.0/8 10.0.0.1 1".into()));
        assert_eq!(Target::of([(hop(1), 5), (hop(2), 0)]), Some(Target::One(hop(1))));
        assert_eq!(Target::of([(hop(1), 0)]), None);
        let paths = Paths::new(&route.to);
        assert_eq!([0, u32::MAX].map(|flow| paths.pick(|| flow).port), [1, 2]);
    }
}
