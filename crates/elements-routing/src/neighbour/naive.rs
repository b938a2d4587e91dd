//! The states of one neighbour, slowly and obviously: the table of RFC 4861, appendix C, walked a millisecond at a time.
//! What the real entries are held against.

use super::state::{News, Query, State};
use wire::MacAddr;

/// Times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) reachable: u32,
    pub(crate) delay: u32,
    pub(crate) retrans: u32,
    pub(crate) probes: u32,
    pub(crate) timeout: u32,
}

pub(crate) struct Naive {
    times: Times,
    pub(crate) state: State,
    pub(crate) mac: Option<MacAddr>,
    /// Since the last answer.
    age: u32,
    /// Until the timer of the state runs out.
    timer: u32,
    sent: u32,
    /// What was asked so far.
    pub(crate) queries: Vec<Query>,
}

impl Naive {
    pub(crate) fn new(times: Times) -> Naive {
        Naive { times, state: State::Failed, mac: None, age: 0, timer: 0, sent: 0, queries: Vec::new() }
    }

    fn ask(&mut self) {
        self.queries.push(match (self.state, self.mac) {
            (State::Probe, Some(mac)) => Query::One(mac),
            _ => Query::All,
        });
        (self.sent, self.timer) = (self.sent + 1, self.times.retrans);
    }

    fn fail(&mut self) {
        (self.state, self.mac) = (State::Failed, None);
    }

    /// A millisecond passes.
    pub(crate) fn pass(&mut self) {
        self.age += 1;
        self.timer = self.timer.saturating_sub(1);
        match self.state {
            State::Reachable if self.age >= self.times.reachable => self.state = State::Stale,
            State::Delay if self.timer == 0 => {
                (self.state, self.sent) = (State::Probe, 0);
                self.ask();
            }
            State::Incomplete | State::Probe if self.timer == 0 => {
                if self.sent == self.times.probes {
                    self.fail()
                } else {
                    self.ask()
                }
            }
            _ => {}
        }
        // The table forgets no neighbour while it finds out whether it is there.
        if self.age > self.times.timeout && matches!(self.state, State::Reachable | State::Stale) {
            self.fail();
        }
    }

    /// There is a packet for it.
    pub(crate) fn want(&mut self) {
        match self.state {
            State::Failed => {
                (self.state, self.sent, self.age) = (State::Incomplete, 0, 0);
                self.ask();
            }
            State::Stale => (self.state, self.timer) = (State::Delay, self.times.delay),
            _ => {}
        }
    }

    /// It announces itself; if it has failed, that is not heard.
    pub(crate) fn tell(&mut self, news: News) {
        let new = news.mac.filter(|mac| Some(*mac) != self.mac);
        match (self.state, new) {
            (State::Permanent | State::Failed, _) => {}
            (State::Incomplete, None) => {}
            (State::Incomplete, Some(mac)) => self.learn(mac, news.solicited),
            (_, None) if news.solicited => (self.state, self.age) = (State::Reachable, 0),
            (_, None) => {}
            (_, Some(mac)) if news.overrides => self.learn(mac, news.solicited),
            (State::Reachable, Some(_)) => self.state = State::Stale,
            (_, Some(_)) => {}
        }
    }

    fn learn(&mut self, mac: MacAddr, solicited: bool) {
        (self.mac, self.age) = (Some(mac), 0);
        self.state = if solicited { State::Reachable } else { State::Stale };
    }

    pub(crate) fn insert(&mut self, mac: MacAddr, permanent: bool) {
        self.learn(mac, true);
        if permanent {
            self.state = State::Permanent;
        }
    }

    pub(crate) fn delete(&mut self) {
        if self.state != State::Incomplete {
            self.fail();
        }
    }
}
