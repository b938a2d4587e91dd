//! Pulls several packets from each input in turn.
//!
//! ```click
//! RoundRobinMultiSched([N, MAX])
//! ```
//!
//! Answers pulls with N packets of one input, then N of the next, and so on. An empty input loses its turn. It is
//! FastClick's element, which is also called RRMultiSched.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `N` (integer, default 1): consecutive packets from one input.
//! - `MAX` (integer, default the number of inputs): how many inputs to use.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> [0]s :: RoundRobinMultiSched(4) -> Discard;
//! InfiniteSource -> Queue -> [1]s;
//! ```
//!
//! # See also
//! RoundRobinSched, StrideSched

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("RoundRobinMultiSched", create)
    .ports("-/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(router::manual!("round_robin_multi_sched.rs"));
struct RoundRobinMultiSched {
    n: usize,
    inputs: usize,
    next: usize,
    /// Packets of the input whose turn it is.
    row: usize,
    want: usize,
    /// Inputs in a row that had nothing.
    barren: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut n, mut max) = (1u32, config.inputs() as u32);
    config.args().positional("N", &mut n).positional("MAX", &mut max).finish()?;
    let inputs = (max as usize).min(config.inputs());
    let n = n.max(1) as usize;
    Ok(Box::new(RoundRobinMultiSched { n, inputs, next: 0, row: 0, want: 0, barren: 0, got: None }))
}

impl RoundRobinMultiSched {
    fn turn(&mut self) {
        self.row = 0;
        self.next = (self.next + 1) % self.inputs;
    }

    /// Asks the input whose turn it is for what is left of its row, or answers.
    fn go_on(&mut self) -> Pull {
        let got = self.got.as_ref().map_or(0, Batch::len);
        if got >= self.want || self.barren >= self.inputs {
            return self.got.take().map_or(Pull::Nothing, Pull::Give);
        }
        Pull::Ask { input: self.next, want: (self.n - self.row).min(self.want - got) }
    }
}

impl Element for RoundRobinMultiSched {
    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if self.inputs == 0 {
            return Pull::Nothing;
        }
        (self.want, self.barren, self.got) = (want, 0, Some(cx.batch()));
        self.go_on()
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let (count, asked) = (batch.len(), (self.n - self.row).min(self.want));
        let Some(got) = &mut self.got else { return Pull::Give(batch) };
        let asked = asked.min(self.want - got.len());
        batch.drain(|packet| got.push(packet));
        cx.consume(batch);
        self.row += count;
        self.barren = if count == 0 { self.barren + 1 } else { 0 };
        if count < asked || self.row >= self.n {
            self.turn();
        }
        self.go_on()
    }
}
