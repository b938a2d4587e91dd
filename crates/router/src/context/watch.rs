//! What a worker notes of its packets while it is observed.

use crate::shared::observing::{Cost, Trace, View};
use std::sync::Arc;
use std::time::Instant;

/// One turn in so many is looked at for the time that elements take.
pub(crate) const TURNS: u64 = 1_024;

/// For so long after a client has asked, drops of known reasons are looked at again.
pub(crate) const FRESH_NS: i64 = 2_000_000_000;

/// A packet that was dropped, as an example of its reason.
pub(crate) type Sample = (&'static str, View);

/// Dropped packets that an element has asked for, and how many more it wants.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) left: usize,
    pub(crate) seen: Vec<Sample>,
}

/// What a worker notes.
pub(crate) struct Watch {
    /// The first turn that is looked at again; 0 where each one is.
    pub(crate) next_turn: u64,
    /// Whether the time that elements take is noted in this turn.
    pub(crate) timed: bool,
    /// What reading the clock takes, in nanoseconds.
    pub(crate) clock_ns: u64,
    pub(crate) trace: Option<Arc<Trace>>,
    /// The traced packet that the running element has dropped.
    pub(crate) dropped: Option<u32>,
    /// Whether drops of reasons that are known already are looked at.
    pub(crate) drops: bool,
    /// Until when, unless a trace wants it.
    pub(crate) drops_until_ns: i64,
    /// Dropped packets, one for each element and reason.
    pub(crate) samples: Vec<Vec<Sample>>,
    /// What an element wants to see of dropped packets.
    pub(crate) wanted: Wanted,
    /// What each element has cost in the turns that were looked at.
    pub(crate) costs: Vec<Cost>,
    pub(crate) turns: u64,
}

impl Watch {
    pub(crate) fn new(elements: usize, simulated: bool) -> Watch {
        Watch {
            // Simulated time says nothing about work.
            next_turn: if simulated { u64::MAX } else { 1 },
            timed: false,
            clock_ns: 0,
            trace: None,
            dropped: None,
            drops: false,
            drops_until_ns: 0,
            samples: vec![Vec::new(); elements],
            wanted: Wanted::default(),
            costs: vec![Cost::default(); elements],
            turns: 0,
        }
    }

    /// Keeps a packet as the example of an element's reason.
    pub(crate) fn keep_sample(&mut self, element: usize, reason: &'static str, view: View) {
        let Some(samples) = self.samples.get_mut(element) else { return };
        match samples.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, old)) => *old = view,
            None => samples.push((reason, view)),
        }
    }

    /// When a measured piece of work begins, if it is to be measured.
    #[inline]
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.timed.then(Instant::now)
    }

    /// Notes a call of an element that began then.
    #[inline]
    pub(crate) fn end(&mut self, begun: Option<Instant>, element: usize, packets: usize) {
        if let (Some(begun), Some(cost)) = (begun, self.costs.get_mut(element)) {
            let ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            cost.add(packets, ns.saturating_sub(self.clock_ns));
        }
    }
}

/// What reading the clock takes, in nanoseconds.
pub(crate) fn clock_ns() -> u64 {
    let begun = Instant::now();
    (0..16).for_each(|_| {
        std::hint::black_box(Instant::now());
    });
    u64::try_from(begun.elapsed().as_nanos() / 17).unwrap_or(0)
}
