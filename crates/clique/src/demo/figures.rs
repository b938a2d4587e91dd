//! What the demonstration counts, line by line and at the end.

use super::check::Checker;
use super::table::Table;
use device::memory::{Interface, Stats};
use router::Handle;
use serde_json::json;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    at_s: f64,
    received: u64,
    sent: u64,
    sent_bytes: u64,
    changes: u64,
    grace_periods: u64,
    reclaim_bytes: u64,
}

impl Sample {
    /// The heading of the lines.
    pub(super) const HEADING: &str = "  time      in     out     out  ns a packet   route changes  grace periods  waiting for\n\
         \x20    s    Mpps    Mpps  Gbit/s    and worker        a second       a second   reclaim, B";

    /// Reads all counters; none of it stops a worker.
    pub(super) fn take(handle: &Handle, interfaces: &[Arc<Interface>], changes: u64, at: Duration) -> Sample {
        let _ = handle;
        let sum =
            |f: fn(&Interface) -> Stats| interfaces.iter().map(|i| f(i)).fold(Stats::default(), |a, b| a + b);
        let (received, sent) = (sum(Interface::rx_stats), sum(Interface::tx_stats));
        let rcu = rcu::Domain::global().stats();
        Sample {
            at_s: at.as_secs_f64(),
            received: received.packets,
            sent: sent.packets,
            sent_bytes: sent.bytes,
            changes,
            grace_periods: rcu.grace_periods,
            reclaim_bytes: rcu.bytes_waiting as u64,
        }
    }
}

/// The whole course.
pub(super) struct Figures {
    workers: usize,
    samples: Vec<Sample>,
    /// Drops by element and reason.
    pub(super) drops: Vec<(String, String, u64)>,
    checked: u64,
    disagreeing: u64,
    /// What did not agree, or went wrong.
    pub(super) disagreements: Vec<String>,
}

impl Figures {
    pub(super) fn new(workers: usize) -> Figures {
        Figures {
            workers,
            samples: vec![Sample::default()],
            drops: Vec::new(),
            checked: 0,
            disagreeing: 0,
            disagreements: Vec::new(),
        }
    }

    /// Adds a sample; the line about what happened since the one before.
    pub(super) fn add(&mut self, sample: Sample) -> String {
        let before = self.samples.last().copied().unwrap_or_default();
        self.samples.push(sample);
        let rates = Rates::between(before, sample, self.workers);
        format!(
            "{:6.1} {:7.2} {:7.2} {:7.2} {:13.1} {:15.0} {:14.0} {:12}",
            sample.at_s,
            rates.received_mpps,
            rates.sent_mpps,
            rates.sent_gbps,
            rates.ns_per_packet,
            rates.changes,
            rates.grace_periods,
            sample.reclaim_bytes
        )
    }

    /// Takes the outcome of the checks over.
    pub(super) fn checked(&mut self, checker: &Checker<'_>, errors: Vec<String>) {
        self.checked = checker.checked;
        self.disagreeing = checker.disagreeing;
        self.disagreements = checker.disagreements.iter().cloned().chain(errors).collect();
    }

    fn total(&self) -> (Sample, Rates) {
        let last = self.samples.last().copied().unwrap_or_default();
        (last, Rates::between(Sample::default(), last, self.workers))
    }

    /// The final table.
    pub(super) fn text(&self) -> String {
        let (last, rates) = self.total();
        let mut text = String::new();
        let _ = writeln!(text, "\n{:<40} {:>14}", "in all, in memory, no network card", "");
        let mut row = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<40} {value:>14}");
        };
        row("workers", self.workers.to_string());
        row("packets received", last.received.to_string());
        row("packets sent", last.sent.to_string());
        row("million packets a second received", format!("{:.2}", rates.received_mpps));
        row("ns a packet and worker", format!("{:.1}", rates.ns_per_packet));
        row("route changes", last.changes.to_string());
        row("grace periods", last.grace_periods.to_string());
        for (element, reason, count) in self.drops.iter().filter(|(.., count)| *count > 0) {
            row(&format!("dropped by {element}: {reason}"), count.to_string());
        }
        row("packets checked against the naive table", self.checked.to_string());
        row("of these disagree", self.disagreeing.to_string());
        for line in &self.disagreements {
            let _ = writeln!(text, "  {line}");
        }
        text.pop();
        text
    }

    /// The same as JSON.
    pub(super) fn json(&self, table: &Table, installed: Duration) -> String {
        let (last, rates) = self.total();
        let seconds: Vec<_> = self
            .samples
            .windows(2)
            .map(|pair| (pair[1], Rates::between(pair[0], pair[1], self.workers)))
            .map(|(sample, r)| json!({ "time_s": sample.at_s, "received_mpps": r.received_mpps, "sent_mpps": r.sent_mpps,
                "ns_per_packet": r.ns_per_packet, "changes_per_second": r.changes, "grace_periods_per_second": r.grace_periods,
                "reclaim_bytes": sample.reclaim_bytes }))
            .collect();
        let drops: Vec<_> = self
            .drops
            .iter()
            .map(|(element, reason, count)| json!({ "element": element, "reason": reason, "packets": count }))
            .collect();
        let report = json!({
            "interfaces": "memory",
            "workers": self.workers,
            "prefixes_v4": table.v4.len(),
            "prefixes_v6": table.v6.len(),
            "install_s": installed.as_secs_f64(),
            "packets_received": last.received,
            "packets_sent": last.sent,
            "received_mpps": rates.received_mpps,
            "ns_per_packet": rates.ns_per_packet,
            "route_changes": last.changes,
            "grace_periods": last.grace_periods,
            "checked": self.checked,
            "disagreeing": self.disagreeing,
            "disagreements": self.disagreements,
            "drops": drops,
            "seconds": seconds,
        });
        format!("{report:#}")
    }
}

/// Rates between two samples.
struct Rates {
    received_mpps: f64,
    sent_mpps: f64,
    sent_gbps: f64,
    /// Worker time a received packet.
    ns_per_packet: f64,
    changes: f64,
    grace_periods: f64,
}

impl Rates {
    fn between(before: Sample, after: Sample, workers: usize) -> Rates {
        let seconds = (after.at_s - before.at_s).max(1e-9);
        let rate = |f: fn(&Sample) -> u64| f(&after).saturating_sub(f(&before)) as f64 / seconds;
        let received = rate(|s| s.received);
        Rates {
            received_mpps: received / 1e6,
            sent_mpps: rate(|s| s.sent) / 1e6,
            sent_gbps: rate(|s| s.sent_bytes) * 8.0 / 1e9,
            ns_per_packet: if received > 0.0 { workers as f64 * 1e9 / received } else { 0.0 },
            changes: rate(|s| s.changes),
            grace_periods: rate(|s| s.grace_periods),
        }
    }
}
