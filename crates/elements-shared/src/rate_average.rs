//! Recent rates, measured as Click does.
//!
//! Events are summed over epochs of a millisecond; each epoch's sum moves a fixed-point average a sixteenth of the way.

/// Epochs a second.
const EPOCHS_PER_S: u64 = 1000;
/// Each epoch moves the average by 1 / 2^STABILITY of the difference.
const STABILITY: u32 = 4;
/// So many epochs without events bring the average to zero.
const FORGOTTEN: i64 = 100;

/// An exponentially weighted moving average of a count's growth, with SCALE bits of fraction.
#[derive(Debug, Default)]
pub struct RateAverage<const SCALE: u32> {
    average: i64,
    epoch: i64,
    pending: u64,
}

impl<const SCALE: u32> RateAverage<SCALE> {
    /// Adds events at a time.
    #[inline]
    pub fn add(&mut self, now_ns: i64, events: u64) {
        let epoch = now_ns / 1_000_000;
        if epoch != self.epoch {
            self.advance(epoch);
        }
        self.pending += events;
    }

    fn advance(&mut self, epoch: i64) {
        let idle = epoch - self.epoch - 1;
        let sample = (std::mem::take(&mut self.pending) as i64) << SCALE;
        self.step(sample);
        if idle >= FORGOTTEN {
            self.average = 0;
        } else {
            (0..idle).for_each(|_| self.step(0));
        }
        self.epoch = epoch;
    }

    fn step(&mut self, sample: i64) {
        let rounded = sample + (1 << (STABILITY - 1));
        self.average += (rounded - self.average) >> STABILITY;
    }

    /// Events in an epoch of a millisecond, with SCALE bits of fraction, as of the last call.
    #[inline]
    pub fn average(&self) -> u64 {
        self.average as u64
    }

    /// Events a second, times `factor`, as of a time.
    pub fn read(&mut self, now_ns: i64, factor: u64) -> String {
        self.add(now_ns, 0);
        unparse(self.average as u64 * EPOCHS_PER_S * factor, SCALE)
    }
}

/// A number with `scale` bits of fraction, with as few decimals as tell it from its neighbours.
pub fn unparse(value: u64, scale: u32) -> String {
    let one = 1u64 << scale;
    let (whole, fraction) = (value >> scale, value & (one - 1));
    if fraction == 0 {
        return whole.to_string();
    }
    let mut power = 10u64;
    loop {
        // The nearest decimal fraction with so many digits; enough if it lies within half a step.
        let decimal = (fraction * power * 2 + one) / (2 * one);
        if (decimal * one).abs_diff(fraction * power) * 2 < power || power >= 1_000_000_000 {
            let digits = power.ilog10() as usize;
            return match decimal == power {
                true => (whole + 1).to_string(),
                false => format!("{whole}.{decimal:0digits$}").trim_end_matches('0').to_owned(),
            };
        }
        power *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_found_and_forgotten() {
        let mut rate = RateAverage::<10>::default();
        let start = 1_000_000_000_000_000;
        for ms in 0..1000 {
            rate.add(start + ms * 1_000_000, 5);
        }
        let measured: f64 = rate.read(start + 1_000_000_000, 1).parse().expect("a number");
        assert!((measured - 5000.0).abs() < 20.0, "{measured}");
        assert_eq!(rate.read(start + 5_000_000_000, 1), "0");
    }

    #[test]
    fn averages_print_as_decimal_fractions() {
        assert_eq!(unparse(3 << 10, 10), "3");
        assert_eq!(unparse((2 << 10) + 512, 10), "2.5");
        assert_eq!(unparse(107, 8), "0.418");
        assert_eq!(unparse(1, 4), "0.06");
    }
}
