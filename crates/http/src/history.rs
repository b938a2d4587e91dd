//! The last hour: every ten seconds how many packets came, went and were dropped, and how busy the workers were.

use router::Survey;
use serde::Serialize;
use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};
use utoipa::ToSchema;

/// An hour's.
const SAMPLES: usize = 360;

/// One moment. Counts are totals since the start of the configuration.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Sample {
    /// Seconds since 1970.
    at_s: u64,
    /// Packets from interfaces.
    received: u64,
    /// Packets to interfaces.
    sent: u64,
    /// Packets that elements dropped.
    dropped: u64,
    /// How busy the busiest worker is, from 0 to 1.
    load: f64,
    /// Memory that waits for grace periods, in bytes.
    waiting_bytes: u64,
}

/// Samples, the oldest first.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) samples: VecDeque<Sample>,
}

impl History {
    pub(crate) fn push(&mut self, sample: Sample) {
        if self.samples.len() == SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back(sample);
    }
}

impl Sample {
    /// Of what workers say now.
    pub(crate) fn of(survey: &Survey) -> Sample {
        let total = |name: &str| {
            let readings = survey.readings.iter().filter(|reading| reading.metric.name == name);
            readings.filter_map(|reading| reading.value.trim().parse::<u64>().ok()).sum()
        };
        let loads = survey.workers.iter().flatten().map(|worker| worker.account.load);
        Sample {
            at_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            received: total(router::metric::RECEIVED.name),
            sent: total(router::metric::SENT.name),
            dropped: survey.drops.iter().map(|(_, _, packets)| packets).sum(),
            load: loads.fold(0.0, f64::max),
            waiting_bytes: rcu::Domain::global().stats().bytes_waiting as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_is_kept() {
        let mut history = History::default();
        for at_s in 0..1_000 {
            history.push(Sample { at_s, received: 0, sent: 0, dropped: 0, load: 0.0, waiting_bytes: 0 });
        }
        assert_eq!((history.samples.len(), history.samples[0].at_s), (360, 640));
    }
}
