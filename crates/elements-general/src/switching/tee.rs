//! Copies packets to all outputs.
//!
//! ```click
//! Tee([N])
//! Duplicate([N, KEYWORDS])
//! ```
//!
//! Sends a copy of each packet to every output, in order of their numbers; the packet itself leaves by the last one.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `N` (integer): the number of outputs; must match the outputs in use.
//! - `DATA_ONLY` (boolean): for Duplicate; accepted.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> t :: Tee;
//! t [0] -> Print(first) -> Discard;
//! t [1] -> Discard;
//! ```
//!
//! # See also
//! PullTee, PaintTee

use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Decision, Element, Look, Then};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("Tee", create).ports("1/1-").processing("h/h").copies().doc(router::manual!("tee.rs"));

/// FastClick's name for one whose copies share nothing, as all copies do here.
pub(crate) const DUPLICATE: Class = Class { name: "Duplicate", create: create_duplicate, ..CLASS };

struct Tee {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Tee { outputs: arms(config)? }))
}

fn create_duplicate(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut n, mut data_only) = (config.outputs(), true);
    config.args().positional("N", &mut n).keyword("DATA_ONLY", &mut data_only).finish()?;
    Ok(Box::new(Tee { outputs: checked(config, n)? }))
}

/// Reads the number of outputs, which has to be right if it is given.
pub(crate) fn arms(config: &mut Config<'_>) -> Result<usize, ConfigError> {
    let mut n = config.outputs();
    config.args().positional("N", &mut n).finish()?;
    checked(config, n)
}

fn checked(config: &Config<'_>, n: usize) -> Result<usize, ConfigError> {
    match config.outputs() {
        outputs if n == outputs => Ok(outputs),
        outputs => Err(format!("{outputs} outputs implies {outputs} arms").into()),
    }
}

/// A copy of each packet. Packets for which there is no memory are missing and counted as dropped.
pub(crate) fn copy(cx: &mut Cx<'_>, batch: &Batch) -> Batch {
    let mut copies = cx.batch();
    for packet in batch.iter() {
        match cx.pool().copy(packet) {
            Some(copy) => copies.push(copy),
            None => cx.count_drops("out of memory", 1),
        }
    }
    copies
}

impl Element for Tee {
    fn explain(&self, _look: &Look<'_>, _port: usize, packet: &mut Packet) -> Option<Decision> {
        let _ = packet;
        Some(Decision::new(Then::Copies((0..self.outputs).collect()), ""))
    }

    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        for output in 0..self.outputs - 1 {
            let copies = copy(cx, &batch);
            cx.emit(output, copies);
        }
        cx.emit(self.outputs - 1, batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    #[test]
    fn each_output_gets_every_packet() {
        let config = "InfiniteSource(DATA x, LIMIT 40, BURST 40, STOP true) -> t :: Tee;
                      t[0] -> a :: Discard; t[1] -> b :: Discard; t[2] -> c :: Discard";
        assert_eq!(run_and_read(config, &["a.count", "b.count", "c.count"]), ["40"; 3]);
    }

    /// Copies are independent: what one path does to its packet the other does not see.
    #[test]
    fn copies_are_not_shared() {
        let lines = run("InfiniteSource(DATA ab, LIMIT 1, STOP true) -> t :: Tee(2);
                         t[0] -> Strip(1) -> Paint(7) -> Print(a) -> Discard; t[1] -> Print(b) -> Discard");
        assert_eq!(lines, "a:    1 | 62\nb:    2 | 6162\n");
    }

    #[test]
    fn wrong_arms() {
        assert!(
            errors("Idle -> t :: Tee(3) -> Discard; t[1] -> Discard").contains("2 outputs implies 2 arms")
        );
    }
}
