//! Emulates a link: delays packets by transmission time and latency.
//!
//! ```click
//! LinkUnqueue(LATENCY, BANDWIDTH)
//! ```
//!
//! Emulates a serial line. A packet is pulled when the previous one has been sent completely. Sending it takes the
//! time given by its length and BANDWIDTH, and it arrives LATENCY later, with the arrival time as its timestamp. The
//! extra-length annotation counts as part of the length. Only packets on the line are stored here: put a Queue in
//! front of it. If the element is listed in QUEUES of RED, CoDel or PI, packets on the line count as its length.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `LATENCY` (time): the propagation delay.
//! - `BANDWIDTH` (bandwidth): the bandwidth of the line, at least 100 bytes per second. FastClick's 0 means that any
//!   packet is sent in no time.
//!
//! # Handlers
//! - `latency`, `bandwidth` (read, write): the arguments, the bandwidth in bytes per second. Writing one drops the
//!   packets on the line.
//! - `size` (read): packets on the line.
//! - `reset` (write, button): drops them.
//!
//! # Example
//! ```click
//! RatedSource(RATE 100) -> Queue -> LinkUnqueue(20ms, 384kbps) -> Discard
//! ```
//!
//! # See also
//! DelayUnqueue, BandwidthRatedUnqueue, Queue

use super::storage::Common;
use elements_shared::rate::Bandwidth;
use packet::{Anno, Batch, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("LinkUnqueue", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .kinds(&["Storage"])
    .holds("packets on the line")
    .doc(router::manual!("link_unqueue.rs"));

struct LinkUnqueue {
    latency: Duration,
    latency_ns: i64,
    /// Bytes a second; 0 if packets take no time to be sent.
    bandwidth: u32,
    /// Packets on the line; their timestamps say when they arrive.
    line: VecDeque<Packet>,
    /// Has their number, for who looks from outside.
    stored: Arc<Common>,
    /// When the last packet arrives, or did.
    last_ns: i64,
    /// Whether packets have been waiting since the last one was pulled: then the line has not been idle.
    backlog: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut latency, mut bandwidth) = (Duration::ZERO, Bandwidth::default());
    config.args().required("LATENCY", &mut latency).required("BANDWIDTH", &mut bandwidth).finish()?;
    let latency_ns = nanoseconds(latency)?;
    let bandwidth = if bandwidth.0 == 0 { 0 } else { rounded(bandwidth)? };
    Ok(Box::new(LinkUnqueue {
        latency,
        latency_ns,
        bandwidth,
        line: VecDeque::new(),
        stored: config.shared(|| Ok(Common::unbounded()))?,
        last_ns: 0,
        backlog: false,
    }))
}

/// A latency as a number.
fn nanoseconds(latency: Duration) -> Result<i64, String> {
    i64::try_from(latency.as_nanos()).map_err(|_| "LATENCY: out of range".to_owned())
}

/// A bandwidth in whole hundreds of bytes, as Click keeps it.
fn rounded(Bandwidth(bytes): Bandwidth) -> Result<u32, String> {
    match bytes / 100 {
        0 => Err("bandwidth too small, minimum 100Bps".to_owned()),
        hundreds => Ok(hundreds * 100),
    }
}

impl LinkUnqueue {
    fn publish_length(&self) {
        self.stored.length.store(self.line.len(), Relaxed);
    }

    /// Empties the line.
    fn reset(&mut self, cx: &mut Cx<'_>) {
        self.line.drain(..).for_each(|packet| cx.drop(packet, "link reset"));
        self.publish_length();
        (self.last_ns, self.backlog) = (0, false);
        cx.timers().cancel(0);
        cx.tasks().schedule();
    }

    /// How long a packet takes to be sent: whole microseconds, as in Click.
    fn duration_ns(&self, packet: &Packet) -> i64 {
        let bytes = packet.len() as u64 + packet.anno(Anno::EXTRA_LENGTH);
        let us = (u128::from(bytes) * 1_000_000).checked_div(u128::from(self.bandwidth)).unwrap_or(0);
        i64::try_from(us * 1000).unwrap_or(i64::MAX)
    }

    /// When the line can take a packet.
    fn free_ns(&self) -> i64 {
        self.last_ns.saturating_sub(self.latency_ns)
    }

    fn put(&mut self, mut packet: Packet, now_ns: i64) {
        let idle_ns = now_ns.saturating_add(self.latency_ns);
        let start_ns = if self.backlog { self.last_ns } else { idle_ns.max(self.last_ns) };
        self.last_ns = start_ns.saturating_add(self.duration_ns(&packet));
        packet.set_timestamp_ns(self.last_ns);
        self.line.push_back(packet);
        self.publish_length();
        self.backlog = true;
    }

    fn deliver(&mut self, cx: &mut Cx<'_>) {
        let mut batch = cx.batch();
        while let Some(packet) = self.line.pop_front_if(|packet| packet.timestamp_ns() <= cx.now_ns()) {
            if batch.len() >= cx.vector() {
                let full = std::mem::replace(&mut batch, cx.batch());
                cx.emit(0, full);
            }
            batch.push(packet);
        }
        self.publish_length();
        cx.emit(0, batch);
    }

    /// Sees to it that the task runs when there is something to do.
    fn sleep(&mut self, cx: &mut Cx<'_>) {
        let arrival_ns = self.line.front().map(Packet::timestamp_ns);
        let free_ns = cx.signals().may_have(0).then(|| self.free_ns());
        match arrival_ns.into_iter().chain(free_ns).min() {
            Some(at_ns) if at_ns > cx.now_ns() => cx.timers().at(0, at_ns),
            Some(_) => cx.tasks().schedule(),
            None => {} // the queue upstream wakes the task
        }
    }
}

impl Element for LinkUnqueue {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.deliver(cx);
        if cx.now_ns() >= self.free_ns() {
            cx.ask(0, 1);
        } else {
            self.sleep(cx);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let packet = batch.pop();
        cx.consume(batch);
        match packet {
            Some(packet) => {
                self.put(packet, cx.now_ns());
                // A line without bandwidth is never full: then each packet is pulled by a task of its own.
                if cx.now_ns() >= self.free_ns() && self.bandwidth > 0 {
                    return Pull::Ask { input: 0, want: 1 };
                }
            }
            None => self.backlog = false,
        }
        self.sleep(cx);
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn held(&self) -> usize {
        self.line.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((std::mem::take(&mut self.line), self.last_ns, self.backlog)))
    }

    /// Packets on the line arrive when they would have.
    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(VecDeque<Packet>, i64, bool)>() {
            (self.line, self.last_ns, self.backlog) = *state;
            self.publish_length();
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type L = LinkUnqueue;
        h.read("latency", |e: &mut L, _| router::interval(e.latency));
        h.read("bandwidth", |e: &mut L, _| e.bandwidth);
        h.read("size", |e: &mut L, _| e.line.len());
        h.write("latency", |e: &mut L, cx, text| {
            let latency = router::value(cx, text).map_err(|_| "latency must be a timestamp".to_owned())?;
            (e.latency, e.latency_ns) = (latency, nanoseconds(latency)?);
            e.reset(cx);
            Ok(())
        });
        h.write("bandwidth", |e: &mut L, cx, text| {
            let bandwidth = router::value(cx, text).map_err(|_| "invalid bandwidth".to_owned())?;
            e.bandwidth = rounded(bandwidth)?;
            e.reset(cx);
            Ok(())
        });
        h.write("reset", |e: &mut L, cx, _| {
            e.reset(cx);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    /// Packets of 100 bytes at 8 kbit/s take 100 ms each, one after the other, and arrive a second later.
    #[test]
    fn sends_at_the_bandwidth_and_delivers_after_the_latency() {
        let config = |wait: f64| {
            format!(
                "InfiniteSource(LIMIT 20, LENGTH 100) -> q :: Queue -> l :: LinkUnqueue(1, 8kbps) -> d :: Discard;
                 Script(wait {wait}, stop)"
            )
        };
        for (wait, seen) in [
            (0.05, ["19", "1", "0"]),
            (1.05, ["9", "11", "0"]),
            (1.15, ["8", "11", "1"]),
            (9.0, ["0", "0", "20"]),
        ] {
            assert_eq!(run_and_read(&config(wait), &["q.length", "l.size", "d.count"]), seen, "{wait}");
        }
        assert_eq!(run_and_read(&config(0.0), &["l.latency", "l.bandwidth"]), ["1.000000s", "1000"]);
    }

    /// An idle line delays a packet by its own length only.
    #[test]
    fn idle_line() {
        let config = "TimedSource(3, LIMIT 3) -> SetTimestamp -> Queue -> LinkUnqueue(0.5, 8kbps)
                      -> Print(TIMESTAMP true, CONTENTS NONE) -> Counter(COUNT_CALL 3 stop) -> Discard";
        let times: Vec<String> =
            run(config).lines().filter_map(|line| Some(line.split(':').next()?.to_owned())).collect();
        let spans: Vec<f64> = times
            .windows(2)
            .map(|pair| pair[1].parse::<f64>().unwrap_or(0.0) - pair[0].parse::<f64>().unwrap_or(0.0))
            .collect();
        assert!(spans.len() == 2 && spans.iter().all(|span| (span - 3.0).abs() < 0.01), "{times:?}");
    }

    #[test]
    fn bad_arguments() {
        assert!(errors("Idle -> LinkUnqueue(1, 99Bps) -> Discard").contains("bandwidth too small"));
    }
}
