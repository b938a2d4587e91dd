//! What rewriters and firewalls tell of flows: taken from them little by little, and put into messages.

use super::format::{self, Template};
use crate::rewrite::flow_events::{Event, WAITING};
use crate::rewrite::nat::Nat;
use crate::track::conn_track::Shared;
use router::Cx;
use std::sync::Arc;
use std::time::Duration;

/// Lanes of a table. Tables may have fewer.
const LANES: usize = 8;

/// An element that tells what happens to its flows.
enum Source {
    Rewriter(Arc<Nat>),
    Tracker(Arc<Shared>),
}

/// The events of all elements that are named, one lane after the other.
#[derive(Default)]
pub(super) struct Events {
    /// Whether there can be any.
    pub(super) are_wanted: bool,
    names: Vec<String>,
    sources: Vec<Source>,
    /// Lanes that were looked at, of all sources.
    looked: usize,
    /// Events of a lane, and how many of them have been told.
    taken: Vec<Event>,
    told: usize,
    /// Whether there were some when it was last looked.
    were_there: bool,
    pub(super) counts: Counts,
}

/// How often it is looked whether there are events: after some, and otherwise.
const EVENTFUL: Duration = Duration::from_millis(20);
const UNEVENTFUL: Duration = Duration::from_millis(100);
/// How long packets have their turn before the next ones are told.
const BREATH: Duration = Duration::from_micros(100);

/// What became of events.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    /// Events that were put into messages.
    pub(super) told: u64,
    /// Events that came too fast.
    pub(super) lost: u64,
}

impl Events {
    /// Those of elements with these names, if this instance is the one that takes them.
    pub(super) fn new(names: &str, takes: bool) -> Events {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        let are_wanted = !names.is_empty();
        Events { are_wanted, names: if takes { names } else { Vec::new() }, ..Events::default() }
    }

    /// Looks the elements up, once all exist, and has them tell.
    ///
    /// # Errors
    /// What is wrong with a name.
    pub(super) fn listen(&mut self, cx: &Cx<'_>) -> Result<(), String> {
        for name in &self.names {
            let source = match cx.shared_of::<Nat>(name, "rewriter") {
                Ok(nat) => Source::Rewriter(nat),
                Err(_) => Source::Tracker(cx.shared_of(name, "rewriter or ConnTrack")?),
            };
            let is_first = match &source {
                Source::Rewriter(nat) => nat.want_events(),
                Source::Tracker(shared) => shared.want_events(),
            };
            if !is_first {
                return Err(format!("EVENTS: '{name}' tells its events already"));
            }
            self.sources.push(source);
        }
        self.taken.reserve_exact(WAITING);
        Ok(())
    }

    /// Takes the events of the next lane that has any. False if there are none.
    fn take(&mut self, now_ms: Option<u64>) -> bool {
        self.taken.clear();
        self.told = 0;
        for _ in 0..self.sources.len() * LANES {
            self.looked += 1;
            let (source, lane) = (self.looked / LANES % self.sources.len(), self.looked % LANES);
            self.counts.lost += match &self.sources[source] {
                Source::Rewriter(nat) => nat.take_events(lane, now_ms, &mut self.taken),
                Source::Tracker(shared) => shared.take_events(lane, now_ms, &mut self.taken),
            };
            if !self.taken.is_empty() {
                return true;
            }
        }
        false
    }

    /// Hands at most so many events of one lane to `tell`, with their templates. Says when there may be more.
    pub(super) fn tell(
        &mut self,
        now_ms: u64,
        most: usize,
        mut tell: impl FnMut(&'static Template, &Event),
    ) -> Duration {
        if self.told == self.taken.len() && !self.take(Some(now_ms)) {
            return if std::mem::take(&mut self.were_there) { EVENTFUL } else { UNEVENTFUL };
        }
        self.were_there = true;
        let rest = &self.taken[self.told..];
        let events = &rest[..most.min(rest.len())];
        events.iter().for_each(|event| tell(format::of_event(event), event));
        self.told += events.len();
        self.counts.told += events.len() as u64;
        BREATH
    }

    /// Takes all that was not told, for an element that replaces this one.
    pub(super) fn give(&mut self) -> (Vec<Event>, Counts) {
        let mut all = self.taken.split_off(self.told);
        while self.take(None) {
            all.append(&mut self.taken);
        }
        (all, self.counts)
    }

    /// Goes on with what another one has left.
    pub(super) fn adopt(&mut self, (events, counts): (Vec<Event>, Counts)) {
        self.counts.told += counts.told;
        self.counts.lost += counts.lost;
        if self.are_wanted {
            self.taken.extend(events);
        } else {
            self.counts.lost += events.len() as u64;
        }
    }
}
