//! Which way flows went that are still going: a next hop that comes, goes or comes back, or a weight that changes, then moves only flows
//! whose own next hop went.
//!
//! Each worker has a table of its own for the flows that it sees, which no other worker looks at (Li, Qing, Macy, "Optimizing
//! the BSD routing system for parallel processing", PRESTO 2009, section 4; the table is [`flows::Table`]). It never says where a route leads, only
//! which of the next hops that the route has now a flow goes on with; a flow that is not in it goes where its hash says. A flow is
//! established by the next packet after the one with which it came in: no other displaces it then. So a sender who fills the table with flows gains
//! nothing but that new ones are treated as without a table, until their second packet.
//!
//! After a hot swap a table goes on with its worker as long as that sees the same packets. Otherwise its flows are [`Waiting`] for
//! the workers that see their next packets; so are flows that are loaded.

use super::family::{Family, Parts};
use super::target::{Forwarding, Hop};
use super::waiting::{Left, Place, Waiting, Way};
use elements_shared::feeds::Feeds;
use elements_shared::flow_filter::{Filter, Shown, protocol_name};
use elements_shared::flow_hash::Flows;
use flows::{Flow, Guess, Limits, Slot, Stats, Table};
use packet::{BATCH_MAX, Packet};
use std::collections::BTreeMap;
use std::time::Duration;

/// Flows that may be new, of all: one of so many.
const NEW: usize = 2;
/// Flows that are looked at for each packet, to end those whose time is over.
const LOOKS: usize = 2;

/// The table.
pub(super) struct Sticky<F: Family> {
    table: Table<F::Tuple, Way<F>>,
    /// The flows of the packets at hand.
    at_hand: Vec<AtHand<F::Tuple>>,
    /// Records that the table had made when the index was asked for them.
    made: u64,
    /// Flows that it is to have room for.
    capacity: usize,
    /// Flows that went on with another next hop, because theirs was gone.
    pub(super) moved: u64,
    /// Flows that no worker has, since a hot swap or because they were loaded.
    waiting: Waiting<F>,
    /// Those of them whose time was over, and those of the worker's that a packet found so.
    expired: u64,
    /// What tables of configurations before counted.
    before: Stats,
    /// Where the worker goes on to show its flows to who keeps a copy of them; nowhere if it has shown all.
    walk: Option<u32>,
}

/// A packet's flow: its hash, what the index says of that, and its tuple, if it has one.
struct AtHand<T> {
    hash: u64,
    guess: Guess,
    tuple: Option<T>,
}

/// What a table leaves to the configuration that replaces its own.
pub(super) struct Former<F: Family> {
    table: Table<F::Tuple, Way<F>>,
    moved: u64,
    before: Stats,
    place: Place,
    waiting: BTreeMap<F::Tuple, Left<F>>,
}

impl<F: Family> Sticky<F> {
    /// A table for so many flows, each remembered for so long after its last packet; of new ones, for so many of one prefix, if that is not 0.
    pub(super) fn new(
        flows: usize,
        timeout: Duration,
        quota: u16,
        hash: &Flows,
        waiting: Waiting<F>,
    ) -> Self {
        let limits = Limits { unconfirmed: flows.div_ceil(NEW), earned: true, quota, ..Limits::new(flows) };
        let table = Table::new(limits.with_timeout(timeout), hash.key);
        let at_hand = Vec::with_capacity(BATCH_MAX);
        let before = Stats::default();
        Sticky { table, at_hand, made: 0, capacity: flows, moved: 0, waiting, expired: 0, before, walk: None }
    }

    /// Says where this instance's packets come from.
    pub(super) fn set_feeds(&mut self, feeds: Feeds) {
        self.waiting.place.feeds = feeds;
    }

    /// Says which packets are at hand: [`Sticky::choose`] names them by their numbers. Asks for the memory that it needs for them, and
    /// ends flows whose time is over.
    pub(super) fn meet<'p>(&mut self, packets: impl Iterator<Item = &'p Packet>, hash: &Flows, now_ns: i64) {
        self.at_hand.clear();
        self.catch_up();
        self.table.grow(self.capacity);
        for packet in packets {
            let tuple = F::tuple(packet, hash);
            let hash = tuple.map_or(0, |tuple| self.table.hash(&tuple));
            self.table.prefetch(hash);
            self.at_hand.push(AtHand { hash, guess: Guess::NONE, tuple });
        }
        let looks = LOOKS * self.at_hand.len();
        self.expire(now_ns, looks);
        self.expired += self.waiting.expire(now_ns, looks);
        for one in &mut self.at_hand {
            one.guess = self.table.guessed(one.hash);
        }
        self.made = self.table.stats().inserted;
    }

    /// Ends flows whose time is over.
    fn expire(&mut self, now_ns: i64, looks: usize) {
        let waiting = &self.waiting;
        self.table.expire_flows(now_ns, looks, &mut |key, is_established| {
            if is_established {
                waiting.note_gone(key);
            }
        });
    }

    /// Where a packet's flow goes: where it went, if that is one of its route's next hops still; otherwise where its hash says, also from
    /// now on. None if the route leads nowhere.
    pub(super) fn choose(&mut self, packet: usize, now_ns: i64, forwarding: &Forwarding<F>) -> Way<F> {
        let Some(&AtHand { hash, guess, tuple: Some(tuple) }) = self.at_hand.get(packet) else {
            return forwarding.pick(|| 0);
        };
        match self.table.meet_alive(guess, &tuple, now_ns) {
            Some(way) => {
                let before = self.moved;
                let chosen = Self::go_on(way, hash, forwarding, &mut self.moved);
                if self.moved != before {
                    self.waiting.note(tuple, chosen, now_ns);
                }
                chosen
            }
            None => self.choose_searched(guess, hash, &tuple, now_ns, forwarding),
        }
    }

    /// Where a flow goes that has gone some way: there, if that is one of the next hops still.
    #[inline]
    fn go_on(way: &mut Way<F>, hash: u64, forwarding: &Forwarding<F>, moved: &mut u64) -> Way<F> {
        if let Some(hop) = way.filter(|hop| forwarding.leads_to(hop)) {
            return Some(hop);
        }
        let chosen = forwarding.pick(|| hash);
        // While the route leads nowhere a flow waits for its next hop.
        if chosen.is_some() {
            *moved += 1;
            *way = chosen;
        }
        chosen
    }

    /// The same for a flow that was not guessed, is new, or has its second packet only.
    #[inline(never)]
    fn choose_searched(
        &mut self,
        guess: Guess,
        hash: u64,
        tuple: &F::Tuple,
        now_ns: i64,
        forwarding: &Forwarding<F>,
    ) -> Way<F> {
        let found = self.table.find_guessed(guess, self.made, hash, tuple);
        let found = found.filter(|&slot| !self.ends(slot, tuple, now_ns));
        let Some(slot) = found.or_else(|| self.take_over(tuple, now_ns)) else {
            let chosen = forwarding.pick(|| hash)?;
            // What is refused is counted there.
            let _ = self.table.insert(hash, *tuple, Some(chosen), now_ns);
            return Some(chosen);
        };
        let was_established = self.table.is_confirmed(slot);
        let way = self.table.meet(slot, now_ns)?;
        let before = *way;
        let chosen = Self::go_on(way, hash, forwarding, &mut self.moved);
        let way = chosen.or(before);
        if way != before || !was_established {
            self.waiting.note(*tuple, way, now_ns);
        }
        chosen
    }

    /// Ends a flow if its time is over: its next packet begins another one, or goes on with one that waits. Whether it was.
    fn ends(&mut self, slot: Slot, tuple: &F::Tuple, now_ns: i64) -> bool {
        let is_over = self.table.is_over(slot, now_ns);
        if is_over {
            self.expired += 1;
            self.remove(slot, *tuple);
        }
        is_over
    }

    /// Ends a flow.
    fn remove(&mut self, slot: Slot, tuple: F::Tuple) {
        let was_established = self.table.is_confirmed(slot);
        if self.table.remove(slot).is_some() && was_established {
            self.waiting.note_gone(tuple);
        }
    }

    /// A flow that has waited for this worker; if there is no room for it, it is a new one.
    #[inline]
    fn take_over(&mut self, tuple: &F::Tuple, now_ns: i64) -> Option<Slot> {
        let flow = self.waiting.take(tuple, now_ns)?;
        let (waiting, way) = (&self.waiting, flow.value);
        let restored = self.table.restore(flow, now_ns).ok();
        if restored.is_some() {
            waiting.note(*tuple, way, now_ns);
        }
        waiting.note_taken(*tuple);
        restored
    }

    /// Whether another node may keep a copy of the flows.
    pub(super) fn is_copied(&self) -> bool {
        self.waiting.is_expected()
    }

    /// Goes on showing the worker's flows, if something asks for them.
    pub(super) fn show(&mut self, now_ns: i64) {
        self.catch_up();
        let Some(from) = self.walk else { return };
        let waiting = &self.waiting;
        self.walk = self.table.walk_flows(from, waiting.room_to_show(), now_ns, |flow| {
            if flow.confirmed {
                let idle_ns = i64::try_from(flow.idle.as_nanos()).unwrap_or(i64::MAX);
                waiting.note(flow.key, *flow.value, now_ns.saturating_sub(idle_ns));
            }
        });
        if self.walk.is_none() {
            waiting.has_shown();
        }
    }

    /// The table, for an element that replaces this one.
    pub(super) fn give(&mut self) -> Former<F> {
        self.catch_up();
        let empty = Table::new(Limits::new(0), flows::HashKey::new(0));
        let table = std::mem::replace(&mut self.table, empty);
        let before = Stats { expired: self.before.expired + self.expired, ..self.before };
        let (place, waiting) = (self.waiting.place.clone(), self.waiting.give());
        Former { table, moved: self.moved, before, place, waiting }
    }

    /// Goes on with the flows of another table, if its packets come here now; with its memory, if that is as large and hashes alike.
    /// Otherwise they wait for the workers that their packets come to.
    pub(super) fn adopt(&mut self, mut old: Former<F>, alike: bool, now_ns: i64) {
        self.moved += old.moved;
        self.before = self.before + old.before;
        self.waiting.adopt(old.waiting);
        let stays = self.waiting.place.follows(&old.place);
        if stays && alike && self.table.is_empty() && old.table.limits() == self.table.limits() {
            self.table = old.table;
            return;
        }
        self.before = self.before + old.table.stats();
        for flow in old.table.drain(now_ns) {
            if !stays {
                self.waiting.park(&flow, now_ns);
                continue;
            }
            // As far as there is room.
            let _ = self.table.restore(flow, now_ns);
        }
    }

    /// All flows of the configuration before have come. How many that wait are lost, because there is no room for so many.
    pub(super) fn settle(&mut self, now_ns: i64) -> usize {
        let (room, table) = (self.room(), &self.table);
        self.waiting.settle(room, now_ns, |tuple| table.peek(table.hash(tuple), tuple).is_some())
    }

    /// Flows of all workers' tables together.
    pub(super) fn room(&self) -> usize {
        self.capacity.saturating_mul(self.waiting.place.workers.len())
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

    /// Has something done with all flows that are remembered: those of this worker, and by one of the workers those that wait.
    fn each(&self, now_ns: i64, mut act: impl FnMut(Flow<F::Tuple, &Way<F>>)) {
        let alive = self.table.iter(now_ns).filter(|(slot, _)| !self.table.is_over(*slot, now_ns));
        alive.for_each(|(_, flow)| act(flow));
        self.waiting.each(now_ns, act);
    }

    /// How many flows that a filter asks for are remembered.
    pub(super) fn count(&self, filter: &Filter, now_ns: i64) -> usize {
        let mut count = 0;
        self.each(now_ns, |flow| count += usize::from(filter.accepts(&shown::<F>(&flow))));
        count
    }

    /// What the tables counted.
    pub(super) fn stats(&self) -> Stats {
        let all = self.before + self.table.stats();
        Stats { expired: all.expired + self.expired, ..all }
    }

    /// The flows that a filter asks for, a line each: all, if it says no limit, so that another table can load them.
    pub(super) fn list(&self, filter: &Filter, now_ns: i64) -> String {
        self.written(filter, now_ns, line::<F>)
    }

    /// The same as objects of JSON, a line each.
    pub(super) fn json(&self, filter: &Filter, now_ns: i64) -> String {
        self.written(filter, now_ns, object::<F>)
    }

    fn written(
        &self,
        filter: &Filter,
        now_ns: i64,
        write: impl Fn(&Flow<F::Tuple, &Way<F>>) -> String,
    ) -> String {
        let (mut text, mut left) = (String::new(), filter.said_limit().unwrap_or(usize::MAX));
        self.each(now_ns, |flow| {
            if left > 0 && filter.accepts(&shown::<F>(&flow)) {
                left -= 1;
                text += &(write(&flow) + "\n");
            }
        });
        text
    }

    /// Forgets the flows that a filter asks for.
    pub(super) fn forget(&mut self, filter: &Filter, now_ns: i64) {
        self.forget_those(now_ns, |flow| filter.accepts(&shown::<F>(flow)));
    }

    /// Forgets the flows whose lines begin with these words, of which `*` stands for any.
    pub(super) fn kill(&mut self, words: &[String], now_ns: i64) {
        let is = |flow: &Flow<F::Tuple, &Way<F>>| {
            let line = line::<F>(flow);
            let mut columns = line.split(' ');
            words.iter().all(|word| columns.next().is_some_and(|column| word == "*" || word == column))
        };
        self.forget_those(now_ns, is);
    }

    fn forget_those(&mut self, now_ns: i64, is_meant: impl Fn(&Flow<F::Tuple, &Way<F>>) -> bool) {
        let all = self.table.iter(now_ns);
        let these: Vec<_> =
            all.filter(|(_, flow)| is_meant(flow)).map(|(slot, flow)| (slot, flow.key)).collect();
        these.into_iter().for_each(|(slot, key)| self.remove(slot, key));
        self.waiting.forget(now_ns, is_meant);
    }

    /// Takes in flows as [`Sticky::list`] writes them, in the place of those that are known: they wait for the workers that see their next packets.
    /// None is taken in if a line is not understood. Says how many that wait are lost, because there is no room for so many.
    ///
    /// # Errors
    /// The first line that is wrong, by its number.
    pub(super) fn load(&mut self, text: &str, outputs: usize, now_ns: i64) -> Result<usize, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            read_line::<F>(line, outputs)
                .ok_or_else(|| format!("line {}: expected a flow as `flow_list` writes it", at + 1))
        };
        let flows: Vec<_> = lines.map(read).collect::<Result<_, _>>()?;
        let lost = self.waiting.load(flows, self.room(), now_ns);
        self.catch_up();
        Ok(lost)
    }

    /// Forgets what this worker knows of flows that were loaded meanwhile: they wait.
    #[inline]
    pub(super) fn catch_up(&mut self) {
        if self.waiting.is_asked_anew() {
            self.walk = self.waiting.heed().then_some(0);
        }
        if self.waiting.has_news() {
            self.forget_loaded();
        }
    }

    #[cold]
    fn forget_loaded(&mut self) {
        let (table, mut forgotten) = (&self.table, Vec::new());
        self.waiting.look(|tuple| {
            if let Some(slot) = table.peek(table.hash(tuple), tuple) {
                forgotten.push((slot, *tuple));
            }
        });
        forgotten.into_iter().for_each(|(slot, key)| self.remove(slot, key));
    }
}

/// What a filter sees of a flow.
fn shown<F: Family>(flow: &Flow<F::Tuple, &Way<F>>) -> Shown {
    let Parts { ends: (src, dst), ports: (sport, dport), protocol, .. } = F::parts(flow.key);
    let ends = [(src.into(), sport), (dst.into(), dport)];
    Shown { protocol, ends, state: "", replied: false, assured: flow.confirmed }
}

/// A flow as an object of JSON.
fn object<F: Family>(flow: &Flow<F::Tuple, &Way<F>>) -> String {
    let Parts { ends: (src, dst), ports: (sport, dport), protocol, label } = F::parts(flow.key);
    let label = if label > 0 { format!(",\"label\":{label}") } else { String::new() };
    let gateway = flow.value.filter(|hop| hop.gateway != F::DIRECT);
    let gateway = gateway.map_or("null".to_owned(), |hop| format!("\"{}\"", hop.gateway));
    let output = flow.value.map_or("null".to_owned(), |hop| hop.port.to_string());
    format!(
        "{{\"protocol\":\"{}\",\"source\":\"{src}\",\"sport\":{sport},\"destination\":\"{dst}\",\"dport\":{dport}{label},\
         \"gateway\":{gateway},\"output\":{output},\"assured\":{},\"idle_s\":{}}}",
        protocol_name(protocol),
        flow.confirmed,
        flow.idle.as_secs()
    )
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
