//! Chooses among the routes of several peers while updates come in.

use std::collections::HashMap;
use std::net::IpAddr;

use super::fault::Faults;
use super::list::{AnyPrefix, Hop, List, NextHops};
use super::mrt::{self, Event, Path, Peer, Route};

/// What becomes of a prefix: its gateway, as far as it is named, or `None` if it is withdrawn.
pub type Change = (AnyPrefix, Option<Option<IpAddr>>);

/// The routes that peers have announced and not withdrawn.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Places of prefixes. A prefix that was spoken of once stays, so that it is known to be gone.
    places: HashMap<AnyPrefix, u32>,
    /// Prefixes in the order in which they were first spoken of, each with its routes, the oldest first.
    prefixes: Vec<(AnyPrefix, Vec<Known>)>,
    /// Places of prefixes for which a peer has announced a route since its session began; some of these may be gone, some there twice.
    announced: HashMap<Peer, Vec<u32>>,
}

/// A route that is known: its peer, its id and where it leads.
type Known = (Peer, u32, Path);

impl Choice {
    /// Nothing is announced yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters what a peer says, and calls `change` with what a table is to change: the route with the shortest path counts, of several
    /// the oldest.
    ///
    /// A withdrawal of what was never announced here is passed on, since it may have been announced before.
    pub fn enter(&mut self, event: &Event, change: &mut dyn FnMut(Change)) {
        match event {
            Event::Route(route) => self.route(route, change),
            Event::Down { peer, .. } => self.down(*peer, change),
        }
    }

    fn route(&mut self, &Route { peer, id, prefix, path, .. }: &Route, change: &mut dyn FnMut(Change)) {
        let fresh = self.prefixes.len() as u32;
        let place = *self.places.entry(prefix).or_insert(fresh);
        let known = place != fresh;
        if !known {
            self.prefixes.push((prefix, Vec::new()));
        }
        let routes = &mut self.prefixes[place as usize].1;
        let before = best(routes);
        let own = routes.iter().position(|&(known, number, _)| (known, number) == (peer, id));
        match (own, path) {
            (Some(at), Some(path)) => routes[at].2 = path,
            (Some(at), None) => drop(routes.remove(at)),
            (None, Some(path)) => {
                routes.push((peer, id, path));
                self.announced.entry(peer).or_default().push(place);
            }
            (None, None) => {}
        }
        let after = best(routes);
        if !known || before != after {
            change((prefix, after));
        }
    }

    /// All routes of a peer go.
    fn down(&mut self, peer: Peer, change: &mut dyn FnMut(Change)) {
        for place in self.announced.remove(&peer).unwrap_or_default() {
            let (prefix, routes) = &mut self.prefixes[place as usize];
            let before = best(routes);
            routes.retain(|&(known, ..)| known != peer);
            let after = best(routes);
            if before != after {
                change((*prefix, after));
            }
        }
    }

    /// The routes that count, in the order in which their prefixes were first spoken of.
    pub fn list(&self) -> List {
        let mut list = List::default();
        for (prefix, routes) in &self.prefixes {
            if let Some(gateway) = best(routes) {
                list.push(*prefix, NextHops::Hop(Hop { gateway, ..Hop::default() }));
            }
        }
        list
    }
}

fn best(routes: &[Known]) -> Option<Option<IpAddr>> {
    let best = routes.iter().min_by_key(|(.., path)| path.length)?;
    Some(best.2.gateway)
}

/// The changes that a table goes through when these updates come: those of an MRT file, decompressed; and what could not be read.
pub fn changes(bytes: &[u8]) -> (Vec<Change>, Faults) {
    let (mut choice, mut changes) = (Choice::new(), Vec::new());
    let faults = mrt::read(bytes, &mut |event| choice.enter(&event, &mut |change| changes.push(change)));
    (changes, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_path_counts_and_the_next_one_takes_over() {
        let prefix = super::super::parse_prefix("10.0.0.0/8").unwrap();
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        let peer = |peer: u8| Peer { address: address(peer), asn: 1 };
        let mut choice = Choice::new();
        let mut enter = |event: Event| {
            let mut seen = Vec::new();
            choice.enter(&event, &mut |(_, gateway)| seen.push(gateway.flatten()));
            assert!(seen.len() < 2);
            seen.pop()
        };
        let mut say = |from: u8, length: Option<u32>| {
            let path = length.map(|length| Path { gateway: Some(address(from)), length });
            enter(Event::Route(Route { time: 0, dump: false, peer: peer(from), id: 0, prefix, path }))
        };
        let to = |peer| Some(Some(address(peer)));
        // Withdrawn before it was announced here.
        assert_eq!(say(1, None), Some(None));
        assert_eq!(say(1, None), None);
        assert_eq!(say(1, Some(3)), to(1));
        // Longer, as long, shorter.
        assert_eq!((say(2, Some(4)), say(2, Some(3)), say(2, Some(2))), (None, None, to(2)));
        // Its path grows longer than the other's; then the other is withdrawn.
        assert_eq!((say(2, Some(5)), say(1, None), say(2, None)), (to(1), to(2), Some(None)));
        // Sessions end: the better one's, that of a peer without a route, the other's.
        assert_eq!((say(1, Some(3)), say(2, Some(4))), (to(1), None));
        let mut down = |from| enter(Event::Down { time: 0, peer: peer(from) });
        assert_eq!((down(1), down(1), down(2)), (to(2), None, Some(None)));
    }
}
