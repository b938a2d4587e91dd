//! What is known of one neighbour, and how that changes: the states of RFC 4861, section 7.3.2, for IPv4, too.
//!
//! ```text
//!                       an answer                    REACHABLE_TIME without one
//!   incomplete ---------------------> reachable ------------------------------> stale
//!       |  ^                              ^                                       | a packet
//!       |  | a packet                     | an answer                             v
//!       v  |            no answer         |              DELAY without one      delay
//!     failed <-------------------------- probe <----------------------------------+
//! ```
//!
//! `permanent` neighbours, which an administrator names, change only when an administrator says so. An entry does not know the
//! time and sets no timer: each function is told the time, and [`Entry::attention_ns`] says when to come back.

use router::{BadState, StateReader, StateWriter};
use wire::MacAddr;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1000 * MS;

/// The state of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    /// Its address is asked for.
    Incomplete,
    /// It answered a short time ago.
    Reachable,
    /// It did not for some time, but no packet is for it either.
    Stale,
    /// A packet is for it; soon it will be asked whether it is still there.
    Delay,
    /// It is being asked whether it is still there.
    Probe,
    /// It did not answer.
    Failed,
    /// An administrator has named it.
    Permanent,
}

impl State {
    /// Whether packets are sent to the neighbour in this state.
    pub(crate) fn is_known(self) -> bool {
        !matches!(self, State::Incomplete | State::Failed)
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Incomplete => "incomplete",
            State::Reachable => "reachable",
            State::Stale => "stale",
            State::Delay => "delay",
            State::Probe => "probe",
            State::Failed => "failed",
            State::Permanent => "permanent",
        }
    }
}

/// When states change by themselves. All times in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    /// After an answer a neighbour counts as reachable for so long; 0 for ever. (RFC 4861: REACHABLE_TIME.)
    pub(crate) reachable_ns: i64,
    /// From a packet for a stale neighbour to the first probe. (DELAY_FIRST_PROBE_TIME.)
    pub(crate) delay_ns: i64,
    /// From one query to the next. (RETRANS_TIMER.)
    pub(crate) retrans_ns: i64,
    /// Queries that may go unanswered before a neighbour counts as failed; 0: it never does, and further queries are sent only
    /// as packets come, at Click's intervals. (MAX_MULTICAST_SOLICIT, MAX_UNICAST_SOLICIT.)
    pub(crate) probes: u32,
    /// An address without answer for so long is forgotten; 0 for never.
    pub(crate) timeout_ns: i64,
}

/// Time between two queries for one address where packets cause them, and the same after [`PATIENCE`] went unanswered.
const QUERY_INTERVAL: [i64; 2] = [100 * MS, 2 * SECOND];
const PATIENCE: u32 = 10;

/// Longer than any time between two queries.
const LONG: i64 = 1_000_000 * SECOND;

impl Timing {
    /// Time from the last of so many queries to the next.
    fn interval_ns(&self, queries: u32) -> i64 {
        match self.probes {
            0 => QUERY_INTERVAL[usize::from(queries >= PATIENCE)],
            _ => self.retrans_ns,
        }
    }

    /// Time for which an address that was asked for may hope for an answer before others take its place.
    pub(crate) fn grace_ns(&self) -> i64 {
        QUERY_INTERVAL[0]
    }
}

/// Whom to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// All neighbours.
    All,
    /// The one that had this address.
    One(MacAddr),
}

/// News of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// Its Ethernet address, if it says so.
    pub(crate) mac: Option<MacAddr>,
    /// Whether this answers a query, so that it shows that packets arrive there.
    pub(crate) solicited: bool,
    /// Whether another address than the known one takes its place.
    pub(crate) overrides: bool,
}

/// What is known of one neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    state: State,
    mac: MacAddr,
    /// When it last answered, or was entered.
    confirmed_ns: i64,
    /// When it came into its state.
    since_ns: i64,
    /// When it was last asked.
    queried_ns: i64,
    /// Queries since its last answer.
    queries: u32,
}

impl Entry {
    /// One of which nothing is known.
    pub(crate) fn new(now_ns: i64) -> Entry {
        Entry {
            state: State::Failed,
            mac: MacAddr::BROADCAST,
            confirmed_ns: now_ns,
            since_ns: now_ns,
            queried_ns: now_ns - LONG,
            queries: 0,
        }
    }

    /// Writes it for another process.
    pub(super) fn write(&self, out: &mut StateWriter) {
        let state = match self.state {
            State::Permanent => 2,
            State::Reachable => 1,
            // The next packet has it asked for again.
            _ => 0,
        };
        out.u32(state);
        out.bytes(&self.mac.0);
        out.i64(self.confirmed_ns);
        out.i64(self.since_ns);
    }

    /// Reads what another process has written.
    pub(super) fn read(state: &mut StateReader) -> Result<Entry, BadState> {
        let is = match state.u32()? {
            2 => State::Permanent,
            1 => State::Reachable,
            _ => State::Stale,
        };
        let mac = <[u8; 6]>::try_from(state.bytes()?).map_err(|_| BadState("no Ethernet address"))?;
        let (confirmed_ns, since_ns) = (state.i64()?, state.i64()?);
        let new = Entry::new(confirmed_ns);
        Ok(Entry { state: is, mac: MacAddr(mac), since_ns, ..new })
    }

    /// Its state at a time.
    pub(crate) fn state(&self, timing: &Timing, now_ns: i64) -> State {
        if self.is_expired(timing, now_ns) {
            return State::Failed;
        }
        let aged = timing.reachable_ns > 0 && now_ns >= self.confirmed_ns + timing.reachable_ns;
        if self.state == State::Reachable && aged { State::Stale } else { self.state }
    }

    /// The state that it was left in.
    pub(crate) fn recorded_state(&self) -> State {
        self.state
    }

    /// Leaves it in the state that it is in by now.
    pub(crate) fn settle(&mut self, timing: &Timing, now_ns: i64) {
        match self.state(timing, now_ns) {
            State::Failed if self.state != State::Failed => self.fail(now_ns),
            state => self.state = state,
        }
    }

    /// Its Ethernet address, if packets are to be sent there.
    pub(crate) fn mac(&self, timing: &Timing, now_ns: i64) -> Option<MacAddr> {
        self.state(timing, now_ns).is_known().then_some(self.mac)
    }

    /// Its last known Ethernet address; the broadcast address if there is none.
    pub(crate) fn last_mac(&self) -> MacAddr {
        self.mac
    }

    /// When it last answered, or was entered.
    pub(crate) fn confirmed_ns(&self) -> i64 {
        self.confirmed_ns
    }

    /// Whether it has not been heard of for too long.
    pub(crate) fn is_expired(&self, timing: &Timing, now_ns: i64) -> bool {
        self.ages(timing) && self.confirmed_ns + timing.timeout_ns < now_ns
    }

    /// Whether it is forgotten some day: not while it is found out whether it is still there.
    fn ages(&self, timing: &Timing) -> bool {
        timing.timeout_ns > 0
            && match self.state {
                State::Permanent => false,
                State::Delay | State::Probe => timing.probes == 0,
                _ => true,
            }
    }

    /// When something is to be done about it even if no packet for it comes ([`Entry::tick`]).
    pub(crate) fn alarm_ns(&self, timing: &Timing) -> Option<i64> {
        match self.state {
            State::Delay => Some(self.since_ns + timing.delay_ns),
            State::Incomplete | State::Probe if timing.probes > 0 => {
                Some(self.queried_ns + timing.retrans_ns)
            }
            _ => None,
        }
    }

    /// When packets for it begin to concern its state ([`Entry::wanted`]), for an entry whose address is known.
    pub(crate) fn attention_ns(&self, timing: &Timing) -> i64 {
        let soon = match self.state {
            State::Reachable if timing.reachable_ns > 0 => self.confirmed_ns + timing.reachable_ns,
            State::Stale => i64::MIN,
            State::Delay => self.since_ns + timing.delay_ns,
            State::Probe => self.queried_ns + timing.interval_ns(self.queries),
            _ => i64::MAX,
        };
        if self.ages(timing) { soon.min(self.confirmed_ns + timing.timeout_ns + 1) } else { soon }
    }

    /// When the next query because of a packet may be sent.
    pub(crate) fn again_ns(&self, timing: &Timing) -> i64 {
        self.queried_ns + timing.interval_ns(self.queries)
    }

    /// A packet for the neighbour is there: whom to ask because of it.
    pub(crate) fn wanted(&mut self, timing: &Timing, now_ns: i64) -> Option<Query> {
        match self.state(timing, now_ns) {
            State::Reachable | State::Permanent => None,
            State::Stale => {
                self.enter(State::Delay, now_ns);
                self.probe_after_delay(timing, now_ns)
            }
            State::Delay => self.probe_after_delay(timing, now_ns),
            State::Probe => self.query(timing, now_ns, Query::One(self.mac)),
            State::Failed => {
                *self = Entry { state: State::Incomplete, ..Entry::new(now_ns) };
                self.query(timing, now_ns, Query::All)
            }
            State::Incomplete => {
                // It is wanted, and so not forgotten just now.
                if timing.timeout_ns > 0 {
                    self.confirmed_ns = self.confirmed_ns.max(now_ns - timing.timeout_ns);
                }
                self.query(timing, now_ns, Query::All)
            }
        }
    }

    /// Time has passed: whom to ask because of that.
    pub(crate) fn tick(&mut self, timing: &Timing, now_ns: i64) -> Option<Query> {
        if self.alarm_ns(timing).is_none_or(|at_ns| now_ns < at_ns) {
            return None;
        }
        match self.state {
            State::Delay => self.probe_after_delay(timing, now_ns),
            _ if self.queries >= timing.probes => {
                self.fail(now_ns);
                None
            }
            State::Probe => self.query(timing, now_ns, Query::One(self.mac)),
            _ => self.query(timing, now_ns, Query::All),
        }
    }

    /// The neighbour says something about itself (RFC 4861, section 7.2.5; without the flag for routers). True if the entry is not
    /// what it was.
    pub(crate) fn tell(&mut self, timing: &Timing, news: News, now_ns: i64) -> bool {
        let before = *self;
        self.settle(timing, now_ns);
        match (self.state, news.mac) {
            (State::Permanent, _) => {}
            (State::Incomplete | State::Failed, None) => {}
            (State::Incomplete | State::Failed, Some(mac)) => self.learn(mac, news.solicited, now_ns),
            (state, mac) => {
                let mac = mac.unwrap_or(self.mac);
                if mac == self.mac {
                    if news.solicited {
                        self.learn(mac, true, now_ns);
                    }
                } else if news.overrides {
                    self.learn(mac, news.solicited, now_ns);
                } else if state == State::Reachable {
                    // Two claim the address: the next packet asks the one that is known.
                    self.enter(State::Stale, now_ns);
                }
            }
        }
        *self != before
    }

    /// An administrator names the neighbour's address.
    pub(crate) fn set(&mut self, mac: MacAddr, permanent: bool, now_ns: i64) {
        self.learn(mac, true, now_ns);
        if permanent {
            self.state = State::Permanent;
        }
    }

    /// The neighbour is no longer known.
    pub(crate) fn fail(&mut self, now_ns: i64) {
        self.enter(State::Failed, now_ns);
        self.mac = MacAddr::BROADCAST;
    }

    fn learn(&mut self, mac: MacAddr, reachable: bool, now_ns: i64) {
        self.mac = mac;
        self.enter(if reachable { State::Reachable } else { State::Stale }, now_ns);
        (self.confirmed_ns, self.queries) = (now_ns, 0);
        self.queried_ns = now_ns - LONG;
    }

    fn enter(&mut self, state: State, now_ns: i64) {
        (self.state, self.since_ns) = (state, now_ns);
    }

    fn probe_after_delay(&mut self, timing: &Timing, now_ns: i64) -> Option<Query> {
        if now_ns < self.since_ns + timing.delay_ns {
            return None;
        }
        self.enter(State::Probe, now_ns);
        self.queries = 0;
        self.query(timing, now_ns, Query::One(self.mac))
    }

    /// A query, if it is time for one.
    fn query(&mut self, timing: &Timing, now_ns: i64, whom: Query) -> Option<Query> {
        let due = now_ns >= self.again_ns(timing) && (timing.probes == 0 || self.queries < timing.probes);
        due.then(|| {
            (self.queried_ns, self.queries) = (now_ns, self.queries.saturating_add(1));
            whom
        })
    }
}
