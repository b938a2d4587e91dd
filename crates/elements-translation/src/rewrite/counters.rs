//! Handlers that say what happened to a rewriter's flows.

use super::counts::{Refusal, Totals};
use super::nat::Nat;
use crate::end::End;
use crate::metrics;
use router::{Element, Handlers, Metric};
use std::fmt::Write as _;

/// A count: its handler, its metric, and where it is.
type Count = (&'static str, &'static Metric, fn(&Totals) -> u64);

const COUNTS: [Count; 4] = [
    ("made", &metrics::MADE, |totals| totals.made),
    ("evictions", &metrics::EVICTIONS, |totals| totals.ended[End::Evicted as usize]),
    ("expiries", &metrics::EXPIRIES, |totals| totals.ended[End::Expired as usize]),
    ("quota_refusals", &metrics::QUOTA_REFUSALS, |totals| totals.refused[Refusal::OverQuota as usize]),
];

/// Adds them to those of an element.
pub(super) fn handlers<E: Element>(
    h: &mut Handlers,
    nat: impl Fn(&E) -> &Nat + Copy + Send + Sync + 'static,
) {
    for (name, metric, count) in COUNTS {
        h.read(name, move |e: &mut E, _| count(&nat(e).totals())).measures(metric);
    }
    h.read("counters", move |e: &mut E, _| {
        nat(e).counters().iter().map(|(number, what)| format!("{number}\t{what}\n")).collect::<String>()
    });
    h.read("counters_json", move |e: &mut E, _| {
        let mut text = String::from("{");
        for (at, (number, what)) in nat(e).counters().into_iter().enumerate() {
            let _ = write!(text, "{}\"{what}\":{number}", if at > 0 { "," } else { "" });
        }
        text + "}\n"
    });
}

impl Nat {
    /// Numbers and what they count.
    fn counters(&self) -> [(u64, &'static str); 8] {
        let Totals { made, ended, refused: [full, over_quota] } = self.totals();
        let failures: u64 = self.counts().iter().map(|counts| u64::from(counts.failures())).sum();
        let ended = |end: End| ended[end as usize];
        [
            (made, "flows made"),
            (full, "flows refused"),
            (over_quota, "flows over quota"),
            (failures.saturating_sub(full + over_quota), "flows without a port or address"),
            (ended(End::Expired), "flows expired"),
            (ended(End::Evicted), "flows evicted"),
            (ended(End::Replaced), "flows replaced"),
            (ended(End::Killed), "flows killed"),
        ]
    }
}
