//! Pulls packets once and pushes them out again and again.
//!
//! ```click
//! ReplayUnqueue([KEYWORDS])
//! ```
//!
//! Pulls packets until there are no more, keeps them, and then pushes copies of all of them, in order, as often as STOP says.
//! After that it stops the driver. The packets stay in memory: LIMIT bounds how many.
//!
//! It is FastClick's element with one input; packets have timestamps and annotations as they came.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `STOP` (integer, default -1): how often all packets are pushed; -1 means for ever.
//! - `BURST` (integer, default 64): packets a scheduling.
//! - `ACTIVE` (boolean, default true): whether it does anything.
//! - `LIMIT` (integer, default -1): packets to keep; negative means as many as there are.
//! - `TIMING` (integer, default 0): the pace, in per cent of that of the packets' timestamps; 0 means as fast as possible.
//! - `VERBOSE` (boolean, default false): whether to say when packets are loaded and each time all were pushed.
//! - `QUICK_CLONE`, `USE_SIGNAL`, `FREEONTERMINATE` (boolean): accepted; packets are always copied and freed.
//!
//! # Handlers
//! - `count` (read): packets pushed. `loaded` (read): packets kept.
//! - `active` (read, write), `stop` (read, write): the arguments; `stop` counts down.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> ReplayUnqueue(STOP 10) -> Discard;
//! ```
//!
//! # See also
//! Unqueue, FromDump, TimedUnqueue

use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ReplayUnqueue", create)
    .processing("l/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(include_str!("replay_unqueue.rs"));

struct ReplayUnqueue {
    /// Times that all packets are still to be pushed; negative for ever.
    stop: i64,
    burst: usize,
    active: bool,
    limit: usize,
    timing: u32,
    verbose: bool,
    packets: Vec<Packet>,
    loaded: bool,
    /// The next packet to push.
    next: usize,
    /// When the first packet of this round was pushed.
    start_ns: i64,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stop, mut burst, mut limit) = (-1, 64usize, -1i64);
    let (mut active, mut verbose, mut timing) = (true, false, 0);
    let (mut quick, mut signal, mut free) = (false, true, true);
    config
        .args()
        .keyword("STOP", &mut stop)
        .keyword("BURST", &mut burst)
        .keyword("ACTIVE", &mut active)
        .keyword("LIMIT", &mut limit)
        .keyword("TIMING", &mut timing)
        .keyword("VERBOSE", &mut verbose)
        .keyword("QUICK_CLONE", &mut quick)
        .keyword("USE_SIGNAL", &mut signal)
        .keyword("FREEONTERMINATE", &mut free)
        .finish()?;
    if burst == 0 {
        return Err("BURST must be positive".into());
    }
    Ok(Box::new(ReplayUnqueue {
        stop,
        burst,
        active,
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        timing,
        verbose,
        packets: Vec::new(),
        loaded: false,
        next: 0,
        start_ns: 0,
        count: 0,
    }))
}

impl ReplayUnqueue {
    fn say(&self, cx: &Cx<'_>, what: &str) {
        if self.verbose {
            cx.log(&format!("{}: {what}", cx.name()));
        }
    }

    fn ask(&self, cx: &Cx<'_>) -> usize {
        cx.vector().min(BATCH_MAX).min(self.limit - self.packets.len())
    }

    fn finish_loading(&mut self, cx: &mut Cx<'_>) {
        self.loaded = true;
        self.say(cx, &format!("loaded {} packets", self.packets.len()));
        cx.schedule();
    }

    /// When the next packet is due.
    fn due_ns(&self) -> i64 {
        if self.timing == 0 || self.next == 0 {
            return i64::MIN;
        }
        let since_first = self.packets[self.next].timestamp_ns() - self.packets[0].timestamp_ns();
        let scaled = i128::from(since_first) * 100 / i128::from(self.timing);
        self.start_ns.saturating_add(i64::try_from(scaled).unwrap_or(i64::MAX))
    }

    /// Goes on with the first packet, or ends.
    fn end_round(&mut self, cx: &mut Cx<'_>) {
        self.next = 0;
        self.stop -= i64::from(self.stop > 0);
        if self.stop == 0 {
            self.active = false;
            return cx.please_stop();
        }
        self.say(cx, "replays");
        cx.schedule();
    }

    /// Pushes copies of packets that are due.
    fn replay(&mut self, cx: &mut Cx<'_>) {
        let mut copies = cx.batch();
        let most = self.burst.min(cx.vector()).min(BATCH_MAX);
        while self.next < self.packets.len() && copies.len() < most {
            let due = self.due_ns();
            if due > cx.now_ns() {
                cx.timer_at(0, due);
                break;
            }
            if self.next == 0 {
                self.start_ns = cx.now_ns();
            }
            match cx.pool().copy(&self.packets[self.next]) {
                Some(copy) => copies.push(copy),
                None => cx.count_drops("out of memory", 1),
            }
            self.next += 1;
        }
        self.count += copies.len() as u64;
        let (ended, full) = (self.next == self.packets.len(), copies.len() == most);
        cx.emit(0, copies);
        if ended {
            self.end_round(cx);
        } else if full {
            cx.schedule();
        }
    }
}

impl Element for ReplayUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.listen(0);
        if self.active {
            cx.schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        match self.active {
            true if self.loaded && !self.packets.is_empty() => self.replay(cx),
            true if !self.loaded && self.ask(cx) > 0 => {
                let want = self.ask(cx);
                cx.ask(0, want);
            }
            true if !self.loaded => self.finish_loading(cx),
            _ => {}
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let none = batch.is_empty();
        batch.drain(|packet| self.packets.push(packet));
        cx.consume(batch);
        if !none {
            cx.schedule();
        } else if !self.packets.is_empty() {
            self.finish_loading(cx);
        } else if cx.may_have(0) {
            cx.schedule();
        }
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.schedule();
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.packets.drain(..).for_each(|packet| cx.pool().free(packet));
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = ReplayUnqueue;
        h.read("count", |e: &mut R, _| e.count);
        h.read("loaded", |e: &mut R, _| e.packets.len());
        h.read("active", |e: &mut R, _| e.active);
        h.write("active", |e: &mut R, cx, text| {
            e.active = router::value(cx, text)?;
            if e.active {
                cx.schedule();
            }
            Ok(())
        });
        h.read("stop", |e: &mut R, _| e.stop);
        h.write("stop", |e: &mut R, cx, text| {
            e.stop = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    #[test]
    fn again_and_again() {
        let config = "InfiniteSource(LIMIT 70, BURST 70) -> q :: Queue(100) -> r :: ReplayUnqueue(STOP 3, BURST 8) -> d :: Discard;";
        assert_eq!(
            run_and_read(config, &["d.count", "r.count", "r.loaded", "q.length"]),
            ["210", "210", "70", "0"]
        );
        let limited = "InfiniteSource(LIMIT 70, BURST 70) -> q :: Queue(100) -> r :: ReplayUnqueue(STOP 2, LIMIT 9) -> d :: Discard;";
        assert_eq!(run_and_read(limited, &["d.count", "q.length"]), ["18", "61"]);
        assert!(errors("Idle -> ReplayUnqueue(BURST 0) -> Discard").contains("BURST"));
    }

    /// At half the pace, in order, with the gap between rounds that there is none.
    #[test]
    fn at_a_pace() {
        let lines = run("a :: InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(5) -> q :: Queue;
             b :: InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(6) -> q;
             q -> ReplayUnqueue(STOP 2, TIMING 50) -> SetTimestamp -> Print(TIMESTAMP true) -> Discard");
        let seconds: Vec<f64> =
            lines.lines().map(|line| line.split(':').next().unwrap_or("").parse().unwrap()).collect();
        let gaps: Vec<f64> = seconds.windows(2).map(|pair| (pair[1] - pair[0]).round()).collect();
        assert_eq!(gaps, [2.0, 0.0, 2.0], "{lines}");
    }
}
