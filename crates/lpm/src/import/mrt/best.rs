//! The best routes of table dumps.

use super::event::{Event, Path};
use crate::import::list::{AnyPrefix, Hop, List, NextHops};
use std::collections::HashMap;

/// Keeps the best routes of dumps that no update follows: of each prefix one, whichever peer has it.
#[derive(Default)]
pub(super) struct Best {
    list: List,
    /// The place in the list, and the length of the path.
    places: HashMap<AnyPrefix, (usize, u32)>,
    routes: u64,
}

impl Best {
    pub(super) fn enter(&mut self, event: Event) {
        let Event::Route(route) = event else { return };
        let Some(Path { gateway, length }) = route.path else { return };
        self.routes += 1;
        let next_hops = NextHops::Hop(Hop { gateway, ..Hop::default() });
        match self.places.get_mut(&route.prefix) {
            Some((at, shortest)) if length < *shortest => {
                *shortest = length;
                self.list.set_next_hops(route.prefix, *at, next_hops);
            }
            Some(_) => {}
            None => {
                let at = match route.prefix {
                    AnyPrefix::V4(_) => self.list.v4.len(),
                    AnyPrefix::V6(_) => self.list.v6.len(),
                };
                self.list.push(route.prefix, next_hops);
                self.places.insert(route.prefix, (at, length));
            }
        }
    }

    pub(super) fn list(self) -> List {
        let skipped = self.routes - self.list.len() as u64;
        List { skipped, ..self.list }
    }
}
