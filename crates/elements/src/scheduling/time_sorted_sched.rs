//! Merges its inputs by timestamp.
//!
//! ```click
//! TimeSortedSched([KEYWORDS])
//! ```
//!
//! Each pull is answered with the earliest packet of those that the inputs have. One packet of each input may wait inside.
//! If each input is in order, so is what comes out.
//!
//! Ports: 1 or more inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `STOP` (boolean, default false): whether to stop the driver when nothing is left, inside or upstream.
//!
//! # Handlers
//! None.
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
use router::{Class, Config, ConfigError, Cx, Element, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("TimeSortedSched", create)
    .ports("1-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(include_str!("time_sorted_sched.rs"));

struct TimeSortedSched {
    heads: Vec<Option<Packet>>,
    stop: bool,
    want: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut stop = false;
    config.args().keyword("STOP", &mut stop).finish()?;
    let heads = (0..config.inputs()).map(|_| None).collect();
    Ok(Box::new(TimeSortedSched { heads, stop, want: 0, got: None }))
}

impl TimeSortedSched {
    /// Asks inputs from `from` on for what is missing; once all were asked, takes the earliest packet.
    fn go_on(&mut self, cx: &mut Cx<'_>, mut from: usize, mut got: Batch) -> Pull {
        loop {
            let missing = (from..self.heads.len()).find(|&i| self.heads[i].is_none() && cx.may_have(i));
            if let Some(input) = missing {
                self.got = Some(got);
                return Pull::Ask { input, want: 1 };
            }
            let Some(packet) = self.earliest() else { break };
            got.push(packet);
            if got.len() == self.want {
                return Pull::Give(got);
            }
            from = 0;
        }
        if got.is_empty() {
            self.rest(cx);
        }
        Pull::Give(got)
    }

    fn earliest(&mut self) -> Option<Packet> {
        let heads = self.heads.iter().enumerate();
        let times = heads.filter_map(|(i, head)| head.as_ref().map(|packet| (packet.timestamp_ns(), i)));
        let (_, first) = times.min()?;
        self.heads[first].take()
    }

    /// Nothing is to be had now.
    fn rest(&mut self, cx: &mut Cx<'_>) {
        let more = (0..self.heads.len()).any(|input| cx.may_have(input));
        if !more && self.stop && cx.signal() {
            cx.please_stop();
        }
        cx.set_signal(more);
    }
}

impl Element for TimeSortedSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.provide_signal();
        (0..self.heads.len()).for_each(|input| cx.relay(input));
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        self.want = want;
        let got = cx.batch();
        self.go_on(cx, 0, got)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let got = self.got.take().unwrap_or_default();
        self.heads[port] = batch.pop();
        cx.consume(batch);
        self.go_on(cx, port + 1, got)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// Two streams with stamps of their own come out as one, to the last packet, and then the driver stops.
    #[test]
    fn merges() {
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
}
