//! Pulls packets at a limited rate and pushes them on.
//!
//! ```click
//! RatedUnqueue(RATE [, KEYWORDS])
//! ```
//!
//! Each time it is scheduled, pulls a packet, or up to BURST, and pushes them on, but no more than RATE per second.
//! While there are no packets, it accumulates credit for a burst.
//!
//! Ports: 1 input, 1 output. Processing: pull to push. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer): packets per second.
//! - `BURST_DURATION` (time, default 20 ms): the burst size, as the time in which RATE produces that many packets.
//! - `BURST_SIZE` (integer): the burst size in packets, instead of BURST_DURATION.
//! - `ACTIVE` (boolean, default true): whether to pull packets.
//! - `BURST` (integer, default 1): the maximum number of packets per scheduling, as in FastClick, where the default
//!   is 32.
//!
//! # Handlers
//! - `rate` (read, write): the argument.
//! - `config` (read): the rate.
//! - `config` (write): replaces all arguments; ACTIVE and BURST keep their values unless given.
//! - `active` (read, write): the argument.
//! - `calls` (read): runs of the task, runs without result, pushes, pulls without result, packets pushed.
//!
//! # Example
//! ```click
//! InfiniteSource -> Queue -> RatedUnqueue(100) -> Discard
//! ```
//!
//! # See also
//! BandwidthRatedUnqueue, Unqueue, Shaper, RatedSplitter

use super::drive::Drive;
use elements_shared::rate::TokenBucket;
use elements_shared::rate_limit::{Arguments, RateLimit};
use packet::{Anno, BATCH_MAX, Batch, Packet};
use router::{Activity, Args, Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency};
use std::any::Any;

/// The class.
pub(crate) const CLASS: Class = Class::new("RatedUnqueue", create)
    .processing("l/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .live()
    .doc(router::manual!("rated_unqueue.rs"));

struct RatedUnqueue {
    limit: RateLimit,
    length: Length,
    drive: Drive,
    /// Packets a scheduling at most.
    burst: usize,
    /// Packets that this scheduling may still pull, those asked for included.
    left: usize,
    /// Packets asked for.
    asked: usize,
    packets: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_for(config, false)
}

/// One that counts packets, or bytes.
pub(super) fn create_for(config: &mut Config<'_>, bytes: bool) -> Result<Box<dyn Element>, ConfigError> {
    let settings = Settings::read(config.args(), bytes)?;
    let mut e = RatedUnqueue {
        limit: RateLimit::of(settings.limit)?,
        length: settings.length,
        drive: Drive::new(true),
        burst: 1,
        left: 0,
        asked: 0,
        packets: 0,
    };
    e.set(settings.active, settings.burst);
    Ok(Box::new(e))
}

/// What the arguments say.
struct Settings {
    limit: Arguments,
    length: Length,
    active: Option<bool>,
    burst: Option<u32>,
}

impl Settings {
    fn read(args: Args<'_, '_>, bytes: bool) -> Result<Settings, ConfigError> {
        let (mut limit, mut length) = (Arguments::new(bytes), Length::default());
        let (mut active, mut burst) = (None, None);
        let mut args = limit.read(args).keyword("ACTIVE", &mut active).keyword("BURST", &mut burst);
        if bytes {
            args = args.keyword("EXTRA_LENGTH", &mut length.extra).keyword("LINK_RATE", &mut length.link);
        }
        args.finish()?;
        Ok(Settings { limit, length, active, burst })
    }
}

/// What counts of a packet where bytes do.
#[derive(Clone, Copy, Default)]
struct Length {
    /// Also what the extra length annotation says.
    extra: bool,
    /// Bits, also those that a frame takes on a cable beside its bytes.
    link: bool,
}

/// Bytes that a frame takes on a cable beside its own: check sequence, preamble and gap.
const ON_CABLE: usize = 24;

impl Length {
    fn of(self, packet: &Packet) -> usize {
        let extra = if self.extra { packet.anno(Anno::EXTRA_LENGTH) as usize } else { 0 };
        let bytes = packet.len().saturating_add(extra);
        if self.link { bytes.saturating_add(ON_CABLE).saturating_mul(8) } else { bytes }
    }
}

impl RatedUnqueue {
    /// Takes the arguments that stay as they are unless they are given.
    fn set(&mut self, active: Option<bool>, burst: Option<u32>) {
        self.drive.active = active.unwrap_or(self.drive.active);
        self.burst = burst.map_or(self.burst, |burst| burst.max(1) as usize);
    }

    fn adopt(&mut self, cx: &mut Cx<'_>, config: &str) -> Result<(), ConfigError> {
        let settings = Settings::read(router::arguments(cx, config), self.limit.counts_bytes())?;
        let mut limit = RateLimit::of(settings.limit)?;
        limit.adopt(&self.limit.bucket());
        (self.limit, self.length) = (limit, settings.length);
        self.set(settings.active, settings.burst);
        cx.tasks().schedule();
        Ok(())
    }

    /// The size of the next request. In steps of a vector, so that packets go on before the next are pulled.
    fn step(&mut self, cx: &Cx<'_>) -> usize {
        self.asked = self.left.min(cx.vector()).min(BATCH_MAX);
        self.asked
    }
}

impl Element for RatedUnqueue {
    fn reconfigure(&mut self, cx: &mut Cx<'_>, config: &str) -> Option<Result<(), ConfigError>> {
        Some(self.adopt(cx, config))
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().listen(0);
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.drive.runs += 1;
        if !self.drive.active {
            return;
        }
        if self.limit.allows(cx.now_ns()) {
            self.left = self.limit.at_once(self.burst);
            let want = self.step(cx);
            return cx.ask(0, want);
        }
        self.drive.empty_runs += 1;
        if let Some(at) = self.limit.next_ns(cx.now_ns()) {
            cx.timers().at(0, at);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        let got = batch.len();
        if got == 0 {
            self.drive.failed_pulls += 1;
            if cx.signals().may_have(0) {
                self.drive.empty_runs += 1;
                cx.tasks().schedule();
            }
            return Pull::Nothing;
        }
        for packet in batch.iter() {
            self.limit.charge(self.length.of(packet));
        }
        self.drive.pushes += 1;
        self.packets += got as u64;
        self.left = self.left.saturating_sub(got);
        cx.emit(0, batch);
        if got == self.asked && self.left > 0 && self.drive.active {
            return Pull::Ask { input: 0, want: self.step(cx) };
        }
        cx.tasks().schedule();
        Pull::Nothing
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.tasks().schedule();
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.limit.bucket()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<TokenBucket>() {
            self.limit.adopt(&state);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type U = RatedUnqueue;
        RateLimit::handlers(h, |e: &mut U| &mut e.limit, |cx| cx.tasks().schedule());
        Drive::handlers(h, |e: &mut U| &mut e.drive);
        h.read("calls", |e: &mut U, _| format!("{}{} packets\n", e.drive.text(), e.packets));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run_and_read};
    use elements_testing::run_to_end;

    /// A burst at the start, then the rate, from the first packet on.
    #[test]
    fn burst_and_rate() {
        let config = "InfiniteSource(LIMIT 500, BURST 500) -> Queue -> u :: RatedUnqueue(10, BURST_SIZE 3)
                      -> c :: Counter -> Discard; RatedSource(RATE 10, LIMIT 11, STOP true) -> Discard";
        let read = run_and_read(config, &["c.count", "u.rate", "u.active"]);
        assert!(["12", "13"].contains(&read[0].as_str()), "{read:?}");
        assert_eq!(read[1..], ["10", "true"]);
    }

    /// With BURST packets leave together, but no more than the rate allows, whatever the vector is.
    #[test]
    fn in_bursts() {
        let config = "InfiniteSource(LIMIT 7, BURST 7) -> Queue -> u :: RatedUnqueue(10, BURST_SIZE 5, BURST 3) -> c :: Counter -> Discard;
                      Script(wait 0.05, print $(c.count), stop)";
        for vector in [1, 32] {
            let mut router =
                crate::testing::build(config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
            run_to_end(&mut router);
            let calls = router.call(router::Call::read("u.calls", "")).unwrap_or_default();
            assert!(calls.starts_with("3 calls to run_task()\n1 empty runs\n"), "{vector}: {calls}");
            assert!(calls.ends_with("\n5 packets\n"), "{vector}: {calls}");
        }
    }

    #[test]
    fn one_burst_argument() {
        let text = errors("Idle -> RatedUnqueue(1, BURST_SIZE 2, BURST_DURATION 1s) -> Discard");
        assert!(text.contains("cannot specify both BURST_DURATION and BURST_SIZE"), "{text}");
    }
}
