//! Self-test: token buckets.
//!
//! ```click
//! TokenBucketTest
//! ```
//!
//! When the router starts, this tests the token bucket and the even spacing with which shapers, sources and splitters
//! control rates: a bucket's capacity, how it fills, when it will have enough tokens, what happens when its rate
//! changes, and that the resulting rate is right. It prints `All tests pass!`, or the router does not start.
//!
//! Ports: none. Workers: worker 0.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! TokenBucketTest
//! ```
//!
//! # See also
//! RatedUnqueue, RatedSplitter, Shaper

use super::rate::{GapRate, TokenBucket};
use crate::basic::trial::{Trial, element};
use router::{Class, Config, ConfigError, Cx, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("TokenBucketTest", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("token_bucket_test.rs"));

const MS: i64 = 1_000_000;
const S: i64 = 1000 * MS;
/// Some time at which buckets are first looked at.
const START: i64 = 1_000_000_000 * S;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element(config, tests)
}

fn tests(trial: &mut Trial, _cx: &mut Cx<'_>) {
    fills(trial);
    waits(trial);
    changes(trial);
    for rate in [10, 999, 1000, 50_000] {
        keeps_rate(trial, rate);
    }
    gaps(trial);
}

/// A bucket that was emptied at the start.
fn empty(rate: u32, capacity: u32) -> TokenBucket {
    let mut bucket = TokenBucket::new(rate, capacity);
    bucket.refill(START);
    bucket.set(0);
    bucket
}

fn fills(trial: &mut Trial) {
    let mut bucket = TokenBucket::new(1000, 20);
    bucket.refill(START);
    trial.same("a new bucket is full", bucket.take(100), 20);
    trial.same("then it is empty", bucket.take(1), 0);
    bucket.refill(START + 5 * MS);
    trial.holds("tokens flow in at the rate", bucket.contains(4) && !bucket.contains(6));
    bucket.refill(START + 5 * MS);
    trial.holds("at one time only once", !bucket.contains(6));
    bucket.refill(START + 10 * S);
    trial.same("up to the capacity", bucket.take(100), 20);
    bucket.set(7);
    trial.same("a bucket that was filled by hand", bucket.take(3), 3);
    bucket.remove(2);
    trial.holds("tokens that are removed are gone", bucket.contains(2) && !bucket.contains(3));
    bucket.remove(50);
    trial.holds("there are no fewer than none", !bucket.contains(1) && bucket.take(1) == 0);
    let mut never = empty(0, 10);
    never.refill(START + 1000 * S);
    trial.same("nothing flows in at the rate 0", never.take(1), 0);
}

fn waits(trial: &mut Trial) {
    for (rate, tokens) in [(1, 1), (100, 1), (100, 10), (1000, 5), (12_345, 100)] {
        let mut bucket = empty(rate, 200);
        let Some(then) = bucket.next_with_ns(START, tokens) else {
            return trial.holds("a bucket with a rate will have tokens", false);
        };
        bucket.refill(then - 1);
        trial.holds(
            &format!("{tokens} tokens at the rate {rate} are not there before"),
            !bucket.contains(tokens),
        );
        bucket.refill(then);
        trial.holds(
            &format!("{tokens} tokens at the rate {rate} are there when they shall be"),
            bucket.contains(tokens),
        );
    }
    trial.same("without a rate none will be", empty(0, 10).next_ns(START), None);
}

fn changes(trial: &mut Trial) {
    let mut bucket = empty(1000, 100);
    bucket.set(40);
    bucket.adjust(2000, 400);
    trial.holds("tokens stay when the capacity grows", bucket.contains(39) && !bucket.contains(41));
    trial.holds("the rate is the new one", bucket.rate().abs_diff(2000) <= 2);
    bucket.refill(START + 10 * MS);
    trial.holds("tokens flow in at the new rate", bucket.contains(58) && !bucket.contains(61));
    bucket.adjust(2000, 10);
    trial.same("what does not fit any more is lost", bucket.take(1000), 10);
}

/// Whoever takes tokens as soon as they are there gets the rate, over four seconds.
fn keeps_rate(trial: &mut Trial, rate: u32) {
    let mut bucket = empty(rate, rate.div_ceil(100).max(2));
    let (mut now, mut tokens) = (START, 0);
    while let Some(next) = bucket.next_ns(now).filter(|&next| next <= START + 4 * S) {
        now = next;
        bucket.refill(now);
        tokens += bucket.take(usize::MAX);
    }
    let expected = 4 * rate as usize;
    trial.holds(
        &format!("{expected} tokens in four seconds"),
        tokens.abs_diff(expected) <= 2 + expected / 500,
    );
}

fn gaps(trial: &mut Trial) {
    let mut gaps = GapRate::new(1000);
    let (mut now, mut events) = (START, 0);
    while now < START + 2 * S {
        let most = gaps.allowance(now);
        trial.holds("an event is due when it shall be", most > 0);
        gaps.spend(most.min(1));
        events += 1;
        let Some(next) = gaps.next_ns(now) else { return trial.holds("a rate has a next event", false) };
        now = next;
    }
    trial.holds("two seconds have 2000 events", (1999..=2001).contains(&events));
    trial.same("no event without a rate", GapRate::new(0).next_ns(START), None);
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn passes() {
        assert_eq!(run("TokenBucketTest; Script(stop)"), "All tests pass!\n");
    }
}
