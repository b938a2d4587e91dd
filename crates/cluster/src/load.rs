//! How busy a link is, as far as its sender knows.

/// A link or an allowance of a certain rate, seen as a queue that empties at that rate: what was sent and what time has
/// passed tell how much still waits. The one who sends needs no word from the device for it.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// Picoseconds that a byte takes.
    ps_per_byte: u64,
    /// When all that was sent will be through.
    free_ns: u64,
    /// Picoseconds beyond that.
    rest_ps: u64,
}

impl Backlog {
    /// One that carries this many bits a second.
    pub fn new(bits_per_second: u64) -> Backlog {
        Backlog { ps_per_byte: 8_000_000_000_000 / bits_per_second.max(1), free_ns: 0, rest_ps: 0 }
    }

    /// Another rate, from now on.
    pub fn set_rate(&mut self, bits_per_second: u64) {
        self.ps_per_byte = Backlog::new(bits_per_second).ps_per_byte;
    }

    /// Nanoseconds until what was sent is through.
    #[inline]
    pub fn waiting_ns(&self, now_ns: u64) -> u64 {
        self.free_ns.saturating_sub(now_ns)
    }

    /// Nanoseconds that so many bytes take.
    #[inline]
    pub fn cost_ns(&self, bytes: u32) -> u64 {
        u64::from(bytes) * self.ps_per_byte / 1_000
    }

    /// Whether so many bytes may be sent without that more than `bound` wait. One packet may always wait.
    #[inline]
    pub fn fits(&self, now_ns: u64, bytes: u32, bound: u32) -> bool {
        self.waiting_ns(now_ns) <= self.cost_ns(bound.saturating_sub(bytes))
    }

    /// Bytes are sent; returns when they will be through.
    #[inline]
    pub fn add(&mut self, now_ns: u64, bytes: u32) -> u64 {
        let ps = u64::from(bytes) * self.ps_per_byte + self.rest_ps;
        self.free_ns = self.free_ns.max(now_ns) + ps / 1_000;
        self.rest_ps = ps % 1_000;
        self.free_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over a long time exactly the rate goes through, also when a byte takes a fraction of a nanosecond.
    #[test]
    fn carries_its_rate() {
        let mut link = Backlog::new(10_000_000_000);
        let (mut now, mut sent) = (5_000u64, 0u64);
        while now < 1_005_000 {
            if link.fits(now, 61, 1_250) {
                link.add(now, 61);
                sent += 61;
            } else {
                now += 7;
            }
        }
        // A millisecond at 1.25 bytes a nanosecond, and the bound of a microsecond.
        assert!((1_250_000..=1_251_300).contains(&sent), "{sent}");
    }

    /// An idle link saves nothing up.
    #[test]
    fn idleness_is_lost() {
        let mut link = Backlog::new(8_000_000_000);
        link.add(0, 100);
        assert_eq!((link.waiting_ns(40), link.waiting_ns(1_000_000)), (60, 0));
        assert_eq!(link.add(1_000_000, 100), 1_000_100);
    }
}
