//! Which way flows went that are still going: a next hop that comes, goes or comes back, or a weight that changes, then moves only flows
//! whose own next hop went.
//!
//! Each worker has a table of its own for the flows that it sees, which no other worker looks at (Li, Qing, Macy, "Optimizing
//! the BSD routing system for parallel processing", PRESTO 2009, section 4; the table is [`flows::Table`]). It never says where a route leads, only
//! which of the next hops that the route has now a flow goes on with; a flow that is not in it goes where its hash says. A flow is
//! established by the next packet after the one with which it came in: no other displaces it then. So a sender who fills the table with flows gains
//! nothing but that new ones are treated as without a table, until their second packet.

use super::family::{Family, Parts};
use super::target::{Forwarding, Hop};
use elements_shared::flow_hash::Flows;
use flows::{Flow, Limits, Stats, Table};
use packet::{BATCH_MAX, Packet};
use std::time::Duration;

/// Flows that may be new, of all: one of so many.
const NEW: usize = 2;
/// Flows that are looked at for each packet, to end those whose time is over.
const LOOKS: usize = 2;

/// The next hop that a flow goes on with.
type Way<F> = Option<Hop<<F as Family>::Gateway>>;

/// The table.
pub(super) struct Sticky<F: Family> {
    table: Table<F::Tuple, Way<F>>,
    /// Of the packets at hand, the flows and their hashes.
    at_hand: Vec<(u64, Option<F::Tuple>)>,
    /// Flows that it is to have room for.
    capacity: usize,
    /// Flows that went on with another next hop, because theirs was gone.
    pub(super) moved: u64,
}

impl<F: Family> Sticky<F> {
    /// A table for so many flows, each remembered for so long after its last packet.
    pub(super) fn new(flows: usize, timeout: Duration, hash: &Flows) -> Self {
        let limits = Limits { unconfirmed: flows.div_ceil(NEW), earned: true, ..Limits::new(flows) };
        let table = Table::new(limits.with_timeout(timeout), hash.key);
        Sticky { table, at_hand: Vec::with_capacity(BATCH_MAX), capacity: flows, moved: 0 }
    }

    /// Says which packets are at hand: [`Sticky::choose`] names them by their numbers. Asks for the memory that it needs for them, and
    /// ends flows whose time is over.
    pub(super) fn meet<'p>(&mut self, packets: impl Iterator<Item = &'p Packet>, hash: &Flows, now_ns: i64) {
        self.at_hand.clear();
        self.table.grow(self.capacity);
        for packet in packets {
            let tuple = F::tuple(packet, hash);
            let hash = tuple.map_or(0, |tuple| self.table.hash(&tuple));
            self.table.prefetch(hash);
            self.at_hand.push((hash, tuple));
        }
        self.table.expire(now_ns, LOOKS * self.at_hand.len(), &mut |_, _| ());
        self.at_hand.iter().for_each(|(hash, _)| self.table.prefetch_record(*hash));
    }

    /// Where a packet's flow goes: where it went, if that is one of its route's next hops still; otherwise where its hash says, also from
    /// now on. None if the route leads nowhere.
    pub(super) fn choose(&mut self, packet: usize, now_ns: i64, forwarding: &Forwarding<F>) -> Way<F> {
        let (hash, tuple) = self.at_hand.get(packet).copied().unwrap_or_default();
        let Some(tuple) = tuple else { return forwarding.pick(|| hash) };
        let Some(slot) = self.table.find(hash, &tuple) else {
            let chosen = forwarding.pick(|| hash)?;
            // What is refused is counted there.
            let _ = self.table.insert(hash, tuple, Some(chosen), now_ns);
            return Some(chosen);
        };
        let over = self.table.is_over(slot, now_ns);
        let way = self.table.meet(slot, now_ns)?;
        if let Some(hop) = way.filter(|hop| !over && forwarding.leads_to(hop)) {
            return Some(hop);
        }
        let chosen = forwarding.pick(|| hash);
        // While the route leads nowhere a flow waits for its next hop.
        if over || chosen.is_some() {
            self.moved += u64::from(!over);
            *way = chosen;
        }
        chosen
    }

    /// The table, for an element that replaces this one.
    pub(super) fn give(&mut self) -> Self {
        let empty = Table::new(Limits::new(0), flows::HashKey::new(0));
        let table = std::mem::replace(&mut self.table, empty);
        Sticky { table, at_hand: Vec::new(), capacity: self.capacity, moved: self.moved }
    }

    /// Goes on with the flows of another table; with its memory, if that is as large and hashes alike.
    pub(super) fn adopt(&mut self, mut old: Self, alike: bool, now_ns: i64) {
        if alike && self.table.is_empty() && old.table.limits() == self.table.limits() {
            self.table = old.table;
            self.moved = old.moved;
            return;
        }
        for flow in old.table.drain(now_ns) {
            // As far as there is room.
            let _ = self.table.restore(flow, now_ns);
        }
    }

    /// Flows that there is room for; less than was asked for while the table grows.
    pub(super) fn capacity(&self) -> usize {
        self.table.limits().capacity
    }

    /// Asks for room for so many flows: it is made while packets come, a few microseconds each time.
    ///
    /// # Errors
    /// For less than there is.
    pub(super) fn grow(&mut self, flows: usize) -> Result<(), String> {
        if flows < self.capacity {
            return Err(format!("a table in use does not shrink: it has room for {} flows", self.capacity));
        }
        self.capacity = flows;
        Ok(())
    }

    /// Flows that are remembered.
    pub(super) fn len(&self, now_ns: i64) -> usize {
        self.table.iter(now_ns).filter(|(slot, _)| !self.table.is_over(*slot, now_ns)).count()
    }

    /// What the table counted.
    pub(super) fn stats(&self) -> Stats {
        self.table.stats()
    }

    /// All flows, a line each.
    pub(super) fn list(&self, now_ns: i64) -> String {
        let alive = self.table.iter(now_ns).filter(|(slot, _)| !self.table.is_over(*slot, now_ns));
        alive.map(|(_, flow)| line::<F>(&flow) + "\n").collect()
    }

    /// Forgets the flows whose lines begin with these words, of which `*` stands for any.
    pub(super) fn kill(&mut self, words: &[String], now_ns: i64) {
        let is = |line: &str| {
            let mut columns = line.split(' ');
            words.iter().all(|word| columns.next().is_some_and(|column| word == "*" || word == column))
        };
        let all = self.table.iter(now_ns);
        let these: Vec<_> = all.filter(|(_, flow)| is(&line::<F>(flow))).map(|(slot, _)| slot).collect();
        for slot in these {
            self.table.remove(slot);
        }
    }

    /// Takes in flows as [`Sticky::list`] writes them, in the place of those that are known; none if a line is not understood.
    ///
    /// # Errors
    /// The first line that is wrong, by its number.
    pub(super) fn load(&mut self, text: &str, outputs: usize, now_ns: i64) -> Result<(), String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            read_line::<F>(line, outputs)
                .ok_or_else(|| format!("line {}: expected a flow as `flow_list` writes it", at + 1))
        };
        let flows: Vec<_> = lines.map(read).collect::<Result<_, _>>()?;
        for flow in flows {
            if let Some(slot) = self.table.peek(self.table.hash(&flow.key), &flow.key) {
                self.table.remove(slot);
            }
            let _ = self.table.restore(flow, now_ns);
        }
        Ok(())
    }
}

/// `SRC SPORT DST DPORT PROTOCOL GATEWAY|- OUTPUT IDLE_MS established|new`; the protocol is `label:NUMBER` where a label stands for it.
fn line<F: Family>(flow: &Flow<F::Tuple, &Way<F>>) -> String {
    let Parts { ends: (src, dst), ports: (sport, dport), protocol, label } = F::parts(flow.key);
    let protocol = if label > 0 { format!("label:{label}") } else { protocol.to_string() };
    let way = flow.value.as_ref().map_or("- -1".to_owned(), |hop| match hop.gateway == F::DIRECT {
        true => format!("- {}", hop.port),
        false => format!("{} {}", hop.gateway, hop.port),
    });
    let age = if flow.confirmed { "established" } else { "new" };
    format!("{src} {sport} {dst} {dport} {protocol} {way} {} {age}", flow.idle.as_millis())
}

/// The inverse of [`line`].
fn read_line<F: Family>(line: &str, outputs: usize) -> Option<Flow<F::Tuple, Way<F>>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[src, sport, dst, dport, protocol, gateway, output, idle, age] = words.as_slice() else {
        return None;
    };
    let address = |word: &str| F::own(word.parse().ok()?);
    let (protocol, label) = match protocol.strip_prefix("label:") {
        Some(label) => (0, label.parse().ok()?),
        None => (protocol.parse().ok()?, 0),
    };
    let ends = (address(src)?, address(dst)?);
    let ports = (sport.parse().ok()?, dport.parse().ok()?);
    let gateway = if gateway == "-" { F::DIRECT } else { F::gateway(gateway.parse().ok()?)? };
    let port = output.parse().ok().filter(|&port: &u32| (port as usize) < outputs)?;
    let confirmed = match age {
        "established" => true,
        "new" => false,
        _ => return None,
    };
    Some(Flow {
        key: F::whole(Parts { ends, ports, protocol, label }),
        second: None,
        idle: Duration::from_millis(idle.parse().ok()?),
        state: 0,
        confirmed,
        value: Some(Hop { gateway, port }),
    })
}

#[cfg(test)]
#[path = "sticky_tests.rs"]
mod tests;
