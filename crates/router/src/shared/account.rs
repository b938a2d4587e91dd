//! A worker's account of its own work: a few words for each turn and each batch. Only the worker writes it; others
//! have to ask the worker.

use packet::BATCH_MAX;

/// How many batches there were of each size.
#[derive(Clone, Debug)]
pub struct Sizes([u64; BATCH_MAX + 1]);

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes([0; BATCH_MAX + 1])
    }
}

impl Sizes {
    /// Batches with at least so many packets, and fewer than `to`.
    pub fn between(&self, from: usize, to: usize) -> u64 {
        let to = to.min(self.0.len());
        self.0[from.min(to)..to].iter().sum()
    }

    /// Packets in all of them.
    pub fn packets(&self) -> u64 {
        self.0.iter().zip(0..).map(|(batches, size): (&u64, u64)| batches * size).sum()
    }

    /// One addition: this is done for each batch.
    #[inline]
    pub(crate) fn count(&mut self, size: usize) {
        if let Some(batches) = self.0.get_mut(size) {
            *batches += 1;
        }
    }
}

/// What a worker has done since it began.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// Turns of its loop.
    pub turns: u64,
    /// Turns in which nothing was dispatched: it looked around and found nothing to do.
    pub idle_turns: u64,
    /// How often it went to sleep.
    pub sleeps: u64,
    /// Nanoseconds of turns in which something was dispatched.
    pub busy_ns: u64,
    /// Nanoseconds of other turns.
    pub idle_ns: u64,
    /// Nanoseconds asleep.
    pub asleep_ns: u64,
    /// Dispatches: hops of batches between elements.
    pub dispatches: u64,
    /// Batches that tasks and the work-list brought on their way.
    pub batches: Sizes,
    /// Up to when time is accounted for.
    until_ns: Option<i64>,
    /// Whether the last turn dispatched something.
    worked: bool,
    /// What share of the last span of time the worker was busy.
    pub load: f64,
    /// When the span that `load` is next of began, and `busy_ns` then.
    span: (i64, u64),
}

/// Nanoseconds of which `load` is, at least.
const SPAN_NS: i64 = 100_000_000;

impl Account {
    /// A turn begins, or sleep: what has passed since then is the last turn's.
    #[inline]
    pub(crate) fn pass(&mut self, now_ns: i64) {
        let ns = self.since(now_ns);
        *if self.worked { &mut self.busy_ns } else { &mut self.idle_ns } += ns;
        if now_ns - self.span.0 >= SPAN_NS {
            self.begin_span(now_ns);
        }
    }

    /// A span of time is over, and the next one begins.
    #[cold]
    #[inline(never)]
    fn begin_span(&mut self, now_ns: i64) {
        let (since, busy_ns) = self.span;
        self.load = (self.busy_ns - busy_ns) as f64 / (now_ns - since) as f64;
        self.span = (now_ns, self.busy_ns);
    }

    /// A turn is over that has made so many dispatches.
    #[inline]
    pub(crate) fn turned(&mut self, dispatches: u64) {
        self.turns += 1;
        self.dispatches += dispatches;
        self.worked = dispatches > 0;
        self.idle_turns += u64::from(!self.worked);
    }

    /// Sleep is over.
    pub(crate) fn slept(&mut self, now_ns: i64) {
        self.sleeps += 1;
        self.asleep_ns += self.since(now_ns);
    }

    /// Nanoseconds that are not accounted for; they are from now on.
    #[inline]
    fn since(&mut self, now_ns: i64) -> u64 {
        let before = self.until_ns.replace(now_ns).unwrap_or(now_ns);
        now_ns.saturating_sub(before).max(0).unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time is that of the turn before, until it is asleep; none is lost or counted twice.
    #[test]
    fn time_is_accounted_for() {
        let mut account = Account::default();
        for (from, dispatches) in [(1_000, 5), (1_010, 0), (1_030, 1)] {
            account.pass(from);
            account.turned(dispatches);
        }
        account.pass(1_070);
        account.slept(1_570);
        account.pass(1_570);
        assert_eq!((account.busy_ns, account.idle_ns, account.asleep_ns), (50, 20, 500));
        assert_eq!((account.turns, account.idle_turns, account.sleeps, account.dispatches), (3, 1, 1, 6));
    }

    /// The load is the share of the last span that was busy.
    #[test]
    fn load_is_of_the_last_span() {
        let mut account = Account::default();
        for (from, dispatches, load) in
            [(SPAN_NS, 1, 0.0), (SPAN_NS * 3 / 2, 0, 0.0), (SPAN_NS * 2, 1, 0.5), (SPAN_NS * 3, 0, 1.0)]
        {
            account.pass(from);
            account.turned(dispatches);
            assert_eq!(account.load, load, "{from}");
        }
    }

    #[test]
    fn batches_by_size() {
        let mut sizes = Sizes::default();
        [0, 1, 2, 3, 4, 63, BATCH_MAX, BATCH_MAX + 1].iter().for_each(|&size| sizes.count(size));
        let of = [(0, 1), (1, 2), (2, 4), (4, 64), (64, 1000), (500, 1000), (7, 3)];
        assert_eq!(of.map(|(from, to)| sizes.between(from, to)), [1, 1, 2, 2, 1, 0, 0]);
        assert_eq!(sizes.packets(), 73 + BATCH_MAX as u64);
    }
}
