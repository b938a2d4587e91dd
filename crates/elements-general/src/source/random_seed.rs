//! Sets the seed of the random number generator.
//!
//! ```click
//! RandomSeed([SEED])
//! ```
//!
//! With the same SEED, the random choices of elements are the same in each run. Without SEED they differ from run to
//! run, unless the program was given a seed.
//!
//! Ports: none. Workers: replicated; it seeds worker 0's random numbers.
//!
//! # Arguments
//! - `SEED` (integer): the seed.
//!
//! # Handlers
//! - `seed` (write): sets the seed.
//!
//! # Example
//! ```click
//! RandomSeed(17);
//! RandomSource(64) -> Discard
//! ```
//!
//! # See also
//! RandomSource, RandomSample, RandomSwitch

use router::{Class, Config, ConfigError, Cx, Element, Handlers};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("RandomSeed", create).ports("0/0").phase(-1).doc(router::manual!("random_seed.rs"));

struct RandomSeed {
    seed: Option<u32>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = RandomSeed { seed: None };
    config.args().positional("SEED", &mut e.seed).finish()?;
    Ok(Box::new(e))
}

impl Element for RandomSeed {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(seed) = self.seed {
            cx.rng().seed(u64::from(seed));
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("seed", |_: &mut RandomSeed, cx, text| {
            let seed: u32 = router::keyword_value(cx, "SEED", text)?;
            cx.rng().seed(u64::from(seed));
            Ok(())
        });
    }
}
