//! The best routes of a file.

use super::event::{Event, Path, Peer};
use crate::import::list::{AnyPrefix, Hop, List, NextHops};
use std::collections::HashMap;

/// Keeps the best routes of a file.
#[derive(Default)]
pub(super) struct Best {
    /// Of the dumps, in the order of the file.
    order: Vec<AnyPrefix>,
    dumped: HashMap<AnyPrefix, Path>,
    /// Of the updates: the place among them, and the latest word on it.
    updates: HashMap<(AnyPrefix, Peer, u32), (usize, Option<Path>)>,
    routes: u64,
}

impl Best {
    pub(super) fn enter(&mut self, event: Event) {
        self.routes += 1;
        if !event.dump {
            let place = self.updates.len();
            let entry = self.updates.entry((event.prefix, event.peer, event.id)).or_insert((place, None));
            entry.1 = event.path;
            return;
        }
        let Some(path) = event.path else { return };
        match self.dumped.get_mut(&event.prefix) {
            Some(best) if path.length < best.length => *best = path,
            Some(_) => {}
            None => {
                self.order.push(event.prefix);
                self.dumped.insert(event.prefix, path);
            }
        }
    }

    pub(super) fn list(mut self) -> List {
        let mut updates: Vec<_> = std::mem::take(&mut self.updates).into_iter().collect();
        updates.sort_unstable_by_key(|&(_, (place, _))| place);
        // A prefix that is spoken of after the dump is as the latest words on it say.
        let mut latest: HashMap<AnyPrefix, Option<Path>> = HashMap::new();
        for ((prefix, ..), (_, path)) in updates {
            let best = latest.entry(prefix).or_insert_with(|| {
                self.order.push(prefix);
                None
            });
            *best = [*best, path].into_iter().flatten().min_by_key(|path| path.length);
        }
        let mut list = List::default();
        for prefix in self.order {
            let path = match latest.get(&prefix) {
                Some(latest) => *latest,
                None => self.dumped.get(&prefix).copied(),
            };
            if let Some(path) = path {
                list.push(prefix, NextHops::Hop(Hop { gateway: path.gateway, ..Hop::default() }));
                // A dumped prefix that was spoken of again comes twice in the order.
                latest.insert(prefix, None);
            }
        }
        list.skipped = self.routes - list.len() as u64;
        list
    }
}
