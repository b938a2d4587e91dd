//! Merges its inputs by timestamp.
//!
//! ```click
//! TimeSortedSched([KEYWORDS])
//! MergeByTimestamp([KEYWORDS])
//! ```
//!
//! Each pull is answered with the earliest of the packets available at the inputs. Some packets of each input may
//! wait inside, at most as many as are pulled at a time. If each input is in order, so is the output.
//!
//! Ports: 1 or more inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `BUFFER` (integer, default 1): how many packets of each input are buffered and sorted inside; inputs may be out
//!   of order by this many packets.
//! - `STOP` (boolean, default false): whether to stop the driver when no packets are left, inside or upstream.
//! - `NULL_IS_DEAD` (boolean, default false): for MergeByTimestamp: whether an input that once had no packet is never
//!   pulled from again.
//!
//! # Handlers
//! - `well_ordered` (read): whether every packet so far was no earlier than the one before it.
//!
//! # Example
//! ```click
//! s :: TimeSortedSched(STOP true) -> Discard;
//! RatedSource(LIMIT 10) -> Queue -> [0] s;
//! RatedSource(LIMIT 10) -> Queue -> [1] s;
//! ```
//!
//! # See also
//! RoundRobinSched, FromDump

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("TimeSortedSched", create)
    .ports("1-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .holds("packets that are not the earliest")
    .doc(router::manual!("time_sorted_sched.rs"));

/// The older name, with an argument more.
pub(crate) const MERGE: Class = Class { name: "MergeByTimestamp", create: create_merge, ..CLASS };

struct TimeSortedSched {
    /// Packets that each input gave, first one last; none if it is to be asked.
    inputs: Vec<Option<Batch>>,
    /// When the first packet of each input is from; the end of time if there is none.
    times: Vec<i64>,
    stop: bool,
    /// Packets that each input may have here; 1 means that they are in order, and as many as were asked for may be here.
    buffer: usize,
    /// Whether no packet left that was earlier than the one before it.
    well_ordered: bool,
    last_ns: i64,
    /// Inputs that are not asked any more, if there may be such.
    dead: Option<Vec<bool>>,
    want: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stop, mut buffer) = (false, 1i32);
    config.args().keyword("STOP", &mut stop).keyword("BUFFER", &mut buffer).finish()?;
    let buffer = usize::try_from(buffer).ok().filter(|&buffer| buffer > 0);
    Ok(make(config, stop, false, buffer.ok_or("BUFFER must be at least 1")?))
}

fn create_merge(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut stop, mut null_is_dead) = (false, false);
    config.args().keyword("STOP", &mut stop).keyword("NULL_IS_DEAD", &mut null_is_dead).finish()?;
    Ok(make(config, stop, null_is_dead, 1))
}

fn make(config: &Config<'_>, stop: bool, null_is_dead: bool, buffer: usize) -> Box<dyn Element> {
    let inputs: Vec<Option<Batch>> = (0..config.inputs()).map(|_| None).collect();
    let times = vec![i64::MAX; inputs.len()];
    let dead = null_is_dead.then(|| vec![false; inputs.len()]);
    let (well_ordered, last_ns) = (true, 0);
    Box::new(TimeSortedSched { inputs, times, stop, buffer, well_ordered, last_ns, dead, want: 0, got: None })
}

/// When a packet is from: before the end of time.
fn time(packet: &Packet) -> i64 {
    packet.timestamp_ns().min(i64::MAX - 1)
}

impl TimeSortedSched {
    fn may_have(&self, cx: &mut Cx<'_>, input: usize) -> bool {
        cx.signals().may_have(input) && self.dead.as_ref().is_none_or(|dead| !dead[input])
    }

    /// How many packets an input is to be asked for.
    fn space(&self, input: usize, missing: usize) -> usize {
        match (self.buffer, &self.inputs[input]) {
            (1, None) => missing,
            (1, Some(_)) => 0,
            (buffer, held) => buffer.min(packet::BATCH_MAX) - held.as_ref().map_or(0, Batch::len),
        }
    }

    /// Asks inputs from `from` on that have too few packets here; once all were asked, takes the earliest packets.
    fn go_on(&mut self, cx: &mut Cx<'_>, mut from: usize, mut got: Batch) -> Pull {
        loop {
            let wanted = self.want - got.len();
            let missing =
                (from..self.inputs.len()).find(|&i| self.space(i, wanted) > 0 && self.may_have(cx, i));
            if let Some(input) = missing {
                let want = self.space(input, wanted);
                self.got = Some(got);
                return Pull::Ask { input, want };
            }
            let Some(emptied) = self.merge(cx, &mut got) else { break };
            if got.len() == self.want {
                return Pull::Give(got);
            }
            from = if self.buffer == 1 { emptied } else { 0 };
        }
        if got.is_empty() {
            self.rest(cx);
        }
        Pull::Give(got)
    }

    /// Takes the earliest packets until enough are there or some input has to be asked. The result is that input, or any;
    /// none if there was no packet.
    fn merge(&mut self, cx: &mut Cx<'_>, got: &mut Batch) -> Option<usize> {
        let mut last = None;
        while got.len() < self.want {
            let (input, _) = self.times.iter().enumerate().min_by_key(|(_, time)| **time)?;
            let Some(batch) = &mut self.inputs[input] else { break };
            let first = batch.pop();
            if let Some(stamp) = first.as_ref().map(Packet::timestamp_ns).filter(|&stamp| stamp != 0) {
                self.well_ordered &= stamp >= self.last_ns;
                self.last_ns = stamp;
            }
            got.extend(first);
            last = Some(input);
            match batch.packets().last() {
                Some(next) => self.times[input] = time(next),
                None => {
                    self.times[input] = i64::MAX;
                    self.inputs[input].take().into_iter().for_each(|batch| cx.consume(batch));
                    break;
                }
            }
            if self.buffer > 1 {
                break; // the next packet may come before those that are here
            }
        }
        last
    }

    /// Nothing is to be had now.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        let more = (0..self.inputs.len()).any(|input| self.may_have(cx, input));
        if !more && self.stop && cx.signals().is_active() {
            cx.info().please_end();
        }
        cx.signals().set(more);
    }
}

impl Element for TimeSortedSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        (0..self.inputs.len()).for_each(|input| cx.signals().relay(input));
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.want = want;
        let got = cx.batch();
        self.go_on(cx, 0, got)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let got = self.got.take().unwrap_or_default();
        batch.packets_mut().reverse();
        if let Some(mut held) = self.inputs[port].take() {
            held.packets_mut().reverse();
            batch.packets_mut().reverse();
            batch.drain(|packet| held.push(packet));
            held.packets_mut().reverse();
            cx.consume(std::mem::replace(&mut batch, held));
        }
        if self.buffer > 1 {
            batch.packets_mut().sort_by_key(|packet| std::cmp::Reverse(time(packet)));
        }
        match batch.packets().last() {
            Some(first) => {
                self.times[port] = time(first);
                self.inputs[port] = Some(batch);
            }
            None => {
                cx.consume(batch);
                if let Some(dead) = &mut self.dead {
                    dead[port] = true;
                }
            }
        }
        self.go_on(cx, port + 1, got)
    }

    fn held(&self) -> usize {
        self.inputs.iter().flatten().map(Batch::len).sum()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let all = |batch: &mut Option<Batch>| {
            let mut packets = Vec::new();
            batch.take().into_iter().for_each(|mut batch| batch.drain(|packet| packets.push(packet)));
            packets
        };
        let inputs: Vec<Vec<Packet>> = self.inputs.iter_mut().map(all).collect();
        self.times.fill(i64::MAX);
        Some(Box::new(inputs))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<Vec<Vec<Packet>>>() {
            for (at, mut packets) in state.into_iter().enumerate().filter(|(_, packets)| !packets.is_empty())
            {
                if at >= self.inputs.len() {
                    packets.into_iter().for_each(|packet| cx.drop(packet, "input is gone"));
                    continue;
                }
                self.times[at] = packets.last().map_or(i64::MAX, time);
                let mut batch = cx.batch();
                packets.drain(..).for_each(|packet| batch.push(packet));
                self.inputs[at] = Some(batch);
            }
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("well_ordered", |e: &mut TimeSortedSched, _| e.well_ordered);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// Two streams with stamps of their own come out as one, to the last packet, and then the driver stops.
    #[test]
    fn two_streams_come_out_in_order_of_time() {
        let lines = run("s :: TimeSortedSched(STOP true) -> Print(TIMESTAMP true, MAXLENGTH 1) -> Discard;
             InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp(5) -> q :: Queue -> [0] s;
             InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp(7) -> q;
             InfiniteSource(DATA c, LIMIT 1) -> SetTimestamp(6) -> r :: Queue -> [1] s;
             InfiniteSource(DATA d, LIMIT 1) -> SetTimestamp(8) -> r;");
        let mut stamps: Vec<&str> = lines.lines().filter_map(|line| line.split(':').next()).collect();
        assert_eq!(stamps.len(), 4, "{lines}");
        stamps.dedup();
        assert!(stamps.is_sorted(), "{lines}");
    }

    #[test]
    fn the_buffer_puts_each_input_into_order() {
        let read = |arguments: &str| {
            let config = format!(
                "s :: TimeSortedSched({arguments}) -> u :: Unqueue(ACTIVE false) -> Print(TIMESTAMP true, CONTENTS NONE) -> Discard;
                 Script(wait 1, write u.active true, wait 1, print $(s.well_ordered), stop); InfiniteSource(LIMIT 1) -> SetTimestamp(7) -> q :: Queue -> [0] s;
                 InfiniteSource(LIMIT 1) -> SetTimestamp(5) -> q; InfiniteSource(LIMIT 1) -> SetTimestamp(3) -> q;
                 InfiniteSource(LIMIT 1) -> SetTimestamp(6) -> r :: Queue -> [1] s"
            );
            let said = run(&config);
            said.lines()
                .map(|line| line.split('.').next().unwrap_or("").to_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(read("BUFFER 3"), "3 5 6 7 true");
        assert_eq!(read(""), "6 7 5 3 false");
        assert!(
            crate::testing::errors("Idle -> TimeSortedSched(BUFFER 0) -> Discard")
                .contains("BUFFER must be at least 1")
        );
    }

    /// Once all inputs are dead, what comes later waits for ever, and the driver stops.
    #[test]
    fn dead_inputs() {
        let config = |class: &str| {
            format!(
                "s :: {class} -> u :: Unqueue(ACTIVE false) -> d :: Discard; InfiniteSource(LIMIT 2) -> Queue -> [0] s; TimedSource(1, LIMIT 3) -> Queue -> [1] s;
                 Script(wait 0.5, write u.active true, wait 5, stop)"
            )
        };
        assert_eq!(
            crate::testing::run_and_read(&config("MergeByTimestamp(NULL_IS_DEAD true)"), &["d.count"]),
            ["2"]
        );
        assert_eq!(crate::testing::run_and_read(&config("MergeByTimestamp"), &["d.count"]), ["5"]);
    }
}
