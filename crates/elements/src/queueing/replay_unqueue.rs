//! Pulls packets once and pushes them out again and again.
//!
//! ```click
//! ReplayUnqueue([KEYWORDS])
//! MultiReplayUnqueue([KEYWORDS])
//! ```
//!
//! Pulls packets until there are no more, keeps them, and then pushes copies of all of them, in order, as often as STOP says.
//! After that it stops the driver. The packets stay in memory: LIMIT bounds how many.
//!
//! With several inputs, packets come from all of them in the order of their timestamps, until one input has no more; each leaves at the
//! output of its input's number, which is its colour from then on.
//!
//! They are FastClick's elements; packets have timestamps and annotations as they came.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `STOP` (integer, default -1): how often all packets are pushed; negative means for ever. With 0 it stops the driver once the
//!   packets are loaded, and becomes inactive: for scripts that set `stop` and `active` later.
//! - `BURST` (integer, default 64): packets a scheduling.
//! - `ACTIVE` (boolean, default true): whether it does anything.
//! - `LIMIT` (integer, default -1): packets to keep; negative means as many as there are.
//! - `TIMING` (integer, default 0): the pace, in per cent of that of the packets' timestamps; 0 means as fast as possible.
//! - `VERBOSE` (boolean, default false): whether to say when packets are loaded and each time all were pushed.
//! - `STOP_TIME` (integer), `TIMING_FNT` (string): when to stop and how the pace changes by FastClick's formula, which is not computed: only an empty one
//!   or `@0` is accepted, with which STOP_TIME means nothing.
//! - `QUICK_CLONE`, `USE_SIGNAL`, `FREEONTERMINATE` (boolean): accepted; packets are always copied and freed.
//!
//! # Handlers
//! - `count` (read): packets pushed. `loaded` (read): whether the packets were pulled. `packets` (read): how many are kept.
//! - `active` (read, write), `stop` (read, write), `timing` (read, write): the arguments; `stop` counts down.
//! - `reset` (write, button): lets the packets go, to pull others.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap) -> ReplayUnqueue(STOP 10) -> Discard;
//! ```
//!
//! # See also
//! Replay, Unqueue, FromDump, TimedUnqueue

use packet::{BATCH_MAX, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("ReplayUnqueue", create)
    .ports("1-/=")
    .processing("l/h")
    .flow("#/#")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(include_str!("replay_unqueue.rs"));

/// Another name.
pub(crate) const MULTI: Class = Class { name: "MultiReplayUnqueue", ..CLASS };

struct ReplayUnqueue {
    /// Times that all packets are still to be pushed; negative for ever.
    stop: i64,
    burst: usize,
    active: bool,
    limit: usize,
    timing: u32,
    verbose: bool,
    packets: Vec<Packet>,
    /// Of several inputs: the next packet of each, if it was pulled.
    heads: Vec<Option<Packet>>,
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
    let (mut time, mut formula) = (0u32, String::new());
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
        .keyword("STOP_TIME", &mut time)
        .keyword("TIMING_FNT", &mut formula)
        .finish()?;
    if !matches!(formula.as_str(), "" | "@0") {
        return Err("TIMING_FNT: formulas are not computed".into());
    }
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
        heads: (0..config.inputs()).map(|_| None).collect(),
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

    /// Whether packets of several inputs are merged.
    fn merges(&self) -> bool {
        self.heads.len() > 1
    }

    /// Pulls what comes next.
    fn load(&mut self, cx: &mut Cx<'_>) {
        match self.heads.iter().position(Option::is_none) {
            _ if self.ask(cx) == 0 => self.finish_loading(cx),
            _ if !self.merges() => {
                let want = self.ask(cx);
                cx.ask(0, want);
            }
            Some(input) => cx.ask(input, 1),
            None => {
                self.take_earliest();
                self.load(cx);
            }
        }
    }

    /// Keeps the earliest of the inputs' next packets; of several the one of the first input.
    fn take_earliest(&mut self) {
        let time =
            |(_, head): &(usize, &mut Option<Packet>)| head.as_ref().map(|packet| packet.timestamp_ns());
        if let Some((input, head)) = self.heads.iter_mut().enumerate().min_by_key(time)
            && let Some(mut packet) = head.take()
        {
            packet.set_paint(input as u8);
            self.packets.push(packet);
        }
    }

    fn let_go(&mut self, cx: &mut Cx<'_>) {
        let heads = self.heads.iter_mut().filter_map(Option::take);
        self.packets.drain(..).chain(heads).for_each(|packet| cx.pool().free(packet));
    }

    fn finish_loading(&mut self, cx: &mut Cx<'_>) {
        for head in self.heads.iter_mut().filter_map(Option::take) {
            cx.drop(head, "another input has no more");
        }
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
        if self.stop == 0 {
            self.active = false;
            return cx.please_stop();
        }
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
        if self.merges() {
            cx.scatter(copies, |_, packet| Verdict::Output(usize::from(packet.paint())));
        } else {
            cx.emit(0, copies);
        }
        if ended {
            self.end_round(cx);
        } else if full {
            cx.schedule();
        }
    }
}

impl Element for ReplayUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        (0..self.heads.len()).for_each(|input| cx.listen(input));
        if self.active {
            cx.schedule();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        match self.active {
            true if self.loaded && !self.packets.is_empty() => self.replay(cx),
            true if !self.loaded => self.load(cx),
            _ => {}
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let none = batch.is_empty();
        let merges = self.merges();
        batch.drain(|packet| match merges {
            true => self.heads[port] = Some(packet),
            false => self.packets.push(packet),
        });
        cx.consume(batch);
        if !none {
            cx.schedule();
        } else if !self.packets.is_empty() {
            self.finish_loading(cx);
        } else if cx.may_have(port) {
            cx.schedule();
        }
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.schedule();
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.let_go(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type R = ReplayUnqueue;
        h.read("count", |e: &mut R, _| e.count);
        h.read("loaded", |e: &mut R, _| e.loaded);
        h.read("packets", |e: &mut R, _| e.packets.len());
        h.read("timing", |e: &mut R, _| e.timing);
        h.write("timing", |e: &mut R, cx, text| {
            e.timing = router::value(cx, text)?;
            cx.schedule();
            Ok(())
        });
        h.write("reset", |e: &mut R, cx, _| {
            e.let_go(cx);
            (e.loaded, e.next) = (false, 0);
            cx.schedule();
            Ok(())
        })
        .as_button();
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
            run_and_read(config, &["d.count", "r.count", "r.packets", "q.length"]),
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
