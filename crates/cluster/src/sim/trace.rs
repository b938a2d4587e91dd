//! Packets that come at given times, all between one pair of terminals.

use fastrand::Rng;

/// A packet that comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at_ns: u64,
    /// Its flow.
    pub flow: u32,
    /// Its length.
    pub bytes: u16,
}

/// What a made-up trace is like.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long it is.
    pub duration_ns: u64,
    /// Bits a second, on average.
    pub rate: u64,
    /// The seed.
    pub seed: u64,
}

/// A value with a heavy tail: Pareto with this exponent, at least `least`, cut off at `most`.
fn pareto(rng: &mut Rng, exponent: f64, least: f64, most: f64) -> f64 {
    (least / (1.0 - rng.f64()).powf(1.0 / exponent)).min(most)
}

/// Makes up a trace: flows of heavy-tailed length, each in bursts of growing size, a round-trip time apart, the packets of
/// a burst as close as the sender's access line brings them. So does TCP while nothing is lost.
pub fn make(settings: &Settings) -> Vec<Arrival> {
    let mut rng = Rng::with_seed(settings.seed);
    let wanted = (settings.rate as f64 / 8e9 * settings.duration_ns as f64) as u64;
    let (mut bytes, mut arrivals, mut flow) = (0, Vec::new(), 0u32);
    // Flows began before the trace does, so that it starts with old and new ones.
    let lead = settings.duration_ns / 2;
    while bytes < wanted {
        flow += 1;
        let mut left = pareto(&mut rng, 1.2, 2.0, 20_000.0) as u64;
        let round_ns = (1e6 * pareto(&mut rng, 1.5, 10.0, 300.0)) as u64;
        // From 20 Mbps to a gigabit: nanoseconds for each byte.
        let access = 8.0 * 10f64.powf(rng.f64() * 1.7);
        let acks = rng.f64() < 0.4;
        let mut start = rng.u64(..settings.duration_ns + lead);
        let mut window = 4;
        while left > 0 && start < settings.duration_ns + lead {
            let mut at = start;
            for _ in 0..left.min(window) {
                let size = if acks {
                    64
                } else if rng.u8(..10) == 0 {
                    64 + rng.u16(..1_436)
                } else {
                    1_500
                };
                at += (f64::from(size) * access) as u64;
                if (lead..settings.duration_ns + lead).contains(&at) {
                    arrivals.push(Arrival { at_ns: at - lead, flow, bytes: size });
                    bytes += u64::from(size);
                }
            }
            left -= left.min(window);
            window = (2 * window).min(64);
            start = (start + round_ns).max(at);
        }
    }
    arrivals.sort_by_key(|arrival| arrival.at_ns);
    arrivals
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A few flows have most of the packets; times ascend; the rate is what was asked for; the seed repeats it.
    #[test]
    fn a_few_flows_have_most_of_the_packets() {
        let settings = Settings { duration_ns: 200_000_000, rate: 1_000_000_000, seed: 3 };
        let trace = make(&settings);
        assert!(trace == make(&settings) && trace.is_sorted_by_key(|a| a.at_ns));
        let bytes: u64 = trace.iter().map(|a| u64::from(a.bytes)).sum();
        assert!((25_000_000..26_000_000).contains(&bytes), "{bytes}");
        let mut sizes = std::collections::HashMap::new();
        trace.iter().for_each(|a| *sizes.entry(a.flow).or_insert(0u64) += 1);
        let mut sizes: Vec<_> = sizes.into_values().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let top: u64 = sizes.iter().take(sizes.len() / 10).sum();
        assert!(top * 2 > trace.len() as u64, "{top} of {}", trace.len());
    }
}
