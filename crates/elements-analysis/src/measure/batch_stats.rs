//! Shows the distribution of batch sizes.
//!
//! ```click
//! BatchStats
//! ```
//!
//! Passes packets on, and counts the batches in which they arrive by size. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; counts of all workers together.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `count` (read): batches so far.
//! - `average`, `avg`, `median` (read): the average and the median of their sizes.
//! - `max` (read): the largest. `most_seen`, `most_seen_freq`: the most frequent size, and how often it occurred.
//! - `nval` (read): the number of different sizes.
//! - `dump` (read): how often each size occurred, one per line.
//!
//! # Example
//! ```click
//! InfiniteSource(BURST 8, LIMIT 100) -> b :: BatchStats -> Discard; Script(wait 1, read b.average, stop)
//! ```
//!
//! # See also
//! AverageBatchCounter, BurstStats

use super::histogram::Histogram;
use packet::{BATCH_MAX, Batch};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("BatchStats", create).residency(Residency::Shared).doc(router::manual!("batch_stats.rs"));

struct BatchStats(Histogram);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(BatchStats(Histogram::of(config, BATCH_MAX + 1)?)))
}

impl Element for BatchStats {
    #[inline]
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.0.add(batch.len());
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, _cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        if !batch.is_empty() {
            self.0.add(batch.len());
        }
        Pull::Give(batch)
    }

    fn handlers(&self, h: &mut Handlers) {
        Histogram::handlers(h, |e: &BatchStats| &e.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::build;
    use router::Call;

    #[test]
    fn sizes_of_batches_are_counted() {
        for (vector, expected) in [(1, ["15", "1", "1", "1: 15\n"]), (32, ["3", "5", "5", "5: 3\n"])] {
            let config = "InfiniteSource(LIMIT 15, BURST 5, STOP true) -> b :: BatchStats -> Discard";
            let mut router = build(config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
            router.run();
            let read = ["b.count", "b.median", "b.max", "b.dump"]
                .map(|path| router.call(Call::read(path, "")).unwrap_or_default());
            assert_eq!(read, expected);
        }
    }
}
