//! How many ICMP errors are sent in a time (RFC 1812, section 4.3.2.8; RFC 4443, section 2.4 f): a token bucket, since traceroute and
//! lost paths make several at once.

use elements_shared::rate::TokenBucket;

/// Why packets are dropped that were to be answered.
pub(crate) const TOO_MANY: &str = "too many ICMP errors";

/// A limit; without one everything is admitted.
#[derive(Debug, Default)]
pub(crate) struct ErrorLimit {
    bucket: Option<TokenBucket>,
}

impl ErrorLimit {
    /// So many errors a second, so many at once; 0 a second is no limit.
    pub(crate) fn new(rate: u32, burst: u32) -> ErrorLimit {
        let bucket = (rate > 0).then(|| {
            let mut bucket = TokenBucket::new(rate, burst.max(1));
            bucket.set(burst.max(1));
            bucket
        });
        ErrorLimit { bucket }
    }

    /// Whether one more error may be sent, which then counts.
    pub(crate) fn admits(&mut self, now_ns: i64) -> bool {
        self.bucket.as_mut().is_none_or(|bucket| {
            bucket.refill(now_ns);
            bucket.take(1) == 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut limit = ErrorLimit::new(100, 5);
        let admitted = |limit: &mut ErrorLimit, now_ms: i64| {
            (0..50).filter(|_| limit.admits(now_ms * 1_000_000)).count()
        };
        assert_eq!(admitted(&mut limit, 0), 5);
        assert_eq!((admitted(&mut limit, 5), admitted(&mut limit, 11), admitted(&mut limit, 31)), (0, 1, 2));
        assert_eq!(admitted(&mut limit, 60_000), 5);
        assert_eq!(admitted(&mut ErrorLimit::new(0, 5), 0), 50);
    }
}
