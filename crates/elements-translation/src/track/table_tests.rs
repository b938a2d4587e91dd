//! Tests of the table of connections: against a naive one, and with threads.

use super::sight::{Act, Fault, Key, Segment, Sight};
use super::state::{Signal, Timeouts};
use super::table::{Entered, Found, Table};
use proptest::prelude::*;
use rcu::{Domain, Turn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use wire::tcp::flag;

/// Time passes in steps of this, so that every packet's time is noted.
const STEP_MS: u64 = 64;
const TIMEOUTS: Timeouts = Timeouts {
    tcp: 20 * STEP_MS + 1,
    tcp_transitory: 9 * STEP_MS + 2,
    tcp_closed: 2 * STEP_MS + 3,
    udp: 12 * STEP_MS + 4,
    udp_new: 5 * STEP_MS + 5,
    icmp: 3 * STEP_MS + 6,
    other: 3 * STEP_MS + 7,
};

/// The key of host `host`'s connection: of TCP if the number is odd.
fn key(host: u32) -> Key {
    let kind = if host % 2 == 1 { 6 } else { 17 } | 4 << 8;
    Key { low: 10, high: 0x0a00_0000 + u128::from(host), ports: 53 << 16 | host, kind }
}

/// A packet of a host, or the answer to it; TCP's numbers are as they should be.
fn sight(host: u32, is_reply: bool, signal: Signal) -> Sight {
    let flags = match signal {
        Signal::Syn => flag::SYN,
        Signal::SynAck => flag::SYN | flag::ACK,
        Signal::Ack => flag::ACK,
        Signal::Fin => flag::FIN | flag::ACK,
        Signal::Rst => flag::RST | flag::ACK,
    };
    let is_first = flags & flag::SYN != 0;
    let sequence = if is_first { 100 } else { 101 };
    let segment =
        Segment { sequence, acknowledgement: 101, len: 0, window: 1000, flags, scale: None, is_cut: false };
    let act = if host % 2 == 1 { Act::Tcp(signal, segment) } else { Act::Datagram };
    Sight::Of(key(host), !is_reply, act)
}

/// What a packet is to a table that is asked for one packet alone.
fn look(table: &Table, turn: Turn<'_>, sight: &Sight, now_ms: u64) -> Found {
    let mut clue = table.clue(turn, sight);
    table.follow(turn, &mut clue, sight.is_tcp());
    table.look(turn, sight, clue, now_ms)
}

/// What is known of a connection, in the order in which they began.
struct Naive {
    host: u32,
    /// Whether what are answers otherwise are its originator's packets.
    turned: bool,
    state: &'static str,
    replied: bool,
    assured: bool,
    last_ms: u64,
}

impl Naive {
    fn over_ms(&self) -> u64 {
        self.last_ms
            + match (self.state, self.host % 2, self.replied) {
                ("open", _, true) => TIMEOUTS.udp,
                ("open", _, false) => TIMEOUTS.udp_new,
                ("established", ..) => TIMEOUTS.tcp,
                ("closed", ..) => TIMEOUTS.tcp_closed,
                _ => TIMEOUTS.tcp_transitory,
            }
    }

    /// What a packet makes of it; the state machine again, without FIN.
    fn pass(&mut self, is_reply: bool, signal: Signal, now_ms: u64) -> Found {
        let is_reply = is_reply != self.turned;
        if self.host.is_multiple_of(2) {
            self.assured |= is_reply;
        } else {
            match (self.state, signal, is_reply) {
                ("closed", Signal::Syn, _) => return Found::New,
                (_, Signal::Rst, _) => self.state = "closed",
                ("sent", Signal::Syn, false) => {}
                ("sent", Signal::SynAck | Signal::Syn, true) => self.state = "received",
                ("sent", Signal::Ack, true) => return Found::Unanswered,
                ("sent", ..) => return Found::Invalid(Fault::State),
                ("received", Signal::Ack, false) => (self.state, self.assured) = ("established", true),
                ("established", Signal::Syn, _) | ("received", Signal::Syn, false) => {
                    return if self.replied { Found::Established } else { Found::Unanswered };
                }
                _ => {}
            }
        }
        self.replied |= is_reply;
        self.last_ms = now_ms;
        if self.replied { Found::Established } else { Found::Unanswered }
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Of a host, with a guess where its connection may be.
    Packet(u32, bool, Signal, Option<u32>),
    Pass(u64),
    Sweep,
    Capacity(u32),
    Kill(u32),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let signal = prop::sample::select(vec![
        Signal::Syn,
        Signal::Syn,
        Signal::SynAck,
        Signal::Ack,
        Signal::Ack,
        Signal::Rst,
    ]);
    let op = prop_oneof![
        20 => (0u32..24, any::<bool>(), signal, prop::option::of(0u32..80))
            .prop_map(|(host, is_reply, signal, guess)| Op::Packet(host, is_reply, signal, guess)),
        3 => (0u64..6).prop_map(Op::Pass),
        1 => Just(Op::Sweep),
        1 => (4u32..20).prop_map(Op::Capacity),
        1 => (0u32..24).prop_map(Op::Kill),
    ];
    prop::collection::vec(op, 0..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Each packet gets the answer that a list of connections gives; the oldest that is not assured goes first, and no other.
    #[test]
    fn as_a_list(ops in ops()) {
        let mut reader = Domain::global().register("test");
        let mut capacity = 12;
        let table = Table::new(1, capacity, TIMEOUTS, false);
        let (mut model, mut now_ms) = (Vec::<Naive>::new(), 1_000_000);
        for op in ops {
            match op {
                Op::Packet(host, is_reply, signal, guess) => {
                    let sight = sight(host, is_reply, signal);
                    let clue = table.clue(reader.turn(), &sight).or_guess(guess);
                    let found = table.look(reader.turn(), &sight, clue, now_ms);
                    let known = model.iter_mut().find(|naive| naive.host == host && naive.over_ms() > now_ms);
                    let begins = host % 2 == 0 || signal == Signal::Syn;
                    let expected = match known {
                        Some(naive) => naive.pass(is_reply, signal, now_ms),
                        None if begins => Found::New,
                        None => Found::Invalid(Fault::Unknown),
                    };
                    prop_assert_eq!(found, expected, "{} {} {:?}", host, is_reply, signal);
                    if found == Found::New {
                        let entered = table.enter(reader.turn(), 0, &sight, now_ms);
                        model.retain(|naive| naive.host != host); // it was over
                        if model.len() >= capacity as usize
                            && let Some(oldest) = model.iter().position(|naive| !naive.assured)
                        {
                            model.remove(oldest);
                        }
                        // A table that was made smaller shrinks by one for each that comes, and grows by it.
                        let has_room = entered == Entered::Made;
                        if has_room {
                            let state = if host % 2 == 0 { "open" } else { "sent" };
                            model.push(Naive { host, turned: is_reply, state, replied: false, assured: false, last_ms: now_ms });
                        }
                        let all_assured = model.len() >= capacity as usize && model.iter().all(|naive| naive.assured);
                        prop_assert!(has_room || all_assured);
                    }
                }
                Op::Pass(steps) => now_ms += steps * STEP_MS,
                Op::Sweep => {
                    table.sweep(reader.turn(), now_ms, 10_000);
                    model.retain(|naive| naive.over_ms() > now_ms);
                }
                Op::Capacity(new) => {
                    capacity = new;
                    table.configure(capacity, TIMEOUTS, false);
                }
                Op::Kill(host) => {
                    let all: Vec<_> = table.all(reader.turn(), now_ms).map(|(number, key, _)| (number, key)).collect();
                    for (number, _) in all.into_iter().filter(|(_, other)| *other == key(host)) {
                        prop_assert!(table.kill(reader.turn(), number, key(host)));
                        model.retain(|naive| naive.host != host || naive.over_ms() <= now_ms);
                    }
                }
            }
            reader.quiescent();
            prop_assert_eq!(table.size(), model.len());
        }
        let mut all: Vec<u32> = table.all(reader.turn(), now_ms).map(|(_, key, _)| key.ports & 0xffff).collect();
        let mut expected: Vec<u32> = model.iter().filter(|naive| naive.over_ms() > now_ms).map(|naive| naive.host).collect();
        all.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(all, expected);
    }
}

/// Workers that begin the same connections at once make each of them once; and a flood of beginnings removes no assured one.
#[test]
fn a_flood_on_several_workers_moves_no_assured_connection() {
    const ASSURED: u32 = 200;
    let table = Arc::new(Table::new(7, 1000, TIMEOUTS, false));
    let made = Arc::new(AtomicUsize::new(0));
    let flood = |worker: u32| {
        let (table, made) = (table.clone(), made.clone());
        move || {
            let mut reader = Domain::global().register("flood");
            for number in 0..20_000u32 {
                // All begin the even ones, which are of UDP; the odd ones are each worker's own SYNs.
                let host = if number < 2 * ASSURED {
                    2 * (number / 2)
                } else {
                    1 + 2 * (1000 + number * 4 + worker)
                };
                let sight = sight(host, false, Signal::Syn);
                let found = look(&table, reader.turn(), &sight, 0);
                let entered = found == Found::New
                    && table.enter(reader.turn(), worker as usize, &sight, 0) == Entered::Made;
                if host <= 2 * ASSURED && host % 2 == 0 {
                    made.fetch_add(usize::from(entered), Relaxed);
                    let answer = look(&table, reader.turn(), &self::sight(host, true, Signal::Ack), 0);
                    assert_eq!(answer, Found::Established);
                }
                reader.quiescent();
            }
        }
    };
    let threads: Vec<_> = (0..4).map(|worker| std::thread::spawn(flood(worker))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(made.load(Relaxed), ASSURED as usize);
    let reader = Domain::global().register("test");
    for host in (0..2 * ASSURED).step_by(2) {
        assert_eq!(
            look(&table, reader.turn(), &sight(host, false, Signal::Ack), 0),
            Found::Established,
            "{host}"
        );
    }
    let all: Vec<_> = table.all(reader.turn(), 0).map(|(_, key, _)| key).collect();
    let mut once = all.clone();
    once.sort_unstable_by_key(|key| (key.kind, key.high));
    once.dedup();
    assert_eq!((all.len(), once.len()), (table.size(), all.len()));
    assert!(table.size() <= 1000, "{}", table.size());
    let totals = table.totals();
    assert_eq!(totals.made, totals.ended.iter().sum::<u64>() + table.size() as u64);
}

/// A table that is taken over has the same connections, with their states.
#[test]
fn another_table_takes_over() {
    let reader = Domain::global().register("test");
    let [old, new] = [1, 2].map(|seed| Table::new(seed, 100, TIMEOUTS, false));
    for host in 0..40 {
        old.enter(reader.turn(), 0, &sight(host, false, Signal::Syn), 0);
        look(&old, reader.turn(), &sight(host, true, Signal::SynAck), 0);
    }
    new.adopt(reader.turn(), &old, 0);
    assert_eq!(new.size(), 40);
    for host in 0..40 {
        assert_eq!(look(&new, reader.turn(), &sight(host, false, Signal::Ack), 0), Found::Established);
    }
}
