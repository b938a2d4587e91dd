//! Packets of an association that the gateway where they arrive does not know yet.
//!
//! IPsec lets them wait for it, so that a peer may use new keys a little before this end has them. They wait through hot swaps, too: those that
//! came while the association was not known arrive once it is, if that is soon.

use super::{Associations, UNDER_WAY_NS};
use crate::ledger::{Entry, Ledger, Sent};
use crate::model::{Fate, Model};

/// How long a packet waits for its association by the element's manual, less what a story may hold it on its way.
const SOON_NS: i64 = 600_000_000;
/// Packets that wait on a worker, at most.
const MOST: usize = 256;
/// What a part of a message has at least, if it has several.
const PART: usize = 1_200;

/// Packets to a side that wait, as far as the model follows them.
#[derive(Clone, Default)]
pub(super) struct Early {
    /// Since when, by the side where they arrive; `None` if none waits.
    since_ns: [Option<i64>; 2],
    /// The gateway whose swap has just brought the associations that were missing, and did nothing else.
    opens: [bool; 2],
    /// Whether something has just changed that what waits, or has just waited, depends on.
    upset: bool,
    /// What has waited.
    waits: Vec<Wait>,
}

/// A time in which packets to a side waited, up to when their association was there.
#[derive(Clone)]
struct Wait {
    to: usize,
    from_ns: i64,
    until_ns: i64,
    /// The model that held then.
    then: Box<Associations>,
}

impl Early {
    /// The gateway of a side has got what it did not know, and has not changed otherwise.
    pub(super) fn open(&mut self, to: usize) {
        self.opens[to] = true;
    }

    /// What waits may have come to nothing: the model does not follow it further.
    pub(super) fn give_up(&mut self) {
        self.since_ns.iter_mut().flatten().for_each(|since_ns| *since_ns = i64::MAX);
        self.upset = true;
    }

    /// What has just waited to either side may still be on its way, and meet what changes now.
    fn forget_since(&mut self, since_ns: i64, to: impl Fn(usize) -> bool) {
        self.waits.retain(|wait| !to(wait.to) || wait.until_ns < since_ns);
    }
}

impl Associations {
    /// A change is over: do packets to a side wait from now on, or no longer?
    pub(super) fn settle_early(&mut self, to: usize, now_ns: i64) {
        let recent_ns = now_ns - 2 * UNDER_WAY_NS;
        if std::mem::take(&mut self.early.upset) {
            self.early.forget_since(recent_ns, |_| true);
        }
        let (waits, opens) = (self.waits_at(to), std::mem::take(&mut self.early.opens[to]));
        match self.early.since_ns[to] {
            None if waits => {
                self.early.since_ns[to] = Some(now_ns);
                self.early.forget_since(recent_ns, |side| side == to);
            }
            Some(from_ns) if !waits => {
                self.early.since_ns[to] = None;
                if opens {
                    let then = Box::new(Associations { early: Early::default(), ..self.clone() });
                    self.early.waits.push(Wait { to, from_ns, until_ns: now_ns, then });
                }
            }
            _ => {}
        }
    }

    /// Messages that had to wait, and are missing.
    pub(super) fn missing(&self, ledger: &Ledger) -> Vec<String> {
        self.early.waits.iter().flat_map(|wait| wait.missing(ledger)).collect()
    }
}

impl Wait {
    fn missing(&self, ledger: &Ledger) -> Vec<String> {
        let sent = || ledger.all().filter_map(|(_, entry)| Some((entry.sent.as_ref()?, entry)));
        let during = |sent: &Sent| (self.from_ns..self.until_ns).contains(&sent.at_ns);
        // Each may have come twice.
        let count = |(sent, _): &(&Sent, &Entry)| during(sent) && sent.at_ns + 2 * SOON_NS > self.until_ns;
        let parts: usize = sent().filter(count).map(|(sent, _)| sent.look.len / PART + 1).sum();
        if parts * 2 > MOST {
            return Vec::new();
        }
        let waited =
            |sent: &Sent| during(sent) && sent.host / 2 != self.to && sent.at_ns + SOON_NS > self.until_ns;
        let must = |sent: &Sent| matches!(self.then.fate(sent), Fate::Arrives { .. });
        sent()
            .filter(|(sent, entry)| waited(sent) && entry.arrived.is_empty() && must(sent))
            .map(|(sent, _)| {
                format!("{} was sent before its association was known, and is lost", sent.message)
            })
            .collect()
    }
}
