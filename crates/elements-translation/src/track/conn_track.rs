//! Finds the connections that packets belong to, and marks packets with their state.
//!
//! ```click
//! ConnTrack([KEYWORDS])
//! ```
//!
//! Each packet leaves by the output that has the number of the input it came by, and carries the state of its connection,
//! which IPFilter, IPClassifier, IP6Filter and IP6Classifier know as `state`:
//! - `new`: it begins a connection, or belongs to one that has not been answered.
//! - `established`: it belongs to a connection that has been answered, or is the answer.
//! - `related`: it is an ICMP error about a packet of a known connection, and goes to the sender of that packet.
//! - `invalid`: it belongs to no known connection and cannot begin one: a TCP segment in the middle of an unknown connection,
//!   or one whose flags or numbers do not fit; an answer that was not asked for; an ICMP error about a stranger's packet.
//! - `untracked`: it is of a kind that has no connections: a later fragment, neighbour discovery, multicast listeners.
//!
//! IPv4 and IPv6 are tracked alike. Packets need network header annotations (CheckIPHeader, CheckIP6Header). TCP, UDP,
//! UDP-Lite, SCTP and DCCP have ports; of ICMP, echo, timestamp, information and address mask have connections; all other
//! protocols have one between two addresses. TCP's checksums are not verified. Of a TCP segment that comes in fragments only the
//! first is looked at: the other side may then acknowledge more than was seen, up to the longest packet.
//!
//! Where a ConnTrackConfirm names the element, connections are remembered when their first packet comes there: put it behind the
//! filter, so that refused packets leave nothing behind. Otherwise they are remembered at once.
//!
//! Workers share one table, so that an answer may arrive on another worker than the question; packets of known connections take no
//! lock. Memory is bounded: when the table is full, the oldest connection that is not *assured* gives way to the new one. TCP is
//! assured once its handshake is complete, the others once they are answered; assured connections give way to none. If all are
//! assured, packets that begin new ones are dropped.
//!
//! When the configuration is replaced, connections move to a ConnTrack of the same name. In a cluster VLBState moves them to another node's
//! when this one leaves or dies; TCP's numbers are not checked there.
//!
//! Ports: 1 or more inputs, as many outputs. Processing: push. Workers: shared.
//!
//! # Arguments
//! Keywords:
//! - `CAPACITY` (integer, default 1048576): the maximum number of connections.
//! - `TCP_TIMEOUT` (seconds, default 7440): idle time after which an established TCP connection is forgotten (RFC 5382).
//! - `TCP_TRANSITORY_TIMEOUT` (seconds, default 240): the same while a connection begins or ends (RFC 5382).
//! - `TCP_CLOSED_TIMEOUT` (seconds, default 10): the same for one that was reset.
//! - `UDP_TIMEOUT` (seconds, default 300): the same for UDP that was answered (RFC 4787).
//! - `UDP_NEW_TIMEOUT` (seconds, default 120): the same for UDP that was not.
//! - `ICMP_TIMEOUT` (seconds, default 60): the same for questions of ICMP (RFC 5508).
//! - `OTHER_TIMEOUT` (seconds, default 600): the same for other protocols.
//! - `QUOTA` (integer, default 0): the maximum number of connections that the addresses of one prefix have begun; 0 for no limit. Packets that begin
//!   more are dropped. Prefixes inside count like others.
//! - `QUOTA_PREFIX` (integer, default 24), `QUOTA_PREFIX6` (integer up to 64, default 64): how long prefixes of IPv4 and IPv6 are.
//! - `LOOSE` (boolean, default false): whether a TCP segment with ACK begins a connection although its SYN was not seen. Numbers of
//!   such a connection are not checked.
//!
//! # Handlers
//! - `count` (read, a filter): connections; in the table, or those that a filter accepts.
//! - `flows` (read, a filter): one line for each: protocol, source, port, destination and port of its first packet, its state
//!   (Linux's words; OPEN where it is not TCP), `assured`, `replied` or `unreplied`, and the seconds until it is forgotten.
//! - `flows_json` (read, a filter): the same as an array of objects.
//! - `flows_load` (write, objects of `flows_json`, one per line, at most 1000): remembers these connections, as another router listed them, as far as there is
//!   room, and says how many; those that are known stay as they are. None is taken if a line is not understood. TCP's numbers are not checked then.
//! - `kill` (write, a filter): forgets those connections; without words, all.
//! - `capacity` (read): the maximum number.
//! - `counters` (read): lines of a number, a tab and what it counts: packets by state, invalid ones also by reason,
//!   connections that were made, refused for want of room or for QUOTA, and that ended, by reason.
//! - `counters_json` (read): what this worker's instance and the table have counted, as an object.
//! - `made`, `evictions`, `expiries`, `refusals`, `quota_refusals` (read): connections that were made, that gave way to others, whose time was over,
//!   for which there was no room, and that were too many of one prefix.
//!
//! A filter is a list of words, all of which must hold: `tcp`, `udp`, `icmp`, `icmp6`, `proto N`; `src NET`, `dst NET`, `host
//! NET`; `sport N`, `dport N`, `port N`; `state STATE`; `assured`, `unassured`, `replied`, `unreplied`; `limit N` of those that
//! are listed (default 10000).
//!
//! # Events
//! `flow new NAME PROTOCOL SOURCE PORT DESTINATION PORT`, and when it ends `flow expired ...`, `evicted`, `replaced` or `killed`.
//!
//! # Example
//! ```click
//! ct :: ConnTrack;
//! inside -> [0]ct[0] -> keep :: ConnTrackConfirm(ct) -> outside;
//! outside_in -> [1]ct[1] -> IPFilter(allow state established or related, deny all) -> inside_out;
//! ```
//!
//! # Differences from Click
//! Click has no class of this name.
//!
//! # See also
//! ConnTrackConfirm, IPFilter, IPClassifier, IP6Filter, IPRewriter, CheckIPHeader, CheckIP6Header, VLBState

use super::listing;
use super::sight::{Fault, Sight};
use super::state::Timeouts;
use super::table::{Clue, Found, Table, Totals};
use crate::end::End;
use crate::metrics;
use crate::quota::Limit;
use crate::rewrite::flow_events::Event;
use elements_shared::connection_state::ConnectionState;
use elements_shared::flow_filter::Filter;
use elements_shared::state_port::Port;
use packet::{BATCH_MAX, Batch, Packet};
use rcu::Turn;
use router::{
    BadState, Class, Config, ConfigError, Cx, Element, HandlerError, Handlers, Level, Merge, Metric, Outcome,
    Residency, StateReader, StateWriter, Verdict, metric,
};
use std::any::Any;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ConnTrack", create)
    .ports("1-/=")
    .processing("h/h")
    .flow("#/#")
    .residency(Residency::Shared)
    .keeps("connections", "CAPACITY", CAPACITY as u64, 160)
    .doc(router::manual!("conn_track.rs"));

const CAPACITY: u32 = 1 << 20;

/// A count of the table: its handler, its metric, and where it is.
type Total = (&'static str, &'static Metric, fn(&Totals) -> u64);

const TOTALS: [Total; 5] = [
    ("made", &metrics::MADE, |totals| totals.made),
    ("evictions", &metrics::EVICTIONS, |totals| totals.ended[End::Evicted as usize]),
    ("expiries", &metrics::EXPIRIES, |totals| totals.ended[End::Expired as usize]),
    ("refusals", &metrics::FAILURES, |totals| totals.refused),
    ("quota_refusals", &metrics::QUOTA_REFUSALS, |totals| totals.over_quota),
];

/// The form of what is left to another process.
const FORM: u8 = 1;

const SWEEP: u32 = 0;
/// Records that a sweep looks at in one go, and the time in which it shall meet all of them.
const SWEPT: u32 = 1024;
const ROUND_MS: u64 = 10_000;

/// What instances share, and what a ConnTrackConfirm asks for.
pub(crate) struct Shared {
    plan: Plan,
    table: OnceLock<Arc<Table>>,
    /// Whether an element asks for what happens to connections.
    tells: AtomicBool,
    /// Whether connections are remembered by others.
    pub(super) is_confirmed: AtomicBool,
}

struct Plan {
    seed: u64,
    capacity: u32,
    timeouts: Timeouts,
    loose: bool,
    quota: Limit,
}

impl Plan {
    /// An empty table.
    fn table(&self) -> Table {
        let Plan { seed, capacity, timeouts, loose, quota } = *self;
        Table::new(seed, capacity, timeouts, loose).with_quota(quota, seed)
    }
}

impl Shared {
    /// The table: an old one that was taken over, or a new one.
    #[inline]
    pub(super) fn table(&self) -> &Arc<Table> {
        self.table.get_or_init(|| {
            let table = self.plan.table();
            table.want_events(self.tells.load(Relaxed));
            Arc::new(table)
        })
    }

    /// Has the table say what happens to its connections from now on. False if it has been asked to already.
    pub(crate) fn want_events(&self) -> bool {
        // A table that an earlier configuration leaves behind comes later.
        !self.tells.swap(true, Relaxed)
    }

    /// Exchanges what has happened to a lane's connections for an empty list with room. Returns how many events were lost.
    pub(crate) fn take_events(&self, lane: usize, now_ms: Option<u64>, list: &mut Vec<Event>) -> u64 {
        self.table().take_events(lane, now_ms, list)
    }
}

/// An instance.
struct ConnTrack {
    shared: Arc<Shared>,
    /// Whether this instance removes connections whose time is over.
    sweeps: bool,
    counts: Counts,
    /// The packets of a batch, which are looked at before any is processed: the memory that they need is asked for at once.
    at_hand: Vec<(Sight, Clue)>,
}

/// Packets that an instance has seen: by state, and of the invalid ones by reason.
#[derive(Clone, Copy, Default)]
struct Counts {
    packets: [u64; 5],
    faults: [u64; Fault::ALL.len()],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut capacity, mut loose, mut quota) = (CAPACITY, false, Limit::NONE);
    let defaults = Timeouts::default();
    let mut times = [None::<Duration>; 7];
    let [tcp, transitory, closed, udp, udp_new, icmp, other] = &mut times;
    quota
        .read(config.args(), [true, true])
        .keyword("CAPACITY", &mut capacity)
        .keyword("TCP_TIMEOUT", tcp)
        .keyword("TCP_TRANSITORY_TIMEOUT", transitory)
        .keyword("TCP_CLOSED_TIMEOUT", closed)
        .keyword("UDP_TIMEOUT", udp)
        .keyword("UDP_NEW_TIMEOUT", udp_new)
        .keyword("ICMP_TIMEOUT", icmp)
        .keyword("OTHER_TIMEOUT", other)
        .keyword("LOOSE", &mut loose)
        .finish()?;
    quota.check()?;
    let ms = |at: usize, default: u64| times[at].map_or(default, |time| time.as_millis() as u64);
    let timeouts = Timeouts {
        tcp: ms(0, defaults.tcp),
        tcp_transitory: ms(1, defaults.tcp_transitory),
        tcp_closed: ms(2, defaults.tcp_closed),
        udp: ms(3, defaults.udp),
        udp_new: ms(4, defaults.udp_new),
        icmp: ms(5, defaults.icmp),
        other: ms(6, defaults.other),
    };
    let plan = Plan { seed: config.seed(), capacity, timeouts, loose, quota };
    let sweeps = config.workers().first() == Some(&config.worker());
    let shared = config.shared(|| {
        Ok(Shared {
            plan,
            table: OnceLock::new(),
            tells: AtomicBool::new(false),
            is_confirmed: AtomicBool::new(false),
        })
    })?;
    Port::offer(config, shared.clone())?;
    Ok(Box::new(ConnTrack {
        shared,
        sweeps,
        counts: Counts::default(),
        at_hand: Vec::with_capacity(BATCH_MAX),
    }))
}

/// The time in the unit of the table.
#[inline]
pub(super) fn now_ms(cx: &Cx<'_>) -> u64 {
    (cx.now_ns() / 1_000_000) as u64
}

impl Counts {
    /// Marks a packet, and counts it. Remembers its connection if that is wanted.
    ///
    /// # Errors
    /// Why the packet is dropped.
    #[inline]
    fn process(
        &mut self,
        cx: &Cx<'_>,
        table: &Table,
        remembers: bool,
        now_ms: u64,
        packet: &mut Packet,
        (sight, clue): &(Sight, Clue),
    ) -> Result<(), &'static str> {
        let mut number = 0;
        let state = match table.look(cx.turn(), sight, *clue, now_ms) {
            Found::Established => ConnectionState::Established,
            Found::Unanswered => {
                number = table.number();
                ConnectionState::New
            }
            Found::Related => ConnectionState::Related,
            Found::Untracked => ConnectionState::Untracked,
            Found::Invalid(fault) => {
                self.faults[fault as usize] += 1;
                ConnectionState::Invalid
            }
            Found::New => {
                if remembers
                    && let Some(reason) = table.enter(cx.turn(), cx.worker(), sight, now_ms).refusal()
                {
                    return Err(reason);
                }
                ConnectionState::New
            }
        };
        self.packets[state as usize] += 1;
        state.mark_remembered(packet, number);
        Ok(())
    }
}

impl ConnTrack {
    /// Looks at all packets of a batch, and asks for what they will need: first for all index lines, then for all records.
    #[inline]
    fn meet(&mut self, turn: Turn<'_>, batch: &Batch) {
        let table = &**self.shared.table();
        self.at_hand.clear();
        self.at_hand.extend(batch.iter().map(|packet| {
            let sight = Sight::of(packet);
            (sight, table.clue(turn, &sight))
        }));
        for (sight, clue) in &mut self.at_hand {
            table.follow(turn, clue, sight.is_tcp());
        }
    }

    fn sweep(&self, cx: &mut Cx<'_>) {
        let table = self.shared.table();
        table.listener.listen(cx.info(), cx.name());
        let all = table.sweep(cx.turn(), now_ms(cx), SWEPT);
        let pause = ROUND_MS * u64::from(SWEPT) / u64::from(all.max(SWEPT));
        cx.timers().after(SWEEP, Duration::from_millis(pause.clamp(1, 1000)));
    }

    /// A table for the connections of an old one, which counts what the sources of a prefix have in another way.
    fn successor(&self, old: &Table) -> Arc<Table> {
        let table = self.shared.plan.table();
        table.go_on(old);
        Arc::new(table)
    }

    /// Numbers and what they count, those of the table last.
    fn counters(&self) -> Vec<(u64, &'static str)> {
        let mut all: Vec<_> = ConnectionState::ALL
            .iter()
            .map(|state| (self.counts.packets[*state as usize], state.name()))
            .collect();
        all.extend(Fault::ALL.iter().map(|fault| (self.counts.faults[*fault as usize], fault.name())));
        // The table's numbers are told once.
        if self.sweeps {
            let totals = self.shared.table().totals();
            all.push((totals.made, "connections made"));
            all.push((totals.refused, "connections refused"));
            all.push((totals.over_quota, "connections over quota"));
            let names =
                ["connections expired", "connections evicted", "connections replaced", "connections killed"];
            all.extend(End::ALL.iter().zip(names).map(|(end, name)| (totals.ended[*end as usize], name)));
        }
        all
    }
}

impl Element for ConnTrack {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.sweeps {
            cx.timers().after(SWEEP, Duration::from_secs(1));
        }
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        self.meet(cx.turn(), &batch);
        let ConnTrack { shared, counts, at_hand, .. } = self;
        let (table, remembers) = (&**shared.table(), !shared.is_confirmed.load(Relaxed));
        let now_ms = now_ms(cx);
        let mut at_hand = at_hand.iter();
        cx.scatter(batch, |cx, packet| {
            // There is one for each packet.
            let Some(seen) = at_hand.next() else { return Verdict::Output(port) };
            match counts.process(cx, table, remembers, now_ms, packet, seen) {
                Ok(()) => Verdict::Output(port),
                Err(reason) => Verdict::Drop(reason),
            }
        });
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.sweep(cx);
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.shared.table().clone(), self.counts)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<(Arc<Table>, Counts)>() else { return };
        let old;
        (old, self.counts) = *state;
        let Plan { capacity, timeouts, loose, quota, .. } = self.shared.plan;
        let table = self
            .shared
            .table
            .get_or_init(|| if old.quota() == quota { old.clone() } else { self.successor(&old) });
        // What has kept a copy is gone, too. Each instance says so: the one that sweeps may be new.
        table.notes.want(false);
        table.configure(capacity, timeouts, loose);
        table.want_events(self.shared.tells.load(Relaxed));
        if !Arc::ptr_eq(table, &old) {
            // It was asked for something before, or has another quota.
            table.adopt(cx.turn(), &old, now_ms(cx));
        }
    }

    /// What this instance has counted; of the table that all share, the one that sweeps writes.
    fn write_state(&mut self, cx: &mut Cx<'_>, out: &mut StateWriter) -> bool {
        out.form(FORM);
        self.counts.packets.iter().for_each(|&count| out.u64(count));
        out.u32(self.counts.faults.len() as u32);
        self.counts.faults.iter().for_each(|&count| out.u64(count));
        out.u32(u32::from(self.sweeps));
        if self.sweeps {
            self.shared.table().write(out, cx.turn(), now_ms(cx));
        }
        true
    }

    fn read_state(&mut self, cx: &mut Cx<'_>, state: &mut StateReader) -> Result<(), BadState> {
        state.form(FORM)?;
        for count in &mut self.counts.packets {
            *count += state.u64()?;
        }
        for at in 0..state.u32()? as usize {
            let count = state.u64()?;
            if let Some(fault) = self.counts.faults.get_mut(at) {
                *fault += count;
            }
        }
        if state.u32()? != 0 {
            let lost = self.shared.table().read(state, cx.turn())?;
            if lost > 0 {
                cx.say(Level::Warning, format_args!("{}: {lost} connections lost (no room)", cx.name()));
            }
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read_with("count", |e: &mut ConnTrack, cx, text| {
            let (filter, table) = (Filter::parse(text)?, e.shared.table());
            let all = text.trim().is_empty();
            Ok(if all { table.size() } else { listing::of(&filter, table, cx.turn(), now_ms(cx)).count() }
                .to_string())
        })
        .measures(&metric::FLOWS);
        h.read_with("flows", |e: &mut ConnTrack, cx, text| {
            Ok(listing::lines(&Filter::parse(text)?, e.shared.table(), cx.turn(), now_ms(cx)))
        });
        h.read_with("flows_json", |e: &mut ConnTrack, cx, text| {
            Ok(listing::json(&Filter::parse(text)?, e.shared.table(), cx.turn(), now_ms(cx)))
        });
        h.write_outcome("kill", |e: &mut ConnTrack, cx, text| {
            Outcome::Done(e.kill(cx, text).map(|killed| killed.to_string()).map_err(HandlerError::from))
        });
        h.write_outcome("flows_load", |e: &mut ConnTrack, cx, text| {
            let loaded = e.shared.table().load(cx.turn(), cx.worker(), text, now_ms(cx));
            Outcome::Done(loaded.map_err(HandlerError::from))
        });
        h.read("capacity", |e: &mut ConnTrack, _| e.shared.table().capacity())
            .measures(&metric::FLOW_CAPACITY);
        for (name, metric, count) in TOTALS {
            h.read(name, move |e: &mut ConnTrack, _| count(&e.shared.table().totals())).measures(metric);
        }
        h.read("counters", |e: &mut ConnTrack, _| {
            let lines = e.counters().into_iter().map(|(number, what)| format!("{number}\t{what}\n"));
            lines.collect::<String>()
        })
        .merged(Merge::Tally);
        h.read("counters_json", |e: &mut ConnTrack, _| {
            let mut text = String::from("{");
            for (at, (number, what)) in e.counters().into_iter().enumerate() {
                let _ = write!(text, "{}\"{what}\":{number}", if at > 0 { "," } else { "" });
            }
            text + "}\n"
        });
    }
}

impl ConnTrack {
    fn kill(&self, cx: &Cx<'_>, text: &str) -> Result<usize, String> {
        let (filter, table) = (Filter::parse(text)?, self.shared.table());
        let all = listing::of(&filter, table, cx.turn(), now_ms(cx));
        Ok(all.filter(|(number, key, _)| table.kill(cx.turn(), *number, *key)).count())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Flow, Sent, build, errors, send_singly};
    use elements_shared::connection_state::ConnectionState;
    use elements_testing::flow_samples::{echo, tcp, udp};
    use elements_testing::ip6_samples;
    use proptest::prelude::*;
    use wire::tcp::flag::{ACK, RST, SYN};

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [192, 0, 2, 1];

    /// Packets from inside (10.0.0.0/8, or an IPv6 address that begins with 2001:db8:1:) arrive at input 0, others at input 1.
    fn wall(arguments: &str, behind: &str) -> String {
        format!(
            "ct :: ConnTrack({arguments}); Inject -> MarkIPHeader -> c :: Classifier(12/0a, 8/20010db80001, -);
             c[0] -> [0]ct; c[1] -> [0]ct; c[2] -> [1]ct; ct[0] -> {behind} Collect(0); ct[1] -> Collect(1);"
        )
    }

    /// States of packets in their order, by a letter each.
    fn states(flow: &Flow) -> String {
        let letter = |state: ConnectionState| state.name().chars().next().unwrap();
        flow.seen.iter().map(|(_, packet)| letter(ConnectionState::of(packet))).collect()
    }

    fn run(packets: Vec<Vec<u8>>) -> String {
        states(&send_singly(&wall("", ""), packets))
    }

    /// The bytes of a TCP segment with its numbers.
    fn segment(reply: bool, flags: u8, sequence: u32, acknowledgement: u32) -> Vec<u8> {
        let (from, to) = if reply { ((B, 80), (A, 4000)) } else { ((A, 4000), (B, 80)) };
        let mut packet = tcp(from, to, flags, &[], b"");
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet[28..32].copy_from_slice(&acknowledgement.to_be_bytes());
        packet
    }

    fn icmp_error(from: [u8; 4], to: [u8; 4], about: &[u8]) -> Vec<u8> {
        let mut error = echo(from, to, 0, 0);
        error.truncate(28);
        error[20..28].copy_from_slice(&[3, 1, 0, 0, 0, 0, 0, 0]);
        error.extend(&about[..about.len().min(28)]);
        let len = error.len() as u16;
        error[2..4].copy_from_slice(&len.to_be_bytes());
        error
    }

    #[test]
    fn questions_and_answers() {
        let (ask, answer) = (udp((A, 4000), (B, 53), b"?"), udp((B, 53), (A, 4000), b"!"));
        let stranger = udp((B, 54), (A, 4000), b"!");
        assert_eq!(
            run(vec![ask.clone(), ask.clone(), answer.clone(), ask.clone(), stranger.clone()]),
            "nneen"
        );
        let about = [icmp_error(B, A, &ask), icmp_error(B, A, &stranger), icmp_error(A, B, &ask)];
        assert_eq!(run([vec![ask], about.to_vec()].concat()), "nrii");
        let ping = echo(A, B, 7, 1);
        let mut pong = echo(B, A, 7, 1);
        pong[20] = 0;
        assert_eq!(run(vec![pong.clone(), ping.clone(), pong.clone(), ping.clone(), pong.clone()]), "ineee");
        // Who was asked asks itself, with the same identifier.
        assert_eq!(run(vec![ping, pong, echo(B, A, 7, 1)]), "nen");
        let mut fragment = udp((A, 4000), (B, 53), b"?");
        fragment[7] = 1;
        assert_eq!(run(vec![fragment]), "u");
    }

    #[test]
    fn connections_of_tcp() {
        let open = vec![
            segment(false, SYN, 100, 0),
            segment(true, SYN | ACK, 700, 101),
            segment(false, ACK, 101, 701),
        ];
        let with = |rest: Vec<Vec<u8>>| run([open.clone(), rest].concat());
        assert_eq!(with(vec![segment(true, ACK, 701, 101)]), "neee");
        assert_eq!(
            with(vec![segment(true, RST, 900_000, 0), segment(true, RST, 701, 0), segment(false, SYN, 5, 0)]),
            "neeien"
        );
        assert_eq!(
            with(vec![segment(true, ACK, 701, 900_000), segment(true, ACK | RST | SYN, 701, 101)]),
            "neeii"
        );
        assert_eq!(
            run(vec![segment(false, ACK, 1, 1), segment(true, SYN | ACK, 1, 1), segment(false, 0, 1, 1)]),
            "iii"
        );
        let loose =
            send_singly(&wall("LOOSE true", ""), [segment(false, ACK, 1, 1), segment(true, ACK, 9, 9)]);
        assert_eq!(states(&loose), "ne");
    }

    #[test]
    fn ipv6_is_tracked_alike() {
        let packet = |from: &str, to: &str, next, body: &[u8]| {
            ip6_samples::with_addresses(ip6_samples::with_body(next, body), from, to)
        };
        let (a, b) = ("2001:db8:1::1", "2001:db8:2::2");
        let ask = packet(a, b, 17, &[0x13, 0x88, 0, 53, 0, 8, 0, 0]);
        let answer = packet(b, a, 17, &[0, 53, 0x13, 0x88, 0, 8, 0, 0]);
        let ping = |from, to, kind| packet(from, to, 58, &[kind, 0, 0, 0, 0, 9, 0, 1]);
        let about = [&[1, 4, 0, 0, 0, 0, 0, 0][..], &ask].concat();
        let packets = vec![
            ask,
            answer.clone(),
            packet("2001:db8:2::3", a, 58, &about),
            ping(b, a, 129),
            ping(a, b, 128),
            ping(b, a, 129),
            ping(b, a, 135),
        ];
        let mut flow = send_singly(&wall("", ""), packets);
        assert_eq!(states(&flow), "nerineu");
        let lines = flow.read_with("ct.flows", "udp");
        assert_eq!(lines, "udp 2001:db8:1::1 5000 2001:db8:2::2 53 OPEN assured exp300\n");
    }

    /// Connections that no ConnTrackConfirm sees are not remembered.
    #[test]
    fn only_what_passes_the_filter_is_remembered() {
        let config =
            wall("", "IPFilter(allow state new and dst udp port 53, deny all) -> ConnTrackConfirm(ct) ->");
        let (ask, refused) = (udp((A, 4000), (B, 53), b"?"), udp((A, 4000), (B, 99), b"?"));
        let answers = [udp((B, 53), (A, 4000), b"!"), udp((B, 99), (A, 4000), b"!")];
        let packets = [vec![ask, refused], answers.to_vec()].concat();
        let mut flow = send_singly(&config, packets);
        assert_eq!(states(&flow), "nen");
        assert_eq!((flow.read("ct.count"), flow.drops()), ("1".to_owned(), vec![("filtered", 1)]));
        assert!(
            errors("Idle -> ConnTrackConfirm(i) -> Discard; i :: Idle -> Discard;")
                .contains("not a ConnTrack")
        );
    }

    /// Another table's word that it remembers a connection does not count.
    #[test]
    fn each_table_remembers_for_itself() {
        let config = "a :: ConnTrack; b :: ConnTrack; s :: RoundRobinSwitch;
             Inject -> MarkIPHeader -> a -> b -> s; s[0] -> Discard; s[1] -> ConnTrackConfirm(a) -> Collect(0);";
        let ask = udp((A, 4000), (B, 53), b"?");
        let mut flow = send_singly(config, [ask.clone(), ask]);
        assert_eq!((flow.read("a.count"), flow.read("b.count")), ("1".to_owned(), "1".to_owned()));
    }

    /// Handlers list, count and kill, and say what happened.
    #[test]
    fn handlers() {
        let ask = |port| udp((A, port), (B, 53), b"?");
        let packets = [ask(1), ask(2), ask(3), udp((B, 53), (A, 1), b"!"), segment(false, SYN, 1, 0)];
        let mut flow = send_singly(&wall("CAPACITY 100", ""), packets);
        assert_eq!(flow.read("ct.count"), "4");
        assert_eq!(flow.read_with("ct.count", "udp unreplied"), "2");
        assert_eq!(
            flow.read_with("ct.flows", "src 10.0.0.0/8 tcp"),
            "tcp 10.0.0.1 4000 192.0.2.1 80 SYN_SENT unreplied exp240\n"
        );
        assert_eq!(flow.read_with("ct.flows", "limit 1").lines().last(), Some("... and 3 more"));
        let json = flow.read_with("ct.flows_json", "sport 1");
        assert!(
            json.contains("\"assured\":true") && json.contains("\"source\":\"10.0.0.1\",\"sport\":1,"),
            "{json}"
        );
        assert!(flow.read_with("ct.flows", "bogus").contains("unknown word 'bogus'"));
        assert_eq!(flow.write("ct.kill", "dport 53"), "3");
        assert_eq!(flow.read("ct.count"), "1");
        let counters = flow.read("ct.counters");
        for line in [
            "4\tnew",
            "1\testablished",
            "4\tconnections made",
            "3\tconnections killed",
            "0\tinvalid: malformed",
        ] {
            assert!(counters.lines().any(|known| known == line), "{line} in {counters}");
        }
        assert!(errors("Idle -> ConnTrack(CAPACITY many) -> Discard;").contains("CAPACITY"));
    }

    /// In a full table the beginnings give way, the oldest first, and where all are assured new ones are dropped.
    #[test]
    fn a_full_table() {
        let ask = |port| udp((A, port), (B, 53), b"?");
        let answer = |port| udp((B, 53), (A, port), b"!");
        let packets =
            [ask(1), answer(1), ask(2), ask(3), answer(3), ask(4), answer(4), ask(5), answer(2), answer(1)];
        let mut flow = send_singly(&wall("CAPACITY 3", ""), packets);
        // The second gave way to the fourth; the fifth had no room, nor had the second's answer, which is a stranger's now.
        assert_eq!(
            (states(&flow), flow.drops()),
            ("nenenee".replacen("nenenee", "nennenee", 1), vec![(crate::track::table::FULL, 2)])
        );
        assert!(flow.read("ct.counters").contains("1\tconnections evicted"));
    }

    /// Connections go when nothing has come for long enough, and the memory is free again.
    #[test]
    fn connections_expire() {
        let data: String = udp((A, 1), (B, 53), b"?").iter().map(|byte| format!("{byte:02x}")).collect();
        let config = format!(
            "ct :: ConnTrack(UDP_NEW_TIMEOUT 5); RatedSource(DATA \\<{data}>, RATE 1, LIMIT 2) -> MarkIPHeader -> ct -> Discard;
             Script(wait 4, read ct.count, wait 20, read ct.count, stop);"
        );
        let mut router = build(&config, 1, 32).unwrap();
        elements_testing::run_to_end(&mut router);
        let mut read = |path: &str| router.call(router::Call::read(path, "")).unwrap();
        assert_eq!(read("ct.count"), "0");
        assert!(read("ct.counters").contains("1\tconnections expired"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever arrives is marked and leaves, or is dropped for a reason.
        #[test]
        fn any_packets(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..90), 1..20), v6 in ip6_samples::hostile()) {
            let versions = packets.into_iter().enumerate().map(|(at, mut packet)| {
                if let Some(first) = packet.first_mut() {
                    *first = if at % 2 == 0 { 0x45 } else { 0x60 };
                }
                packet
            });
            let packets: Vec<Sent> = versions.chain(v6).map(Sent::from).collect();
            let sent = packets.len();
            // One by one: a batch leaves a Classifier in the order of its outputs.
            let flow = send_singly(&wall("CAPACITY 4", ""), packets);
            let dropped: u64 = flow.drops().iter().map(|(_, packets)| packets).sum();
            prop_assert_eq!(flow.seen.len() as u64 + dropped, sent as u64);
        }
    }
}
