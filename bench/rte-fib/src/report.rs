//! What is printed.

use crate::machine::Machine;
use serde::Serialize;

/// The median and the spread of some rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    /// Of at least one figure.
    pub(crate) fn of(mut figures: Vec<f64>) -> Spread {
        figures.sort_by(f64::total_cmp);
        let last = figures.len() - 1;
        let median = f64::midpoint(figures[last / 2], figures[last.div_ceil(2)]);
        Spread { median, min: figures[0], max: figures[last] }
    }
}

/// One contender with one ring.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    /// `cold` or `warm`.
    pub(crate) caches: &'static str,
    pub(crate) contender: String,
    /// Processor time of the whole path.
    pub(crate) ns_a_packet: Spread,
    /// That less the time of the path with no table, round by round.
    pub(crate) lookup_ns: Option<Spread>,
    /// How many times as long the whole path takes as that with the first lookup element of the product, round by round.
    pub(crate) clique_is_faster: Option<Spread>,
    /// The same of `lookup_ns`.
    pub(crate) clique_lookup_is_faster: Option<Spread>,
}

/// All of it.
#[derive(Serialize)]
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) routes: usize,
    pub(crate) next_hops: u32,
    pub(crate) frame: usize,
    pub(crate) ring_mib: usize,
    /// Packets of a path in a round.
    pub(crate) packets: usize,
    pub(crate) rounds: usize,
    pub(crate) notes: Vec<String>,
    pub(crate) figures: Vec<Figure>,
}

impl Report {
    pub(crate) fn print(&self, json: bool) {
        if json {
            return println!("{}", serde_json::to_string_pretty(self).unwrap_or_default());
        }
        println!("{}", self.machine.line());
        println!(
            "{} routes, {} next hops; {} rounds of {} packets of {} octets; ring of {} MiB",
            self.routes, self.next_hops, self.rounds, self.packets, self.frame, self.ring_mib
        );
        self.notes.iter().for_each(|note| println!("{note}"));
        println!(
            "{:6} {:18} {:>7} {:>7} {:>7} {:>8}  {:>18}  {:>18}",
            "caches", "ns a packet", "median", "min", "max", "lookup", "clique faster by", "its lookup"
        );
        for figure in &self.figures {
            let Spread { median, min, max } = figure.ns_a_packet;
            let lookup = figure.lookup_ns.map_or(String::new(), |ns| format!("{:.1}", ns.median));
            println!(
                "{:6} {:18} {median:7.1} {min:7.1} {max:7.1} {lookup:>8}  {:>18}  {:>18}",
                figure.caches,
                figure.contender,
                ratio(figure.clique_is_faster),
                ratio(figure.clique_lookup_is_faster)
            );
        }
    }
}

/// The median, and from where to where rounds go.
fn ratio(spread: Option<Spread>) -> String {
    spread.map_or(String::new(), |of| format!("{:.2} ({:.2}-{:.2})", of.median, of.min, of.max))
}
