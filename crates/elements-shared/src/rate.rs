//! The rate logic that shapers and sources share: evenly spaced permits, token buckets, bandwidths as arguments.

use router::{FromArg, Scope};

/// Microseconds are scaled by this many bits while they are divided into gaps.
const GAP_SHIFT: u32 = 12;
const NS_PER_S: i64 = 1_000_000_000;

/// Events spaced evenly within each second, as Click's shapers space them: what one second leaves unused is lost, what it
/// overdraws is charged to the next.
#[derive(Clone, Debug, Default)]
pub struct GapRate {
    rate: u32,
    /// Scaled microseconds between events.
    gap: u32,
    /// The second that `count` belongs to; none before the first event.
    second: Option<i64>,
    count: i64,
}

impl GapRate {
    /// The most events a second.
    pub const MAX: u32 = 1_000_000 << GAP_SHIFT;

    /// At most `rate` events a second; none if that is 0.
    pub fn new(rate: u32) -> GapRate {
        let mut gaps = GapRate::default();
        gaps.fit(rate);
        gaps
    }

    fn fit(&mut self, rate: u32) {
        self.rate = rate.min(Self::MAX);
        self.gap = if rate == 0 { Self::MAX + 1 } else { Self::MAX / self.rate };
    }

    /// Changes the rate, from this moment on.
    pub fn set(&mut self, rate: u32, now_ns: i64) {
        if rate == self.rate {
            return;
        }
        self.fit(rate);
        if self.second.is_some() && rate != 0 {
            self.count = self.needed(now_ns);
        }
    }

    /// Goes on where another one was, at this one's rate.
    pub fn adopt(&mut self, old: GapRate, now_ns: i64) {
        let rate = std::mem::replace(self, old).rate;
        self.set(rate, now_ns);
    }

    /// Begins to count anew with the next event.
    pub fn reset(&mut self) {
        self.second = None;
    }

    /// Events a second.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    fn scaled_us(now_ns: i64) -> u32 {
        ((now_ns.rem_euclid(NS_PER_S) / 1000) as u32) << GAP_SHIFT
    }

    /// The number of the event that is due now, counted from the start of the second.
    fn needed(&self, now_ns: i64) -> i64 {
        i64::from(Self::scaled_us(now_ns) / self.gap)
    }

    /// Units that may go now; more than zero lets a whole event go, however many units it has.
    pub fn allowance(&mut self, now_ns: i64) -> usize {
        let needed = self.needed(now_ns);
        let second = now_ns.div_euclid(NS_PER_S);
        match self.second {
            None => {
                let into_gap = Self::scaled_us(now_ns) - needed as u32 * self.gap;
                self.count = needed + i64::from(into_gap > self.gap / 2);
                self.second = Some(second);
            }
            Some(old) if second > old => {
                self.second = Some(second);
                if self.count > 0 {
                    self.count -= i64::from(self.rate);
                }
            }
            Some(_) => {}
        }
        usize::try_from(needed - self.count + 1).unwrap_or(0)
    }

    /// Records that this many units went.
    pub fn spend(&mut self, units: usize) {
        self.count += units as i64;
    }

    /// When the next event may go, if nothing goes before; `None` if never.
    pub fn next_ns(&self, now_ns: i64) -> Option<i64> {
        let rate = i64::from(self.rate);
        if rate == 0 {
            return None;
        }
        let second = self.second.unwrap_or_else(|| now_ns.div_euclid(NS_PER_S));
        let (mut ahead, mut count) = (0, self.count.max(0));
        loop {
            let us = ((count * i64::from(self.gap)) as u64).div_ceil(1 << GAP_SHIFT) as i64;
            if us < 1_000_000 {
                return Some(((second + ahead) * NS_PER_S + us * 1000).max(now_ns + 1));
            }
            // A debt of many seconds is worked off at once.
            let seconds = (count / rate).max(1);
            ahead += seconds;
            count = (count - seconds * rate).max(0);
        }
    }
}

/// A token bucket that fills in steps of a millisecond, with Click's arithmetic: the fill is a fraction of the capacity.
#[derive(Clone, Debug, Default)]
pub struct TokenBucket {
    per_tick: u32,
    scale: u32,
    ticks_until_full: u64,
    fill: u32,
    tick: i64,
}

/// Fills of the bucket a second.
const TICKS_PER_S: u64 = 1000;
const NS_PER_TICK: i64 = NS_PER_S / TICKS_PER_S as i64;

impl TokenBucket {
    /// A bucket that `rate` tokens a second flow into, up to `capacity`, and that is full when it is first filled.
    pub fn new(rate: u32, capacity: u32) -> TokenBucket {
        let mut bucket = TokenBucket::default();
        bucket.fit(rate, capacity);
        bucket
    }

    fn fit(&mut self, rate: u32, capacity: u32) {
        let (rate, capacity) = if capacity == 0 { (0, u32::MAX) } else { (rate, capacity) };
        let least = rate.div_ceil(TICKS_PER_S as u32);
        self.scale = u32::MAX / capacity.max(least).max(1);
        if rate == 0 {
            (self.per_tick, self.ticks_until_full) = (0, u64::MAX);
            return;
        }
        let per_tick = u64::from(rate) * u64::from(self.scale) / TICKS_PER_S;
        self.per_tick = u32::try_from(per_tick).unwrap_or(u32::MAX).max(1);
        self.ticks_until_full = u64::from((u32::MAX - 1) / self.per_tick) + 1;
    }

    /// Changes rate and capacity; the tokens stay.
    pub fn adjust(&mut self, rate: u32, capacity: u32) {
        let old = self.clone();
        self.fit(rate, capacity);
        self.adopt(&old);
    }

    /// Goes on with the tokens of another bucket, as far as there is room for them.
    pub fn adopt(&mut self, old: &TokenBucket) {
        let fill = u64::from(old.fill) * u64::from(self.scale) / u64::from(old.scale.max(1));
        self.fill = u32::try_from(fill).unwrap_or(u32::MAX);
        self.tick = old.tick;
    }

    /// Tokens a second, as far as the arithmetic allows.
    pub fn rate(&self) -> u32 {
        let (tick, scale) = (u64::from(self.per_tick), u64::from(self.scale.max(1)));
        u32::try_from((tick / 2 + tick * TICKS_PER_S) / scale).unwrap_or(u32::MAX)
    }

    /// Puts exactly this many tokens in.
    pub fn set(&mut self, tokens: u32) {
        self.fill = tokens.saturating_mul(self.scale);
    }

    /// Lets the tokens in that came since the last time.
    #[inline]
    pub fn refill(&mut self, now_ns: i64) {
        let tick = now_ns / NS_PER_TICK;
        if tick == self.tick {
            return;
        }
        let ticks = u64::try_from(tick - self.tick).unwrap_or(0);
        self.tick = tick;
        self.fill = if ticks >= self.ticks_until_full {
            u32::MAX
        } else {
            u32::try_from(u64::from(self.fill) + ticks * u64::from(self.per_tick)).unwrap_or(u32::MAX)
        };
    }

    /// Takes up to `want` whole tokens: how many there were.
    pub fn take(&mut self, want: usize) -> usize {
        let tokens = want.min(self.tokens() as usize);
        self.fill -= tokens as u32 * self.scale;
        tokens
    }

    /// Whole tokens that there are.
    pub fn tokens(&self) -> u32 {
        self.fill / self.scale.max(1)
    }

    /// Whether there are so many tokens.
    #[inline]
    pub fn contains(&self, tokens: u32) -> bool {
        // The same as `tokens() >= tokens` without a division, for which each packet would wait.
        u64::from(self.fill) >= u64::from(tokens) * u64::from(self.scale.max(1))
    }

    /// Takes tokens, or all that there are.
    pub fn remove(&mut self, tokens: u32) {
        self.fill = self.fill.saturating_sub(tokens.saturating_mul(self.scale));
    }

    /// When there will be a token; `None` if never.
    pub fn next_ns(&self, now_ns: i64) -> Option<i64> {
        self.next_with_ns(now_ns, 1)
    }

    /// When there will be so many tokens; `None` if never.
    pub fn next_with_ns(&self, now_ns: i64, tokens: u32) -> Option<i64> {
        if self.per_tick == 0 {
            return None;
        }
        let ticks = tokens.saturating_mul(self.scale).saturating_sub(self.fill).div_ceil(self.per_tick);
        Some((now_ns / NS_PER_TICK + i64::from(ticks.max(1))) * NS_PER_TICK)
    }
}

/// Bytes a second, as [`router::Bandwidth`] reads and writes them; as many as 32 bits hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bandwidth(pub u32);

impl FromArg for Bandwidth {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let bandwidth = router::Bandwidth::from_arg(text, scope)?;
        u32::try_from(bandwidth.bytes_per_second).map(Bandwidth).map_err(|_| "out of range".to_owned())
    }
}

impl std::fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        router::Bandwidth { bytes_per_second: self.0.into() }.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A caller that asks only when told to gets the rate exactly, from any moment on, also beyond one event a microsecond.
    #[test]
    fn gaps_keep_the_rate() {
        for rate in [1, 3, 10, 999, 1_000_000, 3_000_000] {
            let mut gaps = GapRate::new(rate);
            let start = 1_000_000_000_250_000_000;
            let (mut now, mut events) = (start, 0);
            while now < start + 5 * NS_PER_S {
                let n = gaps.allowance(now);
                assert!(n > 0 || now == start, "{rate}: told to come too early");
                gaps.spend(n);
                events += n;
                now = gaps.next_ns(now).expect("a rate above zero");
            }
            let expected = 5 * rate as usize;
            assert!(events.abs_diff(expected) <= 1 + expected / 1000, "{rate}: {events}");
        }
        assert_eq!((GapRate::new(0).rate(), GapRate::new(0).next_ns(5)), (0, None));
    }

    /// An event of many units goes at once; the debt is worked off.
    #[test]
    fn gaps_charge_debt() {
        let mut gaps = GapRate::new(1000);
        let start = 7 * NS_PER_S;
        assert!(gaps.allowance(start) > 0);
        gaps.spend(2500);
        assert_eq!(gaps.next_ns(start), Some(start + 2_500_000_000));
        assert_eq!(gaps.allowance(start + 999_999_000), 0);
    }

    /// What is in the bucket is known without a division.
    #[test]
    fn buckets_know_what_they_have() {
        for (rate, capacity) in [(10, 2), (1000, 10), (50_000, 500), (4_000_000_000, u32::MAX), (0, 7)] {
            let mut bucket = TokenBucket::new(rate, capacity);
            for tokens in [0, 1, 2, 6, 7, 8, 499, 500, 501, 131_072, u32::MAX] {
                bucket.set(tokens);
                let there = bucket.tokens();
                for wanted in [0, 1, 7, there.saturating_sub(1), there, there.saturating_add(1), u32::MAX] {
                    assert_eq!(bucket.contains(wanted), there >= wanted, "{bucket:?} {wanted}");
                }
            }
        }
    }

    /// The capacity bounds bursts; then tokens come at the rate.
    #[test]
    fn buckets_keep_the_rate() {
        for (rate, capacity) in [(10, 2), (200, 2), (1000, 10), (50_000, 500)] {
            let mut bucket = TokenBucket::new(rate, capacity);
            assert!(bucket.rate().abs_diff(rate) <= 1 + rate / 1000, "{rate}: {}", bucket.rate());
            let start = NS_PER_S;
            bucket.refill(start);
            let burst = bucket.take(usize::MAX);
            assert!(
                burst as u32 >= capacity && burst as u32 <= capacity.max(rate / 1000) + 1,
                "{rate}: {burst}"
            );
            let (mut now, mut tokens) = (start, 0);
            while now < start + 4 * NS_PER_S {
                now = bucket.next_ns(now).expect("a rate above zero");
                bucket.refill(now);
                let n = bucket.take(usize::MAX);
                assert!(n > 0, "{rate}: told to come too early");
                tokens += n;
            }
            let expected = 4 * rate as usize;
            assert!(tokens.abs_diff(expected) <= 2 + expected / 500, "{rate}: {tokens}");
        }
    }
}
