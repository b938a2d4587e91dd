//! Pulls from its inputs so that each gets the same bandwidth.
//!
//! ```click
//! DRRSched([QUANTUM])
//! ```
//!
//! Deficit round robin: in each round an input is allotted QUANTUM more bytes that it may send, so that inputs with
//! long packets get no more bandwidth than others. One packet of each input may wait inside.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `QUANTUM` (integer, default 500): bytes allotted to each input per round.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: DRRSched -> Discard;
//! InfiniteSource(LENGTH 1000) -> Queue -> [0] s;
//! InfiniteSource(LENGTH 100) -> Queue -> [1] s;
//! ```
//!
//! # See also
//! RoundRobinSched, StrideSched, PrioSched

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Pull, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("DRRSched", create)
    .ports("-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .holds("packets that were too long for their turn")
    .doc(router::manual!("drr_sched.rs"));

/// Bytes that an input is allotted each round, unless the user says otherwise.
const QUANTUM: i32 = 500;

/// Why packets are dropped when the configuration is replaced.
const NO_INPUT: &str = "input is gone";

#[derive(Default)]
struct Input {
    /// A packet that was too long for what the input was allotted so far.
    head: Option<Packet>,
    deficit: usize,
}

struct DrrSched {
    quantum: usize,
    inputs: Vec<Input>,
    next: usize,
    /// Inputs that had nothing to send, one after the other, for the packet wanted now.
    barren: usize,
    want: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut quantum = QUANTUM;
    config.args().positional("QUANTUM", &mut quantum).finish()?;
    let quantum = usize::try_from(quantum).ok().filter(|&quantum| quantum > 0).ok_or("bad QUANTUM")?;
    let inputs = (0..config.inputs()).map(|_| Input::default()).collect();
    Ok(Box::new(DrrSched { quantum, inputs, next: 0, barren: 0, want: 0, got: None }))
}

impl DrrSched {
    /// Goes on until a packet has to be asked for, or all that are wanted are there, or no input may send.
    fn go_on(&mut self, cx: &mut Cx<'_>, mut got: Batch) -> Pull {
        while got.len() < self.want && self.barren < self.inputs.len() {
            if self.inputs[self.next].head.is_none() && cx.signals().may_have(self.next) {
                self.got = Some(got);
                return Pull::Ask { input: self.next, want: 1 };
            }
            self.consider(&mut got);
        }
        if got.is_empty() {
            let inputs = 0..self.inputs.len();
            let active =
                inputs.into_iter().any(|i| self.inputs[i].head.is_some() || cx.signals().may_have(i));
            cx.signals().set(active);
        }
        Pull::Give(got)
    }

    /// Sends the waiting packet of the input whose turn it is, or passes the turn on.
    fn consider(&mut self, got: &mut Batch) {
        let input = &mut self.inputs[self.next];
        match input.head.take() {
            Some(packet) if packet.len() <= input.deficit => {
                input.deficit -= packet.len();
                got.push(packet);
                self.barren = 0;
                return;
            }
            None => input.deficit = 0,
            head => input.head = head,
        }
        self.barren += 1;
        self.next = if self.next + 1 == self.inputs.len() { 0 } else { self.next + 1 };
        self.inputs[self.next].deficit += self.quantum;
    }
}

impl Element for DrrSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        (0..self.inputs.len()).for_each(|input| cx.signals().relay(input));
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        (self.want, self.barren) = (want, 0);
        let got = cx.batch();
        self.go_on(cx, got)
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let mut got = self.got.take().unwrap_or_default();
        self.inputs[port].head = batch.pop();
        cx.consume(batch);
        self.consider(&mut got);
        self.go_on(cx, got)
    }

    fn held(&self) -> usize {
        self.inputs.iter().filter(|input| input.head.is_some()).count()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let inputs = self.inputs.iter_mut().map(std::mem::take).collect::<Vec<_>>();
        Some(Box::new((inputs, self.next)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Vec<Input>, usize)>() {
            let (mut inputs, next) = *state;
            let gone = inputs.split_off(inputs.len().min(self.inputs.len()));
            gone.into_iter().filter_map(|input| input.head).for_each(|packet| cx.drop(packet, NO_INPUT));
            self.next = if next < self.inputs.len() { next } else { 0 };
            self.inputs.iter_mut().zip(inputs).for_each(|(input, old)| *input = old);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};

    #[test]
    fn a_large_quantum_serves_one_input_longer() {
        let config = |quantum: &str| {
            format!(
                "s :: DRRSched({quantum}) -> u :: Unqueue(LIMIT 4, ACTIVE false) -> c :: Classifier(0/61, 0/62);
                 InfiniteSource(DATA a, LENGTH 100, LIMIT 9, BURST 9) -> Queue -> [0] s;
                 InfiniteSource(DATA b, LENGTH 100, LIMIT 9, BURST 9) -> Queue -> [1] s;
                 c[0] -> a :: Discard; c[1] -> b :: Discard; Script(wait 1, write u.active true, wait 1, stop)"
            )
        };
        for (quantum, counts) in [("", ["0", "4"]), ("200", ["2", "2"]), ("QUANTUM 100", ["2", "2"])] {
            assert_eq!(run_and_read(&config(quantum), &["a.count", "b.count"]), counts, "{quantum}");
        }
        assert!(errors(&config("0")).contains("bad QUANTUM"));
    }

    /// Bytes are shared evenly although packets are not, and nothing is left behind.
    #[test]
    fn fair_in_bytes() {
        let config = |limit: u32| {
            format!(
                "s :: DRRSched -> u :: Unqueue(LIMIT {limit}) -> c :: Classifier(0/61, 0/62);
                 InfiniteSource(DATA a, LENGTH 1000, LIMIT 300, BURST 300) -> Queue -> [0] s;
                 InfiniteSource(DATA b, LENGTH 100, LIMIT 300, BURST 300) -> Queue -> [1] s;
                 c[0] -> a :: Discard; c[1] -> b :: Discard; RatedSource(LIMIT 4, STOP true) -> Discard"
            )
        };
        let bytes = run_and_read(&config(110), &["a.byte_count", "b.byte_count"]);
        let number = |i: usize| bytes[i].parse::<u32>().expect("a number");
        assert!(number(0).abs_diff(number(1)) <= 1500, "{bytes:?}");
        assert_eq!(run_and_read(&config(1000), &["a.count", "b.count"]), ["300", "300"]);
    }
}
