//! The terminals that a node of an n-fly reaches, through all levels.
//!
//! Nodes within a level have no choice of links; terminals choose among theirs. So each node must know which
//! terminals its links lead to, through all levels. This information goes from node to node against the direction of
//! the links, once through all levels and no further: a node announces what the nodes behind its links announce, as
//! far as those links are up. There is no circle in which nodes could confirm to each other what is long gone.
//!
//! A terminal that has lost its last path to another one must not be a stopover for it. So there is a second round.
//! It says which terminals all stopovers reach, since only these are sent traffic through stopovers, and which
//! terminals any terminal reaches. A terminal that does not reach one of the latter declares itself no stopover, so
//! that the others can still use stopovers.

use crate::NodeId;
use crate::topology::Topology;
use crate::view::{Nodes, Peer, Standing, View};

/// What a node of an n-fly tells of the terminals beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// What each terminal can be used for by way of this node.
    standings: Vec<Standing>,
    /// Who reaches each terminal: of a terminal, itself; of a node between, of the terminals that it reaches.
    reached: Vec<Reached>,
}

/// Who reaches a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reached {
    by_any: bool,
    by_all: bool,
}

impl Reached {
    const NOWHERE_KNOWN: Reached = Reached { by_any: false, by_all: true };
}

/// What comes over a link: what its end can be used for, by its phase, and what that tells.
pub(super) type Link<'h> = Option<(Standing, &'h Horizon)>;

const STANDINGS: [Standing; 4] = [Standing::Down, Standing::Egress, Standing::Kept, Standing::Open];

impl Horizon {
    /// Nothing is known of so many terminals.
    pub fn new(terminals: usize) -> Horizon {
        Horizon {
            standings: vec![Standing::Down; terminals],
            reached: vec![Reached::NOWHERE_KNOWN; terminals],
        }
    }

    /// What a node sees whose links lead to what is given, a place for each. `is_whole`: if it is a terminal, whether it reaches all
    /// that any node reaches.
    pub(super) fn of(topology: &Topology, me: NodeId, links: &[Link<'_>], is_whole: bool) -> Horizon {
        let mut horizon = Horizon::new(topology.terminals());
        let is_terminal = topology.is_terminal(me);
        for (terminal, standing) in horizon.standings.iter_mut().enumerate() {
            *standing = match topology.toward(usize::from(me), terminal) {
                None if is_whole => Standing::Open,
                None => Standing::Egress,
                Some(_) if is_terminal => best(links, terminal),
                Some(link) => links.get(link).copied().map_or(Standing::Down, |link| of_link(link, terminal)),
            };
        }
        let itself = |standing: &Standing| {
            let reached = *standing > Standing::Down;
            Reached { by_any: reached, by_all: reached }
        };
        horizon.reached = match is_terminal {
            true => horizon.standings.iter().map(itself).collect(),
            false => reached_beyond(topology, me, links),
        };
        horizon
    }

    /// What a terminal, or a node between, knows of all terminals by this.
    pub(super) fn view(&self, topology: &Topology, me: NodeId, links: &[Link<'_>]) -> View {
        let terminals = topology.terminals();
        let mut view = View::empty(me, terminals);
        let by_all = (0..).zip(reached_beyond(topology, me, links)).filter(|(_, reached)| reached.by_all);
        let by_all = Nodes::of(by_all.map(|(terminal, _)| terminal));
        for (terminal, &standing) in (0..).zip(&self.standings).filter(|(terminal, _)| *terminal != me) {
            let reach = if standing >= Standing::Kept { by_all.clone() } else { Nodes::of([]) };
            let (up, transit) = (standing > Standing::Down, standing == Standing::Open);
            view.set(terminal, Peer { up, transit, reach });
        }
        let by_terminal = |link: &Link<'_>| (0..terminals).map(|terminal| of_link(*link, terminal)).collect();
        view.set_links(links.iter().map(by_terminal).collect());
        view
    }

    /// Whether some terminal is reached by others and not by this one, which sees this horizon.
    pub(super) fn lacks_any(&self, topology: &Topology, me: NodeId, links: &[Link<'_>]) -> bool {
        let beyond = reached_beyond(topology, me, links);
        self.standings.iter().zip(beyond).any(|(mine, others)| others.by_any && *mine == Standing::Down)
    }

    /// Bytes of a horizon of so many terminals.
    pub(super) fn len(terminals: usize) -> usize {
        2 + 2 * terminals.div_ceil(4)
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.standings.len() as u16).to_be_bytes());
        let pack = |four: &[Standing]| four.iter().fold(0, |byte, &standing| byte << 2 | standing as u8);
        bytes.extend(self.standings.chunks(4).map(pack));
        let bits = |reached: &Reached| u8::from(reached.by_any) << 1 | u8::from(reached.by_all);
        let pack = |four: &[Reached]| four.iter().fold(0, |byte, reached| byte << 2 | bits(reached));
        bytes.extend(self.reached.chunks(4).map(pack));
    }

    /// Reads a horizon; also what is left of the bytes behind it.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Horizon, &[u8])> {
        let terminals = usize::from(u16::from_be_bytes(*bytes.first_chunk()?));
        let (bytes, rest) = bytes.split_at_checked(Horizon::len(terminals))?;
        let (standings, reached) = bytes[2..].split_at(terminals.div_ceil(4));
        // The last byte may be of fewer, which are in its low bits.
        let bits = |bytes: &[u8], at: usize| {
            let held = 4.min(terminals - at / 4 * 4);
            bytes[at / 4] >> (2 * (held - 1 - at % 4)) & 3
        };
        let who = |at: usize| {
            let bits = bits(reached, at);
            Reached { by_any: bits & 2 > 0, by_all: bits & 1 > 0 }
        };
        let horizon = Horizon {
            standings: (0..terminals).map(|at| STANDINGS[usize::from(bits(standings, at))]).collect(),
            reached: (0..terminals).map(who).collect(),
        };
        Some((horizon, rest))
    }
}

/// What each terminal of a fly knows once all have heard of what is broken. `is_whole` says whether a link from a node to another carries
/// anything: both are alive, and so is the cable.
pub fn settled(topology: &Topology, is_whole: impl Fn(NodeId, NodeId) -> bool) -> Vec<View> {
    let nodes = 0..topology.nodes() as NodeId;
    let next = |node: NodeId| -> Vec<Option<NodeId>> {
        let other = |link| topology.neighbour(node.into(), link) as NodeId;
        let others = (0..topology.links(node.into())).map(other);
        others.map(|other| Some(other).filter(|&other| other != node && is_whole(node, other))).collect()
    };
    let next: Vec<Vec<Option<NodeId>>> = nodes.clone().map(next).collect();
    let mut horizons = vec![Horizon::new(topology.terminals()); nodes.len()];
    let mut lacking = vec![false; topology.terminals()];
    loop {
        let mut has_changed = false;
        // Against the direction of the links: from the last level to the terminals.
        for node in nodes.clone().rev() {
            let links = links_of(&next[usize::from(node)], &horizons);
            let lacks = lacking.get_mut(usize::from(node));
            let is_whole = lacks.as_ref().is_none_or(|lacks| !**lacks);
            let horizon = Horizon::of(topology, node, &links, is_whole);
            // Who lacks one once lacks it for good: what is broken does not change.
            let lacks_now = lacks.is_some() && horizon.lacks_any(topology, node, &links);
            has_changed |= horizon != horizons[usize::from(node)] || (lacks_now && is_whole);
            lacks.into_iter().for_each(|lacks| *lacks |= lacks_now);
            horizons[usize::from(node)] = horizon;
        }
        if !has_changed {
            break;
        }
    }
    let view = |me: NodeId| {
        let links = links_of(&next[usize::from(me)], &horizons);
        horizons[usize::from(me)].view(topology, me, &links)
    };
    (0..topology.terminals() as NodeId).map(view).collect()
}

/// What comes over links to these nodes, of which each tells its horizon.
fn links_of<'h>(next: &[Option<NodeId>], horizons: &'h [Horizon]) -> Vec<Link<'h>> {
    next.iter().map(|node| node.map(|node| (Standing::Open, &horizons[usize::from(node)]))).collect()
}

/// What a terminal can be used for along a link.
fn of_link(link: Link<'_>, terminal: usize) -> Standing {
    let Some((standing, horizon)) = link else { return Standing::Down };
    horizon.standings.get(terminal).map_or(Standing::Down, |&beyond| beyond.min(standing))
}

fn best(links: &[Link<'_>], terminal: usize) -> Standing {
    links.iter().map(|&link| of_link(link, terminal)).max().unwrap_or_default()
}

/// By whom each terminal is reached of those beyond these links: by any terminal, by all stopovers.
fn reached_beyond(topology: &Topology, me: NodeId, links: &[Link<'_>]) -> Vec<Reached> {
    let mut all = vec![Reached::NOWHERE_KNOWN; topology.terminals()];
    for (number, &link) in links.iter().enumerate() {
        let Some((_, horizon)) = link else { continue };
        let next = topology.neighbour(usize::from(me), number);
        let is_no_stopover = next < topology.terminals() && of_link(link, next) < Standing::Kept;
        for (sum, reached) in all.iter_mut().zip(&horizon.reached) {
            sum.by_any |= reached.by_any;
            sum.by_all &= reached.by_all || is_no_stopover;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What is written is read, with any number of terminals.
        #[test]
        fn a_horizon_is_read_back_as_it_was_written(terminals in proptest::collection::vec((0usize..4, any::<bool>(), any::<bool>()), 0..40)) {
            let standings = terminals.iter().map(|(standing, ..)| STANDINGS[*standing]).collect();
            let reached = terminals.iter().map(|&(_, by_any, by_all)| Reached { by_any, by_all }).collect();
            let horizon = Horizon { standings, reached };
            let mut bytes = Vec::new();
            horizon.encode(&mut bytes);
            prop_assert_eq!(bytes.len(), Horizon::len(terminals.len()));
            bytes.push(7);
            prop_assert_eq!(Horizon::decode(&bytes), Some((horizon, &[7][..])));
            bytes.truncate(bytes.len() - 2);
            prop_assert_eq!(Horizon::decode(&bytes), None);
        }

        #[test]
        fn any_bytes_can_be_read_as_a_horizon(bytes in proptest::collection::vec(any::<u8>(), 0..20), terminals in 0u8..40) {
            let _ = Horizon::decode(&bytes);
            let _ = Horizon::decode(&[&[0, terminals], &bytes[..]].concat());
        }
    }
}
