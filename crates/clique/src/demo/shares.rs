//! Where the workers' time goes: shares of the element classes, as bars.

use super::look::{BOLD, Look};
use router::Observer;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Classes that have a bar of their own, at most; the rest share one.
const BARS: usize = 12;
/// Characters of the longest bar.
const BAR_MAX: usize = 30;
/// Those of its line beside it.
const BESIDE_BAR: usize = 31;

/// What the elements of one class have taken, all workers together.
#[derive(Clone, Debug, Default, PartialEq)]
struct Share {
    class: String,
    ns: u64,
    packets: u64,
    batches: u64,
}

impl Share {
    fn merge(&mut self, other: &Share) {
        self.ns += other.ns;
        self.packets += other.packets;
        self.batches += other.batches;
    }
}

/// The shares, largest first. They are samples: of each worker's turns the engine times a few.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares(Vec<Share>);

impl Shares {
    /// Asks the workers; nothing is known of a router that has stopped.
    pub(super) fn take(observer: &Observer) -> Shares {
        let Ok(costs) = observer.costs() else { return Shares::default() };
        let nodes = observer.info().nodes.iter().zip(&costs.elements);
        Shares::of(nodes.map(|(node, cost)| Share {
            class: node.class.name.to_owned(),
            ns: cost.ns,
            packets: cost.packets,
            batches: cost.batches,
        }))
    }

    fn of(elements: impl Iterator<Item = Share>) -> Shares {
        let mut classes: BTreeMap<String, Share> = BTreeMap::new();
        for element in elements.filter(|element| element.ns > 0) {
            let class = classes.entry(element.class.clone()).or_default();
            class.merge(&element);
            class.class = element.class;
        }
        let mut shares: Vec<Share> = classes.into_values().collect();
        shares.sort_by_key(|share| std::cmp::Reverse(share.ns));
        Shares(shares)
    }

    fn total(&self) -> u64 {
        self.0.iter().map(|share| share.ns).sum()
    }

    /// What a class takes of the time of a worker for one received packet, in its unit.
    fn part(&self, share: &Share, whole: f64) -> f64 {
        share.ns as f64 / self.total().max(1) as f64 * whole
    }

    /// A bar for each of the dearest classes, one for all others; empty if nothing was timed. `ns_per_packet` is divided among them.
    pub(super) fn text(&self, look: Look, ns_per_packet: f64) -> String {
        let (own, rest) = self.0.split_at(self.0.len().min(BARS));
        let mut others = Share { class: format!("{} others", rest.len()), ..Share::default() };
        rest.iter().for_each(|share| others.merge(share));
        let rows: Vec<&Share> = own.iter().chain((!rest.is_empty()).then_some(&others)).collect();
        let Some(most) = rows.iter().map(|share| share.ns).max() else { return String::new() };
        let mut text = format!("\n{}\n", look.paint(BOLD, "Where the time of a packet goes, ns"));
        let longest = look.width.saturating_sub(BESIDE_BAR).clamp(1, BAR_MAX);
        for share in rows {
            let bar = "█".repeat((share.ns as usize * longest).div_ceil(most as usize));
            let ns = self.part(share, ns_per_packet);
            let _ = writeln!(text, "  {:<20} {ns:>6.1}  {bar}", share.class);
        }
        text
    }

    /// The same as JSON.
    pub(super) fn json(&self, ns_per_packet: f64) -> Value {
        let row = |share: &Share| {
            let batch = share.packets as f64 / share.batches.max(1) as f64;
            json!({ "class": share.class, "ns_per_received_packet": self.part(share, ns_per_packet), "packets_per_batch": batch })
        };
        self.0.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Look = Look { width: 80, color: false };

    fn share(class: &str, ns: u64) -> Share {
        Share { class: class.to_owned(), ns, packets: 64, batches: 2 }
    }

    /// Elements of a class have one bar, and the bars together the whole time.
    #[test]
    fn classes_are_summed_and_sorted() {
        let shares =
            Shares::of([share("A", 100), share("B", 500), share("A", 300), share("C", 0)].into_iter());
        let json = shares.json(90.0);
        let rows: Vec<_> =
            json.as_array().unwrap().iter().map(|row| row["class"].as_str().unwrap()).collect();
        assert_eq!(rows, ["B", "A"]);
        assert_eq!(json[0]["ns_per_received_packet"], 50.0);
        assert_eq!(json[1]["ns_per_received_packet"], 40.0);
        assert_eq!(json[1]["packets_per_batch"], 32.0);
    }

    /// The longest bar fits, the shortest is seen, and what has no bar of its own is not lost.
    #[test]
    fn bars_fit_and_add_up() {
        let many = (0..40).map(|i| share(&format!("Class{i}"), 1 << i.min(30)));
        let shares = Shares::of(many);
        let text = shares.text(LOOK, 100.0);
        let bars: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(bars.iter().max(), Some(&BAR_MAX), "{text}");
        assert!(text.lines().skip(2).all(|line| line.contains('█')), "{text}");
        assert!(text.contains("28 others"), "{text}");
        let ns = |line: &str| line.split_whitespace().rev().nth(1).and_then(|word| word.parse::<f64>().ok());
        let sum: f64 = text.lines().filter_map(ns).sum();
        assert!((sum - 100.0).abs() < 1.0, "{sum}: {text}");
        assert_eq!(Shares::default().text(LOOK, 100.0), "");
    }
}
