//! Pulls from one fixed input.
//!
//! ```click
//! StaticPullSwitch(INPUT)
//! ```
//!
//! Each pull is answered from input INPUT, or gets nothing if that is negative or does not exist. Pullers sleep while
//! that input has no packets.
//!
//! Ports: any number of inputs, 1 output. Processing: pull. Workers: replicated.
//!
//! # Arguments
//! - `INPUT` (integer): the input, or -1.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: StaticPullSwitch(0) -> Discard;
//! InfiniteSource -> Queue -> [0] s;
//! InfiniteSource -> Queue -> [1] s;
//! ```
//!
//! # See also
//! PullSwitch, StaticSwitch

use super::pull_switch::PullSwitch;
use router::{Class, Config, ConfigError, Element};

/// The class.
pub(crate) const CLASS: Class = Class::new("StaticPullSwitch", create)
    .ports("-/1")
    .processing("l/l")
    .doc(router::manual!("static_pull_switch.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut input = 0;
    config.args().required("INPUT", &mut input).finish()?;
    Ok(Box::new(PullSwitch::new(input, config.inputs(), false)))
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn one_way() {
        let config = |input: i32| {
            let config = format!(
                "s :: StaticPullSwitch({input}) -> d :: Discard; RatedSource(LIMIT 4, STOP true) -> Discard;
                 InfiniteSource(LIMIT 5) -> q :: Queue -> [0] s; InfiniteSource(LIMIT 3) -> r :: Queue -> [1] s"
            );
            run_and_read(&config, &["d.count", "q.length", "r.length"])
        };
        assert_eq!([config(0), config(1)], [["5", "0", "3"], ["3", "5", "0"]]);
        assert_eq!([config(2), config(-1)], [["0", "5", "3"], ["0", "5", "3"]]);
    }
}
