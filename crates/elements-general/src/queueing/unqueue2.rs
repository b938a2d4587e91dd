//! Pulls packets and pushes them on while there is room for them.
//!
//! ```click
//! Unqueue2([BURST, KEYWORDS])
//! ```
//!
//! Pulls up to BURST packets each time it is scheduled, but no more than fit into the fullest of the queues
//! downstream, and pushes them out. It sleeps while there are none, and while a queue downstream is full. As in
//! Click, the class is deprecated and prints a warning.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `BURST` (integer, default 1): packets per scheduling; 0 means as many as there are.
//! - `QUEUES` (names of queues separated by spaces): queues to check for room; the queues downstream are checked in
//!   any case.
//! - `QUIET` (boolean, default false): whether to suppress the deprecation warning.
//!
//! # Handlers
//! - `packets` (read): packets so far, as a number and the word `packets`.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> Unqueue2 -> Queue -> RatedUnqueue(100) -> Discard
//! ```
//!
//! # See also
//! Unqueue, RoundRobinUnqueue

use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Raw, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("Unqueue2", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(router::manual!("unqueue2.rs"));

struct Unqueue2 {
    burst: usize,
    count: u64,
    /// Packets that this scheduling may still pull, those asked for included.
    left: usize,
    asked: usize,
}

/// Reads a burst, where 0 means any number.
pub(super) fn burst(config: &Config<'_>) -> Result<usize, ConfigError> {
    let mut burst = 1u32;
    config.args().positional("BURST", &mut burst).finish()?;
    Ok(unlimited(burst))
}

fn unlimited(burst: u32) -> usize {
    if burst == 0 { usize::MAX } else { burst as usize }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut burst, mut queues, mut quiet) = (1u32, Raw::default(), false);
    config
        .args()
        .positional("BURST", &mut burst)
        .keyword("QUEUES", &mut queues)
        .keyword("QUIET", &mut quiet)
        .finish()?;
    if lang::conf::split_spaces(&queues.0).iter().any(|name| config.find(name).is_none()) {
        return Err("bad QUEUES".into());
    }
    if !quiet {
        config.warn("Unqueue2 is deprecated, you should probably use Unqueue");
    }
    Ok(Box::new(Unqueue2 { burst: unlimited(burst), count: 0, left: 0, asked: 0 }))
}

impl Unqueue2 {
    /// The size of the next request: no more than fits downstream by now.
    fn step(&mut self, cx: &mut Cx<'_>) -> usize {
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX).min(cx.signals().room());
        self.asked
    }
}

impl Element for Unqueue2 {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.signals().listen_room(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.left = self.burst;
        match self.step(cx) {
            0 => {} // room again wakes the task
            want => cx.ask(0, want),
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        self.count += got as u64;
        self.left = self.left.saturating_sub(got);
        cx.emit(0, batch);
        if got == self.asked && self.left > 0 && cx.signals().room() > got {
            // What was emitted is not in the queues yet, so less than the room that they say.
            self.asked = self.left.min(cx.vector()).min(BATCH_MAX).min(cx.signals().room() - got);
            return Pull::Ask { input: 0, want: self.asked };
        }
        if got == self.asked || cx.signals().may_have(0) {
            cx.tasks().schedule();
        }
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("packets", |e: &mut Unqueue2, _| format!("{} packets\n", e.count));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    /// What finds no room stays where it is; when there is room again, it goes on.
    #[test]
    fn waits_for_room() {
        let config = |burst| {
            format!(
                "InfiniteSource(LIMIT 100, BURST 100) -> a :: Queue -> u :: Unqueue2({burst}) -> b :: Queue(10)
                 -> RatedUnqueue(10) -> d :: Discard; Script(wait 2.05, stop)"
            )
        };
        for burst in ["", "7", "0"] {
            let read =
                run_and_read(&config(burst), &["b.drops", "b.length", "u.packets", "d.count", "a.length"]);
            let numbers: Vec<i32> =
                [&read[1], &read[3], &read[4]].iter().map(|text| text.parse().unwrap_or(-1)).collect();
            assert_eq!((read[0].as_str(), numbers.iter().sum::<i32>()), ("0", 100), "{burst} {read:?}");
            assert_eq!(read[2], format!("{} packets\n", numbers[0] + numbers[1]));
            assert!(numbers[1] >= 20, "{read:?}");
        }
        assert!(errors("Idle -> Queue -> Unqueue2(QUEUES x) -> Discard").contains("bad QUEUES"));
    }
}
