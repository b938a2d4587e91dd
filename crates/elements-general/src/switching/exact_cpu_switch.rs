//! Gives each worker an output of its own.
//!
//! ```click
//! ExactCPUSwitch
//! ```
//!
//! Of the workers whose packets can arrive here, the first one's leave by output 0, the second one's by output 1, and
//! so on, starting again from output 0 if there are more workers than outputs. It is FastClick's element.
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
//! InfiniteSource -> c :: ExactCPUSwitch;
//! c [0] -> Discard;
//! c [1] -> Discard;
//! ```
//!
//! # See also
//! CPUSwitch, StaticThreadSched

use super::cpu_switch::CpuSwitch;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("ExactCPUSwitch", create)
    .ports("1/1-")
    .processing("h/h")
    .doc(router::manual!("exact_cpu_switch.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let place = config.workers().iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    Ok(Box::new(CpuSwitch { output: place % config.outputs() }))
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use elements_testing::run_to_end;
    use router::Call;

    /// Workers 1 and 2 of three have packets for it: output 0 and output 1.
    #[test]
    fn by_place_among_workers() {
        let config =
            "s1 :: InfiniteSource(LIMIT 5) -> c :: ExactCPUSwitch; s2 :: InfiniteSource(LIMIT 7) -> c;
                      c[0] -> a :: Discard; c[1] -> b :: Discard;
                      RatedSource(LIMIT 4, STOP true) -> Discard; StaticThreadSched(s1 1, s2 2)";
        let mut router = build(config, 3, 1).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let counts = ["a.count", "b.count"].map(|path| router.call(Call::read(path, "")));
        assert_eq!(counts, [Ok("5".to_owned()), Ok("7".to_owned())]);
    }
}
