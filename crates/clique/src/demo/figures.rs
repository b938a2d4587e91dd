//! What the demonstration counts, line by line and at the end.

use super::check::Checker;
use super::look::{BOLD, GREEN, Look, RED};
use super::shares::Shares;
use super::table::Table;
use device::memory::{Interface, Stats};
use router::Handle;
use serde_json::json;
use std::collections::BTreeMap;
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

/// A column of the lines.
struct Column {
    title: &'static str,
    unit: &'static str,
    value: fn(&Sample, &Rates) -> String,
}

/// The columns, those first that a narrow terminal has as well.
const COLUMNS: [Column; 8] = [
    Column { title: "time", unit: "s", value: |sample, _| format!("{:.1}", sample.at_s) },
    Column { title: "in", unit: "Mpps", value: |_, rates| format!("{:.2}", rates.received_mpps) },
    Column { title: "out", unit: "Mpps", value: |_, rates| format!("{:.2}", rates.sent_mpps) },
    Column { title: "a packet", unit: "ns", value: |_, rates| format!("{:.1}", rates.ns_per_packet) },
    Column { title: "route changes", unit: "1/s", value: |_, rates| format!("{:.0}", rates.changes) },
    Column { title: "out", unit: "Gbit/s", value: |_, rates| format!("{:.2}", rates.sent_gbps) },
    Column { title: "grace periods", unit: "1/s", value: |_, rates| format!("{:.0}", rates.grace_periods) },
    Column {
        title: "waits for reclaim",
        unit: "KiB",
        value: |sample, _| format!("{:.1}", sample.reclaim_bytes as f64 / 1024.0),
    },
];
/// Characters of a column, at least.
const COLUMN_MIN: usize = 8;

impl Column {
    fn width(&self) -> usize {
        self.title.len().max(COLUMN_MIN)
    }
}

/// The columns that fit into so many characters, the first one at least.
fn fitting(width: usize) -> &'static [Column] {
    let mut used = 0;
    let fits = |column: &&Column| {
        used += column.width() + 2;
        used <= width + 2
    };
    let number = COLUMNS.iter().take_while(fits).count().max(1);
    &COLUMNS[..number]
}

/// A line of cells, aligned to the right.
fn line<'c>(cells: impl Iterator<Item = (&'c Column, String)>) -> String {
    let cells = cells.map(|(column, cell)| format!("{cell:>width$}", width = column.width()));
    cells.collect::<Vec<_>>().join("  ")
}

/// What packets are dropped for that were made to be dropped: words in the elements' reasons. The filter of the configuration is for
/// forbidden sources.
const ON_PURPOSE: [&str; 8] =
    ["ttl", "hop limit", "expired", "checksum", "source", "no route", "filtered", "icmp errors"];

/// The whole course.
pub(super) struct Figures {
    workers: usize,
    look: Look,
    /// Whether the traffic was made here, some of it to be dropped.
    is_made: bool,
    samples: Vec<Sample>,
    /// Drops by element and reason.
    pub(super) drops: Vec<(String, String, u64)>,
    /// What the element classes take of the time.
    pub(super) shares: Shares,
    checked: u64,
    disagreeing: u64,
    /// What did not agree, or went wrong.
    pub(super) disagreements: Vec<String>,
}

impl Figures {
    pub(super) fn new(workers: usize, is_made: bool, look: Look) -> Figures {
        Figures {
            workers,
            look,
            is_made,
            samples: vec![Sample::default()],
            drops: Vec::new(),
            shares: Shares::default(),
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
        line(fitting(self.look.width).iter().map(|column| (column, (column.value)(&sample, &rates))))
    }

    /// The heading of the lines: what, and in which unit.
    pub(super) fn heading(&self) -> String {
        let columns = fitting(self.look.width);
        let titles = line(columns.iter().map(|column| (column, column.title.to_owned())));
        let units = line(columns.iter().map(|column| (column, column.unit.to_owned())));
        format!("{}\n{units}", self.look.paint(BOLD, &titles))
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

    /// The final table, a verdict, and what to try next.
    pub(super) fn text(&self) -> String {
        let (last, rates) = self.total();
        let mut text = String::new();
        let title = format!("In {:.1} s, in memory: no network card is involved", last.at_s);
        let _ = writeln!(text, "\n{}", self.look.paint(BOLD, &self.look.fold(&title)));
        let mut row = |name: &str, value: String| {
            let _ = writeln!(text, "  {name:<40} {value:>14}");
        };
        row("workers", self.workers.to_string());
        row("packets received", last.received.to_string());
        row("packets sent", last.sent.to_string());
        row("received, million packets a second", format!("{:.2}", rates.received_mpps));
        row("time of a worker for a packet, ns", format!("{:.1}", rates.ns_per_packet));
        row("route changes", last.changes.to_string());
        row("grace periods", last.grace_periods.to_string());
        row("packets checked against a naive table", self.checked.to_string());
        row("of these disagree", self.disagreeing.to_string());
        text += &self.shares.text(self.look, rates.ns_per_packet);
        self.write_drops(&mut text);
        for line in &self.disagreements {
            let _ = writeln!(text, "{}", self.look.fold(&format!("  {line}")));
        }
        let _ = write!(text, "\n{}\n\n{}", self.verdict(), next(self.look));
        text
    }

    /// Drops by reason: first those of packets that were made for it.
    fn write_drops(&self, text: &mut String) {
        let mut by_reason: BTreeMap<(bool, &str), u64> = BTreeMap::new();
        for (_, reason, count) in self.drops.iter().filter(|(.., count)| *count > 0) {
            let small = reason.to_ascii_lowercase();
            let meant = self.is_made && ON_PURPOSE.iter().any(|word| small.contains(word));
            *by_reason.entry((!meant, reason)).or_default() += count;
        }
        for (other, title) in [
            (false, "Dropped on purpose: the traffic has packets that no router may forward"),
            (true, "Dropped"),
        ] {
            let mut reasons: Vec<_> =
                by_reason.iter().filter(|((is_other, _), _)| *is_other == other).collect();
            reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            if !reasons.is_empty() {
                let _ = writeln!(text, "\n{}", self.look.paint(BOLD, &self.look.fold(title)));
            }
            for ((_, reason), count) in reasons {
                let _ = writeln!(text, "  {reason:<40} {count:>14}");
            }
        }
    }

    /// What it shows, in a sentence.
    fn verdict(&self) -> String {
        let (last, _) = self.total();
        match (self.disagreements.is_empty(), self.checked) {
            (true, 0) => "Nothing was checked: the run was too short.".to_owned(),
            (true, checked) => self.look.paint(
                GREEN,
                &self.look.fold(&format!("Right: all {checked} packets that were checked left where the table says, while {} routes changed.", last.changes)),
            ),
            (false, _) => self.look.paint(RED, &self.look.fold("Wrong: some packets left where no table says. Please report it.")),
        }
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
            "time": self.shares.json(rates.ns_per_packet),
            "drops": drops,
            "seconds": seconds,
        });
        format!("{report:#}")
    }
}

/// What to try next.
const NEXT: [(&str, &str); 4] = [
    ("clique demo -j 1 --updates 0", "one worker, a table that stands still"),
    ("clique elements RadixIPLookup", "the manual of a route table"),
    ("clique doctor", "is this machine ready for a router?"),
    ("clique run --from-host", "forward in the place of the kernel, as root"),
];

/// What to try next: beside each command what it is for, or below it where that does not fit.
fn next(look: Look) -> String {
    let beside = NEXT.iter().all(|(_, what)| 6 + 36 + what.len() <= look.width);
    let line = |(number, (command, what)): (usize, &(&str, &str))| {
        let first = if number == 0 { "Next:" } else { "" };
        if beside {
            format!("{first:<6}{command:<36}{what}")
        } else {
            format!("{first:<6}{command}\n{:<8}{what}", "")
        }
    };
    NEXT.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(width: usize) -> Figures {
        Figures::new(2, true, Look { width, color: false })
    }

    /// No terminal has to wrap a line, and columns stand below their headings.
    #[test]
    fn lines_fit_and_are_aligned() {
        for width in 20..120 {
            let mut figures = figures(width);
            let (heading, line) = (
                figures.heading(),
                figures.add(Sample { at_s: 1.0, received: 5_000_000, ..Sample::default() }),
            );
            let lengths: Vec<usize> = heading.lines().chain([line.as_str()]).map(str::len).collect();
            assert!(
                lengths.iter().all(|length| *length == lengths[0] && *length <= width),
                "{width}: {lengths:?}"
            );
        }
        assert_eq!(fitting(120).len(), COLUMNS.len());
    }

    /// The summary does not wrap either.
    #[test]
    fn summaries_fit() {
        for width in [60, 80, 100] {
            let mut figures = figures(width);
            figures.checked = 109_174;
            figures.drops = vec![("a".to_owned(), "TTL expired".to_owned(), 5)];
            for text in [figures.text(), {
                figures.disagreements = vec!["x ".repeat(60)];
                figures.text()
            }] {
                let longest = text.lines().map(|line| line.chars().count()).max();
                assert!(longest <= Some(width), "{width}: {longest:?} in {text}");
            }
        }
    }

    /// Reasons are grouped: those of packets that were made to be dropped, and others.
    #[test]
    fn drops_are_told_apart() {
        let mut figures = figures(80);
        let drop = |element: &str, reason: &str, count| (element.to_owned(), reason.to_owned(), count);
        figures.drops =
            vec![drop("a", "TTL expired", 5), drop("b", "TTL expired", 7), drop("q", "queue full", 1)];
        let text = figures.text();
        let (before, after) = text.split_once("\nDropped\n").unwrap();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(before.contains("on purpose"), "{text}");
        assert!(before.lines().any(|line| words(line) == "TTL expired 12"), "{text}");
        assert!(after.contains("queue full"), "{text}");
        figures.is_made = false;
        assert!(!figures.text().contains("on purpose"), "a capture has what it has");
    }
}
