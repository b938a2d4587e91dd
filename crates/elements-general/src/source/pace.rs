//! What the fast sources share: a rate, a limit, and the average rate from the first packet to the last.

use crate::queueing::shaper;
use elements_shared::rate::GapRate;
use router::{Cx, Element, Handlers, metric};

/// How fast a source that is pulled from makes packets, and how many.
pub(super) struct Pace {
    /// Unlimited if missing.
    rate: Option<GapRate>,
    pub(super) limit: i32,
    pub(super) active: bool,
    /// Packets made.
    pub(super) count: u64,
    first_ns: i64,
    last_ns: i64,
}

impl Pace {
    /// A pace of `rate` packets a second, 0 meaning as many as are pulled, and `limit` in all, a negative one meaning any number.
    ///
    /// # Errors
    /// A rate that is too high.
    pub(super) fn new(rate: u32, limit: i32, active: bool) -> Result<Pace, String> {
        let rate = match rate {
            0 => None,
            rate => Some(GapRate::new(shaper::checked(rate)?)),
        };
        Ok(Pace { rate, limit, active, count: 0, first_ns: 0, last_ns: 0 })
    }

    /// Packets up to the limit.
    pub(super) fn left(&self) -> usize {
        u64::try_from(self.limit).map_or(usize::MAX, |limit| limit.saturating_sub(self.count) as usize)
    }

    /// Packets that the rate allows now.
    pub(super) fn due(&mut self, cx: &Cx<'_>) -> usize {
        self.rate.as_mut().map_or(usize::MAX, |rate| rate.allowance(cx.now_ns()))
    }

    /// There is nothing for now: pullers sleep, until more is `due` if that is why.
    pub(super) fn rest(&self, cx: &mut Cx<'_>, due: usize) {
        cx.signals().set(false);
        self.wait(cx, due);
    }

    /// Sets a timer for when more is `due`, if nothing is.
    pub(super) fn wait(&self, cx: &mut Cx<'_>, due: usize) {
        let next = self.rate.as_ref().and_then(|rate| rate.next_ns(cx.now_ns()));
        if let (0, Some(at)) = (due, next) {
            cx.timers().at(0, at);
        }
    }

    /// A packet was made.
    pub(super) fn made_one(&mut self, cx: &Cx<'_>) {
        self.count += 1;
        if self.count == 1 {
            self.first_ns = cx.now_ns();
        }
        if self.left() == 0 {
            self.last_ns = cx.now_ns();
        }
    }

    /// So many packets go out together.
    pub(super) fn spend(&mut self, packets: usize) {
        if let Some(rate) = &mut self.rate {
            rate.spend(packets);
        }
    }

    /// Begins to count again.
    pub(super) fn reset(&mut self) {
        (self.count, self.first_ns, self.last_ns) = (0, 0, 0);
    }

    /// The average rate, once it is over.
    fn average(&self) -> u64 {
        let ms = u64::try_from((self.last_ns - self.first_ns) / 1_000_000).unwrap_or(0).max(1);
        if self.last_ns == 0 { 0 } else { self.count * 1000 / ms }
    }
}

/// A source that keeps a pace.
pub(super) trait Paced: Element {
    /// What the handler `active` says to what is no boolean.
    const INACTIVE: &'static str = "active parameter must be boolean";

    fn pace(&mut self) -> &mut Pace;

    /// Starts again.
    fn reset(&mut self, cx: &mut Cx<'_>);

    /// There is another limit.
    fn limit_changed(&mut self) {}

    /// There may be packets again.
    fn wake(&mut self, cx: &mut Cx<'_>) {
        cx.signals().set(true);
    }
}

/// The handlers `count`, `rate`, `reset`, `active` and `limit`.
pub(super) fn handlers<S: Paced>(h: &mut Handlers) {
    h.read("count", |e: &mut S, _| e.pace().count).measures(&metric::PACKETS);
    h.read("rate", |e: &mut S, _| e.pace().average());
    h.write("rate", |e: &mut S, cx, text| {
        let rate = router::value(cx, text).map_err(|_| "rate parameter must be integer >= 0")?;
        let rate = shaper::checked(rate)?;
        let now = cx.now_ns();
        e.pace().rate.get_or_insert_with(|| GapRate::new(rate)).set(rate, now);
        e.wake(cx);
        Ok(())
    });
    h.write("reset", |e: &mut S, cx, _| {
        e.reset(cx);
        Ok(())
    })
    .as_button();
    h.write("active", |e: &mut S, cx, text| {
        e.pace().active = router::value(cx, text).map_err(|_| S::INACTIVE.to_owned())?;
        if e.pace().active {
            e.reset(cx);
        }
        Ok(())
    });
    h.write("limit", |e: &mut S, cx, text| {
        e.pace().limit =
            router::value(cx, text).map_err(|_| "limit parameter must be integer >= 0".to_owned())?;
        e.limit_changed();
        e.wake(cx);
        Ok(())
    });
}
