//! Sends packets to the output that belongs to the current worker.
//!
//! ```click
//! CPUSwitch
//! ```
//!
//! Packets on worker W leave by output W modulo the number of outputs.
//!
//! Ports: 1 input, 1 or more outputs. Processing: push. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> c :: CPUSwitch;
//! c [0] -> Discard;
//! c [1] -> Discard;
//! ```
//!
//! # See also
//! ExactCPUSwitch, CPUQueue, StaticThreadSched

use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("CPUSwitch", create).ports("1/1-").processing("h/h").doc(router::manual!("cpu_switch.rs"));

/// Sends all packets of a worker to one output.
pub(super) struct CpuSwitch {
    pub(super) output: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(CpuSwitch { output: config.worker() % config.outputs() }))
}

impl Element for CpuSwitch {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        cx.emit(self.output, batch);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use elements_testing::run_to_end;
    use router::Call;

    /// Sources on three workers, two outputs: the third starts again at the first.
    #[test]
    fn by_worker() {
        let config = "s0 :: InfiniteSource(LIMIT 3) -> c :: CPUSwitch; s1 :: InfiniteSource(LIMIT 5) -> c;
                      s2 :: InfiniteSource(LIMIT 7) -> c; c[0] -> a :: Discard; c[1] -> b :: Discard;
                      RatedSource(LIMIT 4, STOP true) -> Discard; StaticThreadSched(s1 1, s2 2)";
        let mut router = build(config, 3, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let counts = ["a.count", "b.count"].map(|path| router.call(Call::read(path, "")));
        assert_eq!(counts, [Ok("10".to_owned()), Ok("5".to_owned())]);
    }
}
