//! Changes as lines for the `ctrl` handler of a lookup element.

use elements_shared::route_port::{Change, Destination, NextHopId, Way};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// What a lookup element was told, whose routes name their next hops themselves.
#[derive(Debug, Default)]
pub(super) struct AsText {
    hops: HashMap<NextHopId, Vec<Way>>,
    routes: BTreeMap<Destination, NextHopId>,
}

impl AsText {
    /// The lines that say what some changes say.
    pub(super) fn lines(&mut self, changes: Vec<Change>) -> String {
        let mut lines = String::new();
        for change in changes {
            match change {
                Change::NextHop(id, ways) => {
                    self.hops.insert(id, ways);
                    let leading = self.routes.iter().filter(|(_, next)| **next == id);
                    leading.for_each(|(to, _)| self.set(*to, id, &mut lines));
                }
                Change::ForgetNextHop(id) => drop(self.hops.remove(&id)),
                Change::Route(to, id) => {
                    self.routes.insert(to, id);
                    self.set(to, id, &mut lines);
                }
                Change::Withdraw(to) => {
                    self.routes.remove(&to);
                    let _ = writeln!(lines, "remove {}/{}", to.address, to.len); // writing to a String does not fail
                }
            }
        }
        lines
    }

    fn set(&self, to: Destination, id: NextHopId, lines: &mut String) {
        let gateway = |way: &Way| way.gateway.map_or("-".to_owned(), |gateway| gateway.to_string());
        let ways = self.hops.get(&id).map(Vec::as_slice).unwrap_or_default();
        let _ = write!(lines, "set {}/{}", to.address, to.len);
        match ways {
            [] => lines.push_str(" -1"),
            [way] => drop(write!(lines, " {} {}", gateway(way), way.port)),
            _ => ways.iter().for_each(|way| {
                let _ = write!(lines, " nexthop {} {} {}", gateway(way), way.port, way.weight);
            }),
        }
        lines.push('\n');
    }
}
