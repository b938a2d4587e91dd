//! Remembered flows that no worker has: since a hot swap has other workers see their packets, or because they were loaded.
//!
//! All instances of an element share them. The worker that sees a flow's next packet takes the flow over, so that it is in one place at any time.
//! No flow has a packet while it waits: after the timeout all of them are over.

use super::family::Family;
use super::target::Hop;
use super::watch::{NOTHING, PARKED, Watch, Went};
use elements_shared::feeds::Feeds;
use elements_shared::parked::Parked;
use flows::Flow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// The next hop that a flow goes on with.
pub(super) type Way<F> = Option<Hop<<F as Family>::Gateway>>;

/// A flow that waits.
#[derive(Clone, Copy)]
pub(super) struct Left<F: Family> {
    /// When its last packet came.
    seen_ns: i64,
    confirmed: bool,
    way: Way<F>,
    /// If another node has told of it: when it went this way there.
    told_ns: i64,
}

/// When flows of this node went their ways.
const HERE: i64 = i64::MIN;

impl<F: Family> Left<F> {
    fn of(flow: &Flow<F::Tuple, Way<F>>, now_ns: i64) -> Left<F> {
        let idle_ns = i64::try_from(flow.idle.as_nanos()).unwrap_or(i64::MAX);
        Left {
            seen_ns: now_ns.saturating_sub(idle_ns),
            confirmed: flow.confirmed,
            way: flow.value,
            told_ns: HERE,
        }
    }

    fn flow(&self, key: F::Tuple, now_ns: i64) -> Flow<F::Tuple, &Way<F>> {
        let idle = Duration::from_nanos(now_ns.saturating_sub(self.seen_ns).max(0) as u64);
        Flow { key, second: None, idle, state: 0, confirmed: self.confirmed, value: &self.way }
    }
}

/// The flows of an element that wait, for all its instances.
pub(super) struct Shared<F: Family> {
    flows: Parked<F::Tuple, Left<F>>,
    /// When the time of all is over.
    over_ns: AtomicI64,
    /// How often flows were loaded.
    loads: AtomicU64,
    /// Whether another configuration has them.
    is_given: AtomicBool,
    /// What has changed, of these flows and of those that workers have.
    pub(super) watch: Watch<F>,
}

impl<F: Family> Shared<F> {
    /// None yet, of an element with so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Shared {
            flows: Parked::default(),
            over_ns: AtomicI64::new(i64::MAX),
            loads: AtomicU64::new(0),
            is_given: AtomicBool::new(false),
            watch: Watch::new(workers),
        }
    }

    /// Looks at some flows that wait, those with keys after one, and shows those that are established: their next hops, and when their last packets
    /// came. How many it has looked at, and the last one.
    pub(super) fn some(
        &self,
        after: Option<F::Tuple>,
        most: usize,
        mut show: impl FnMut(F::Tuple, Way<F>, i64),
    ) -> (usize, Option<F::Tuple>) {
        let (from, mut last) = (after.map_or(Bound::Unbounded, Bound::Excluded), after);
        let looked_at = self.flows.with(|flows| {
            let some = flows.range((from, Bound::Unbounded)).take(most);
            let look = |(key, left): (&F::Tuple, &Left<F>)| {
                last = Some(*key);
                if left.confirmed {
                    show(*key, left.way, left.seen_ns);
                }
            };
            some.map(look).count()
        });
        (looked_at, last)
    }

    /// Has flows of another node wait, each in the place of one that waits already, as far as there is room for so many; for so long. Where the
    /// other node's workers had a flow one after the other it goes on as at the last one. `taken` is told of each whether it waits.
    pub(super) fn adopt(
        &self,
        told: impl Iterator<Item = Option<(F::Tuple, Went<F>)>>,
        (room, timeout_ns): (usize, i64),
        now_ns: i64,
        mut taken: impl FnMut(bool),
    ) {
        let is_over = |left: &Left<F>| timeout_ns > 0 && now_ns.saturating_sub(left.seen_ns) > timeout_ns;
        self.flows.with(|flows| {
            if flows.len() >= room {
                flows.retain(|_, left| !is_over(left));
            }
            for told in told {
                let told = told.filter(|(key, _)| flows.len() < room || flows.contains_key(key));
                if let Some((key, (hop, told_ns))) = told
                    && flows.get(&key).is_none_or(|known| known.told_ns <= told_ns)
                {
                    flows.insert(key, Left { seen_ns: now_ns, confirmed: true, way: Some(hop), told_ns });
                    self.watch.note(PARKED, key, Some((hop, now_ns)));
                }
                taken(told.is_some());
            }
        });
        if timeout_ns > 0 {
            self.over_ns.store(now_ns.saturating_add(timeout_ns), Ordering::Relaxed);
        }
    }
}

/// Which of an element's instances one is, and what brings packets to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The worker that the instance is for.
    pub(super) worker: usize,
    /// All workers that have one.
    pub(super) workers: Vec<usize>,
    /// Where its packets come from.
    pub(super) feeds: Feeds,
}

impl Place {
    /// Whether it sees the packets that another one has seen in the configuration before.
    pub(super) fn follows(&self, former: &Place) -> bool {
        self.worker == former.worker && self.feeds == former.feeds
    }

    /// Whether it is the one that answers for what all share.
    fn is_first(&self) -> bool {
        self.workers.first() == Some(&self.worker)
    }
}

/// The flows that wait, as one instance sees them.
pub(super) struct Waiting<F: Family> {
    shared: Arc<Shared<F>>,
    pub(super) place: Place,
    /// How long a flow is remembered; 0 for ever.
    timeout_ns: i64,
    /// How many loads the instance knows of.
    loads: u64,
    /// Which demand for notes it knows of, and where it writes them.
    asked: u64,
    lane: u16,
}

impl<F: Family> Waiting<F> {
    /// Those of an element, for its instance at a place.
    pub(super) fn new(shared: Arc<Shared<F>>, place: Place, timeout: Duration) -> Self {
        let timeout_ns = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        let at = place.workers.iter().position(|&worker| worker == place.worker).unwrap_or(0);
        let lane = u16::try_from(at + 1).unwrap_or(u16::MAX);
        Waiting { shared, place, timeout_ns, loads: 0, asked: NOTHING, lane }
    }

    /// Whether something asks anew for the instance's flows.
    #[inline]
    pub(super) fn is_asked_anew(&self) -> bool {
        self.shared.watch.asked() != self.asked
    }

    /// Takes note of that. Whether anything asks.
    pub(super) fn heed(&mut self) -> bool {
        self.asked = self.shared.watch.asked();
        self.asked != NOTHING
    }

    /// Whether anything may ask.
    pub(super) fn is_expected(&self) -> bool {
        self.shared.watch.is_expected()
    }

    /// Notes where one of the instance's flows went, and when.
    #[inline]
    pub(super) fn note(&self, key: F::Tuple, way: Way<F>, at_ns: i64) {
        if self.asked != NOTHING {
            self.shared.watch.note(self.lane, key, way.map(|hop| (hop, at_ns)));
        }
    }

    /// Notes that the instance has a flow no more.
    pub(super) fn note_gone(&self, key: F::Tuple) {
        if self.asked != NOTHING {
            self.shared.watch.note(self.lane, key, None);
        }
    }

    /// Notes that a flow has ended that waited, if it was established.
    fn note_end(&self, key: F::Tuple, left: &Left<F>) {
        if left.confirmed {
            self.note_taken(key);
        }
    }

    /// Notes that a flow waits no more.
    pub(super) fn note_taken(&self, key: F::Tuple) {
        self.shared.watch.note(PARKED, key, None);
    }

    /// How many flows the instance may show now to who asks.
    pub(super) fn room_to_show(&self) -> usize {
        self.shared.watch.room(self.lane)
    }

    /// The instance has shown all that it has.
    pub(super) fn has_shown(&self) {
        self.shared.watch.shown(self.lane, self.asked);
    }

    fn is_over(&self, left: &Left<F>, now_ns: i64) -> bool {
        self.timeout_ns > 0 && now_ns.saturating_sub(left.seen_ns) > self.timeout_ns
    }

    /// Takes over a flow that has a packet now, if it waits and its time is not over. Who has taken it [notes so](Waiting::note_taken).
    #[inline]
    pub(super) fn take(&self, key: &F::Tuple, now_ns: i64) -> Option<Flow<F::Tuple, Way<F>>> {
        if self.shared.flows.is_empty() { None } else { self.take_over(key, now_ns) }
    }

    #[cold]
    fn take_over(&self, key: &F::Tuple, now_ns: i64) -> Option<Flow<F::Tuple, Way<F>>> {
        let left = self.shared.flows.take(key)?;
        if self.is_over(&left, now_ns) {
            self.note_end(*key, &left);
            return None;
        }
        let Flow { second, idle, state, value, .. } = left.flow(*key, now_ns);
        // This packet is not its first one.
        Some(Flow { key: *key, second, idle, state, confirmed: true, value: *value })
    }

    /// Ends flows once the time of all is over, so many at once.
    #[inline]
    pub(super) fn expire(&self, now_ns: i64, most: usize) -> u64 {
        let is_time = || now_ns > self.shared.over_ns.load(Ordering::Relaxed);
        if !self.shared.flows.is_empty() && is_time() { self.end(most) } else { 0 }
    }

    #[cold]
    fn end(&self, most: usize) -> u64 {
        self.shared.flows.with(|flows| {
            let ended = (0..most).map_while(|_| flows.pop_first());
            ended.inspect(|(key, left)| self.note_end(*key, left)).count() as u64
        })
    }

    /// All of them, for another configuration: once. They can be looked at here as before, by instances that [have news](Self::has_news).
    pub(super) fn give(&self) -> BTreeMap<F::Tuple, Left<F>> {
        match self.shared.is_given.swap(true, Ordering::Relaxed) {
            false => self.shared.flows.with(|flows| flows.clone()),
            true => BTreeMap::new(),
        }
    }

    /// Adds flows of the configuration before that have waited there.
    pub(super) fn adopt(&self, left: BTreeMap<F::Tuple, Left<F>>) {
        left.into_iter().for_each(|(key, left)| self.insert(key, left));
    }

    /// Has a flow wait.
    pub(super) fn park(&self, flow: &Flow<F::Tuple, Way<F>>, now_ns: i64) {
        self.insert(flow.key, Left::of(flow, now_ns));
    }

    /// Several workers may have had a flow; it goes on as the one knew it that saw its last packet.
    fn insert(&self, key: F::Tuple, left: Left<F>) {
        self.shared.flows.with(|flows| {
            let newest = flows.get(&key).copied().filter(|other| other.seen_ns > left.seen_ns);
            flows.insert(key, newest.unwrap_or(left));
        });
    }

    /// All have come: those that `is_known` to this instance's own table do not wait, and where there is no `room` for all the ones go whose
    /// packets are longest ago. Says how many those are.
    pub(super) fn settle(&self, room: usize, now_ns: i64, is_known: impl Fn(&F::Tuple) -> bool) -> usize {
        if self.shared.flows.is_empty() {
            return 0;
        }
        let (lost, last_ns) = self.shared.flows.with(|flows| {
            flows.retain(|key, left| !self.is_over(left, now_ns) && !is_known(key));
            let mut by_time: Vec<_> = flows.iter().map(|(key, left)| (left.seen_ns, *key)).collect();
            by_time.sort_unstable();
            let lost = by_time.len().saturating_sub(room);
            by_time[..lost].iter().for_each(|(_, key)| _ = flows.remove(key));
            (lost, by_time.last().map(|(seen_ns, _)| *seen_ns))
        });
        if let Some(last_ns) = last_ns.filter(|_| self.timeout_ns > 0) {
            self.shared.over_ns.store(last_ns.saturating_add(self.timeout_ns), Ordering::Relaxed);
        }
        lost
    }

    /// Flows wait as they were written down, in the place of those that wait already. Instances that [have news](Self::has_news) forget
    /// what they know of them. Says how many that wait are lost, because there is no `room` for so many.
    pub(super) fn load(
        &self,
        loaded: impl IntoIterator<Item = Flow<F::Tuple, Way<F>>>,
        room: usize,
        now_ns: i64,
    ) -> usize {
        let all = loaded.into_iter().map(|flow| (flow.key, Left::of(&flow, now_ns)));
        self.shared.flows.with(|flows| flows.extend(all));
        let lost = self.settle(room, now_ns, |_| false);
        // Who keeps a copy looks at all of them again.
        self.shared.watch.lose();
        self.shared.loads.fetch_add(1, Ordering::Release);
        lost
    }

    /// Whether flows were loaded since this instance last looked.
    #[inline]
    pub(super) fn has_news(&self) -> bool {
        self.shared.loads.load(Ordering::Acquire) != self.loads
    }

    /// Looks at the keys of all that wait.
    pub(super) fn look(&mut self, see: impl FnMut(&F::Tuple)) {
        self.loads = self.shared.loads.load(Ordering::Acquire);
        self.shared.flows.with(|flows| flows.keys().for_each(see));
    }

    /// Has something done with all whose time is not over, by one instance for all.
    pub(super) fn each(&self, now_ns: i64, mut act: impl FnMut(Flow<F::Tuple, &Way<F>>)) {
        if self.place.is_first() && !self.shared.flows.is_empty() {
            self.shared.flows.with(|flows| {
                let alive = flows.iter().filter(|(_, left)| !self.is_over(left, now_ns));
                alive.for_each(|(key, left)| act(left.flow(*key, now_ns)));
            });
        }
    }

    /// Forgets those that are meant.
    pub(super) fn forget(&self, now_ns: i64, is_meant: impl Fn(&Flow<F::Tuple, &Way<F>>) -> bool) {
        if !self.shared.flows.is_empty() {
            let is_forgotten = |key: F::Tuple, left: &Left<F>| {
                let is_meant = is_meant(&left.flow(key, now_ns));
                if is_meant {
                    self.note_end(key, left);
                }
                is_meant
            };
            self.shared.flows.with(|flows| flows.retain(|key, left| !is_forgotten(*key, left)));
        }
    }
}
