//! Drops packets to keep waiting times in queues short.
//!
//! ```click
//! CoDel([TARGET, INTERVAL, KEYWORDS])
//! ```
//!
//! Controlled delay (Nichols and Jacobson, 2012). For each packet it pulls, it measures the time since the
//! first-timestamp annotation was set; `SetTimestamp(FIRST true)` does that in front of the queue. Once waiting times
//! have exceeded TARGET for an INTERVAL, it drops packets, increasingly fast until the waiting times fall. Packets
//! without the annotation pass.
//!
//! Ports: 1 input, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `TARGET` (time, default 5 ms): the acceptable waiting time.
//! - `INTERVAL` (time, default 100 ms): how long waiting times may exceed TARGET before packets are dropped.
//! - `QUEUES` (names of queues separated by spaces): the queues that `stats` reports; by default the nearest
//!   upstream.
//!
//! # Handlers
//! - `codel_target`, `codel_interval` (read, write): the arguments; they read as `0.005000s` and `0.100000 s`. `config` (read): both.
//! - `drops` (read): packets dropped.
//! - `queues` (read): the names of the queues, one per line.
//! - `stats` (read): current length and drops, as text.
//!
//! # Example
//! ```click
//! RatedSource(RATE 1000) -> SetTimestamp(FIRST true) -> Queue(200) -> CoDel -> RatedUnqueue(900) -> Discard
//! ```
//!
//! # See also
//! RED, Queue, SetTimestamp

use super::refill::Refill;
use super::storage::Watched;
use elements_shared::label::write_time;
use packet::{Anno, Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency, Verdict};
use std::any::Any;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("CoDel", create)
    .processing("l/l")
    .residency(Residency::Exclusive)
    .live()
    .doc(router::manual!("codel.rs"));

/// TARGET and INTERVAL.
const DEFAULTS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));

const NS_PER_S: i64 = 1_000_000_000;
const NS_PER_MS: u64 = 1_000_000;

/// What the packet before has left to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Nothing,
    /// It was the first to be dropped: this one passes.
    Pass,
    /// It was dropped: see whether this one has to be, too.
    Repeat,
}

/// How far it is. A new configuration goes on from there.
#[derive(Clone, Copy)]
struct Course {
    /// When waits will have been too long for an interval; none while they are short.
    above_until_ns: Option<i64>,
    dropping: bool,
    drop_next_ns: i64,
    /// Packets dropped since dropping began.
    streak: u32,
    next: Next,
    drops: u64,
}

struct CoDel {
    target_ns: i64,
    interval_ns: i64,
    course: Course,
    queue_names: Vec<String>,
    queues: Watched,
    refill: Refill,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut target, mut interval) = DEFAULTS;
    let mut queues = router::Raw::default();
    config
        .args()
        .positional("TARGET", &mut target)
        .positional("INTERVAL", &mut interval)
        .keyword("QUEUES", &mut queues)
        .finish()?;
    Ok(Box::new(CoDel {
        target_ns: nanoseconds(target),
        interval_ns: nanoseconds(interval),
        course: Course {
            above_until_ns: None,
            dropping: false,
            drop_next_ns: 0,
            streak: 0,
            next: Next::Nothing,
            drops: 0,
        },
        queue_names: lang::conf::split_spaces(&queues.0),
        queues: Watched::default(),
        refill: Refill::default(),
    }))
}

fn nanoseconds(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

impl CoDel {
    /// Whether a packet has waited too long, and others have for an interval; none if that cannot be said.
    fn is_late(&mut self, packet: &Packet, now_ns: i64) -> Option<bool> {
        let since_ns = packet.anno(Anno::FIRST_TIMESTAMP) as i64;
        if since_ns < NS_PER_S {
            return None;
        }
        if now_ns - since_ns < self.target_ns {
            self.course.above_until_ns = None;
            return Some(false);
        }
        let until_ns = *self.course.above_until_ns.get_or_insert(now_ns.saturating_add(self.interval_ns));
        Some(now_ns >= until_ns && until_ns != now_ns.saturating_add(self.interval_ns))
    }

    /// The time of the next drop: the more drops, the sooner.
    fn after(&self, ns: i64) -> i64 {
        // The root has four bits of fraction, as in Click.
        let root = (u64::from(self.course.streak.max(1)) << 8).isqrt();
        let interval_ns = u64::try_from(self.interval_ns).unwrap_or(0) / NS_PER_MS * NS_PER_MS;
        ns.saturating_add(i64::try_from(interval_ns.saturating_mul(16) / root).unwrap_or(i64::MAX))
    }

    fn set(&mut self, target: Duration, interval: Duration) {
        (self.target_ns, self.interval_ns) = (nanoseconds(target), nanoseconds(interval));
    }

    /// The times that count, in Click's words, which are no arguments.
    fn words(&self) -> (String, String) {
        let [mut target, mut interval] = [String::new(), String::new()];
        write_time(&mut target, self.target_ns);
        write_time(&mut interval, self.interval_ns);
        (target + "s", interval + " s")
    }

    fn config(&self) -> String {
        let (target, interval) = self.words();
        format!("{target}, {interval}, ")
    }

    fn decide(&mut self, now_ns: i64, packet: &Packet) -> Verdict {
        let Some(late) = self.is_late(packet, now_ns) else {
            (self.course.dropping, self.course.next) = (false, Next::Nothing);
            return Verdict::Pass;
        };
        match std::mem::replace(&mut self.course.next, Next::Nothing) {
            Next::Pass => return Verdict::Pass,
            Next::Repeat if late => self.course.drop_next_ns = self.after(self.course.drop_next_ns),
            _ => {}
        }
        if self.course.dropping {
            self.course.dropping = late;
            if !late || now_ns < self.course.drop_next_ns {
                return Verdict::Pass;
            }
            self.course.streak += 1;
            self.course.next = Next::Repeat;
        } else {
            let recent = now_ns - self.course.drop_next_ns < self.interval_ns;
            let long =
                self.course.above_until_ns.is_some_and(|until_ns| now_ns - until_ns >= self.interval_ns);
            if !late || !(recent || long) {
                return Verdict::Pass;
            }
            self.course.streak = if recent && self.course.streak > 2 { self.course.streak - 2 } else { 1 };
            self.course.dropping = true;
            self.course.drop_next_ns = self.after(now_ns);
            self.course.next = Next::Pass;
        }
        self.course.drops += 1;
        Verdict::Drop("controlled delay")
    }
}

impl Element for CoDel {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        let (mut target, mut interval) = DEFAULTS;
        let mut queues = router::Raw::default(); // those that were found stay
        let read = router::arguments(cx, config)
            .positional("TARGET", &mut target)
            .positional("INTERVAL", &mut interval)
            .keyword("QUEUES", &mut queues)
            .finish();
        Some(read.map(|()| self.set(target, interval)))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.queues = Watched::find(cx, &self.queue_names, false)?;
        Ok(())
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.refill.start(want)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        let left = cx.sift(batch, |cx, packet| self.decide(cx.now_ns(), packet));
        if got < self.refill.asked() {
            // The queue is empty: no packet waits.
            self.course.above_until_ns = None;
            self.course.dropping &= self.course.next == Next::Pass;
            self.course.next = Next::Nothing;
        }
        self.refill.take(cx, got, left)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.course))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Course>() {
            self.course = *state;
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("codel_target", |e: &mut CoDel, _| e.words().0);
        h.read("codel_interval", |e: &mut CoDel, _| e.words().1);
        h.write("codel_target", |e: &mut CoDel, cx, text| {
            e.target_ns = nanoseconds(router::keyword_value(cx, "TARGET", text)?);
            Ok(())
        });
        h.write("codel_interval", |e: &mut CoDel, cx, text| {
            e.interval_ns = nanoseconds(router::keyword_value(cx, "INTERVAL", text)?);
            Ok(())
        });
        h.read("config", |e: &mut CoDel, _| e.config());
        h.read("drops", |e: &mut CoDel, _| e.course.drops);
        h.read("queues", |e: &mut CoDel, _| e.queues.lines());
        h.read("stats", |e: &mut CoDel, _| {
            format!("{} current queue\n{} drops\n", e.queues.len(), e.course.drops)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    fn drops(rate: u32, arguments: &str) -> u64 {
        let config = format!(
            "RatedSource(RATE {rate}, LIMIT {}, STOP true) -> SetTimestamp(FIRST true) -> q :: Queue(100000)
             -> c :: CoDel({arguments}) -> RatedUnqueue(1000) -> Discard",
            rate * 10
        );
        run_and_read(&config, &["c.drops"])[0].parse().expect("a number")
    }

    /// A queue that fills makes it drop, more the longer that lasts; one that is served in time does not.
    #[test]
    fn drops_while_packets_wait() {
        assert_eq!(drops(900, ""), 0);
        let standing = drops(1100, "");
        assert!((20..2000).contains(&standing), "{standing}");
        assert!((1..standing).contains(&drops(1100, "5ms, 400ms")));
        assert_eq!(drops(1100, "100, 1"), 0);
    }

    #[test]
    fn needs_a_queue() {
        assert!(errors("Idle -> CoDel -> Discard").contains("no nearby Queues"));
    }
}
