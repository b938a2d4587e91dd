//! Chooses among the routes of several peers while updates come in.

use std::collections::HashMap;
use std::net::IpAddr;

use super::error::ImportError;
use super::list::AnyPrefix;
use super::mrt::{self, Event, Path, Peer};

/// What becomes of a prefix: its gateway, as far as it is named, or `None` if it is withdrawn.
pub type Change = (AnyPrefix, Option<Option<IpAddr>>);

/// The routes that peers have announced and not withdrawn.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The oldest first. A prefix that was spoken of once stays, so that it is known to be gone.
    routes: HashMap<AnyPrefix, Vec<(Peer, u32, Path)>>,
}

impl Choice {
    /// Nothing is announced yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters what a peer says. Returns what a table is to change: the route with the shortest path counts, of several the oldest.
    ///
    /// A withdrawal of what was never announced here is passed on, since it may have been announced before.
    pub fn enter(&mut self, event: &Event) -> Option<Change> {
        let known = self.routes.contains_key(&event.prefix);
        let routes = self.routes.entry(event.prefix).or_default();
        let before = best(routes);
        let own = routes.iter().position(|&(peer, id, _)| (peer, id) == (event.peer, event.id));
        match (own, event.path) {
            (Some(at), Some(path)) => routes[at].2 = path,
            (Some(at), None) => drop(routes.remove(at)),
            (None, Some(path)) => routes.push((event.peer, event.id, path)),
            (None, None) => {}
        }
        let after = best(routes);
        (!known || before != after).then_some((event.prefix, after))
    }
}

fn best(routes: &[(Peer, u32, Path)]) -> Option<Option<IpAddr>> {
    let best = routes.iter().min_by_key(|(.., path)| path.length)?;
    Some(best.2.gateway)
}

/// The changes that a table goes through when these updates come: those of an MRT file, decompressed.
///
/// # Errors
/// [`ImportError::Record`].
pub fn changes(bytes: &[u8]) -> Result<Vec<Change>, ImportError> {
    let (mut choice, mut changes) = (Choice::new(), Vec::new());
    mrt::read(bytes, &mut |event| changes.extend(choice.enter(&event)))?;
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_path_counts_and_the_next_one_takes_over() {
        let prefix = super::super::parse_prefix("10.0.0.0/8").unwrap();
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        let mut choice = Choice::new();
        let mut say = |peer: u8, length: Option<u32>| {
            let path = length.map(|length| Path { gateway: Some(address(peer)), length });
            let peer = Peer { address: address(peer), asn: 1 };
            let event = Event { time: 0, dump: false, peer, id: 0, prefix, path };
            choice.enter(&event).map(|(_, gateway)| gateway.flatten())
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
    }
}
