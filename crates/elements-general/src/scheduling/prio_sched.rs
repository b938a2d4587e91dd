//! Strict priority: pulls from the first input that has a packet.
//!
//! ```click
//! PrioSched
//! ```
//!
//! Each pull is answered from input 0; from input 1 only if input 0 has nothing, and so on.
//!
//! SimplePrioSched is another name for it.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: PrioSched -> Discard;
//! InfiniteSource(LIMIT 10) -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! RoundRobinSched

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, Pull};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("PrioSched", create).ports("-/1").processing("l/l").doc(router::manual!("prio_sched.rs"));

struct PrioSched {
    inputs: usize,
    want: usize,
    got: Option<Batch>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PrioSched { inputs: config.inputs(), want: 0, got: None }))
}

impl Element for PrioSched {
    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if self.inputs == 0 {
            return Pull::Nothing;
        }
        (self.want, self.got) = (want, None);
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let got = match self.got.take() {
            None => batch,
            Some(mut got) => {
                batch.drain(|packet| got.push(packet));
                cx.consume(batch);
                got
            }
        };
        // An input that gave fewer than it was asked for has no more: the rest comes from the next.
        if got.len() == self.want || port + 1 == self.inputs {
            return Pull::Give(got);
        }
        let want = self.want - got.len();
        self.got = Some(got);
        Pull::Ask { input: port + 1, want }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    /// The first input is emptied before the second is asked, also within one request.
    #[test]
    fn first_things_first() {
        let lines = run("s :: PrioSched -> Print(MAXLENGTH 1) -> Discard(BURST 4);
                         InfiniteSource(DATA b, LIMIT 3, BURST 3) -> Queue -> [1] s;
                         InfiniteSource(DATA a, LIMIT 2, BURST 2) -> Queue -> [0] s;
                         RatedSource(LIMIT 4, STOP true) -> Discard;");
        let order: Vec<_> = lines.lines().map(|line| line.rsplit(' ').next().unwrap_or("")).collect();
        assert_eq!(order, ["61", "61", "62", "62", "62"]);
    }
}
