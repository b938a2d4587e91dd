//! Pulls packets at the times of a Poisson process, and pushes them on.
//!
//! ```click
//! EXPUnqueue(RATE [, KEYWORDS])
//! ```
//!
//! The intervals between packets are distributed exponentially, with RATE packets per second on average. If there is
//! no packet at one of these times, the opportunity is saved for later. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer): packets per second, on average.
//! - `BURST` (integer, default 32): the maximum number of packets pulled at once.
//! - `SEED` (integer, default 0): the seed of the random intervals; 0 derives one from the program's seed.
//! - `ACTIVE` (boolean, default true): whether to pull packets.
//! - `BURST_SIZE`, `BURST_DURATION`: accepted, without effect, as in FastClick.
//!
//! # Handlers
//! - `rate` (read, write): the argument.
//! - `config` (read): the rate, as for RatedUnqueue.
//! - `active` (read, write): the argument.
//! - `calls` (read): runs of the task, runs without result, batches pushed, pulls without result, packets.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> EXPUnqueue(1000) -> Discard
//! ```
//!
//! # Differences from FastClick
//! The handler `rate` returns the rate, not its reciprocal. At most a million opportunities are saved.
//!
//! # See also
//! RatedUnqueue, Unqueue

use super::drive::Drive;
use packet::Batch;
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("EXPUnqueue", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(router::manual!("exp_unqueue.rs"));

const NS_PER_S: f64 = 1e9;
/// Moments that are saved up at most.
const MOST: u32 = 1_000_000;

struct ExpUnqueue {
    rate: u32,
    burst: usize,
    rng: fastrand::Rng,
    /// The next moment; none before the first.
    next_ns: Option<i64>,
    /// Packets that may go.
    due: u32,
    drive: Drive,
    /// Packets so far.
    packets: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rate, mut burst, mut seed, mut active) = (0u32, 32u32, 0u64, true);
    let (mut size, mut duration) = (String::new(), String::new());
    config
        .args()
        .required("RATE", &mut rate)
        .keyword("BURST", &mut burst)
        .keyword("SEED", &mut seed)
        .keyword("ACTIVE", &mut active)
        .keyword("BURST_SIZE", &mut size)
        .keyword("BURST_DURATION", &mut duration)
        .finish()?;
    let seed = if seed == 0 { config.seed() } else { seed };
    Ok(Box::new(ExpUnqueue {
        rate,
        burst: burst.max(1) as usize,
        rng: fastrand::Rng::with_seed(seed),
        next_ns: None,
        due: 0,
        drive: Drive::new(active),
        packets: 0,
    }))
}

impl ExpUnqueue {
    /// Nanoseconds until the moment after the next one. At least one, so that time goes on.
    fn gap_ns(&mut self) -> i64 {
        let gap = -(1.0 - self.rng.f64()).ln() / f64::from(self.rate) * NS_PER_S;
        (gap as i64).max(1)
    }

    /// Counts the moments that have come.
    fn refill(&mut self, now_ns: i64) {
        let mut next = self.next_ns.unwrap_or(now_ns);
        while next <= now_ns {
            self.due += 1;
            next = if self.due < MOST { next } else { now_ns };
            next = next.saturating_add(self.gap_ns());
        }
        self.due = self.due.min(MOST);
        self.next_ns = Some(next);
    }
}

impl Element for ExpUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.drive.runs += 1;
        if !self.drive.active || self.rate == 0 {
            return;
        }
        self.refill(cx.now_ns());
        if self.due > 0 {
            return cx.ask(0, (self.due as usize).min(self.burst).min(cx.vector()));
        }
        self.drive.empty_runs += 1;
        if let Some(next) = self.next_ns {
            cx.timers().at(0, next);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if batch.is_empty() {
            self.drive.failed_pulls += 1;
            if cx.signals().may_have(0) {
                cx.tasks().schedule();
            }
            return Pull::Nothing;
        }
        self.due = self.due.saturating_sub(batch.len() as u32);
        self.packets += batch.len() as u64;
        self.drive.pushes += 1;
        cx.tasks().schedule();
        cx.emit(0, batch);
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn handlers(&self, h: &mut Handlers) {
        type U = ExpUnqueue;
        for name in ["rate", "config"] {
            h.read(name, |e: &mut U, _| e.rate);
        }
        h.write("rate", |e: &mut U, cx, text| {
            e.rate = router::keyword_value(cx, "RATE", text)?;
            cx.tasks().schedule();
            Ok(())
        });
        Drive::handlers(h, |e: &mut U| &mut e.drive);
        h.read("calls", |e: &mut U, _| format!("{}{} packets\n", e.drive.text(), e.packets));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    /// In a hundred seconds 10,000 packets, give or take five standard deviations, and of equal spans of time some are far from the mean.
    #[test]
    fn a_poisson_process() {
        let config = "InfiniteSource(LIMIT 20000, BURST 20000) -> Queue(20000) -> u :: EXPUnqueue(100, SEED 7) -> c :: Counter -> Discard;
            Script(wait 1s, set a $(c.count), wait 1s, set b $(c.count), wait 98s, print $a $(sub $b $a), stop)";
        let read = run_and_read(config, &["c.count", "u.rate"]);
        let count: i32 = read[0].parse().unwrap();
        assert!((9_500..10_500).contains(&count) && count != 10_000, "{count}");
        assert_eq!(read[1], "100");
    }
}
