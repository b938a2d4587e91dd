//! What is wrong with what happened: said as soon as it shows, and at the end about what never came.

use crate::excuses::Excuses;
use crate::ledger::{Arrived, Complaint, Entry, Ledger, Sent};
use crate::message::Message;
use crate::model::{Fate, History};
use std::fmt;

/// Faults that are told; the rest is only counted.
const TOLD: usize = 5;

/// Something that must not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When it showed, in nanoseconds since the story began.
    pub at_ns: i64,
    /// What.
    pub what: String,
    /// Whether it only helps to understand the others.
    pub is_note: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:.3} ms: {}", self.at_ns as f64 / 1e6, self.what)
    }
}

/// Compares what happens with what the model says.
pub struct Judge {
    /// The model, as it was at each time.
    pub history: History,
    /// What is wrong so far.
    pub faults: Vec<Fault>,
    /// How many faults there were, told or not.
    pub found: usize,
    /// Why messages may be missing or late.
    pub excuses: Excuses,
    start_ns: i64,
}

impl Judge {
    /// A judge of a story that begins now. A message stays with routers for `held_ns` at most, beyond what is usual.
    pub fn new(history: History, start_ns: i64, held_ns: i64) -> Judge {
        Judge { history, faults: Vec::new(), found: 0, excuses: Excuses::new(held_ns), start_ns }
    }

    /// Notes a fault.
    pub fn find(&mut self, now_ns: i64, what: String) {
        self.found += 1;
        if self.faults.len() < TOLD {
            self.faults.push(Fault { at_ns: now_ns - self.start_ns, what, is_note: false });
        }
    }

    /// Adds what helps to understand the faults.
    pub fn note(&mut self, now_ns: i64, what: String) {
        self.faults.push(Fault { at_ns: now_ns - self.start_ns, what, is_note: true });
    }

    /// A message has arrived.
    pub fn arrival(&mut self, ledger: &Ledger, message: Message, arrived: &Arrived, overtaken: Option<u32>) {
        let now_ns = arrived.at_ns;
        let Some(entry) = ledger.get(message) else { return };
        if entry.arrived.len() > 1 {
            let times = entry.arrived.len();
            if entry.sent.is_some() && self.history.current().repeats(arrived.host) {
                return;
            }
            // A host answers a question as often as it comes, which was judged when it came.
            if message.answer
                && ledger
                    .get(Message { answer: false, ..message })
                    .is_some_and(|asked| asked.arrived.len() >= times)
            {
                return;
            }
            return self.find(now_ns, format!("{message} arrives {times} times"));
        }
        match (&entry.sent, ledger.get(Message { answer: false, ..message })) {
            (Some(sent), _) => self.host_message(sent, arrived, overtaken),
            (None, Some(Entry { sent: Some(asked), .. })) if message.answer => {
                self.router_answer(asked, arrived)
            }
            _ => self.find(now_ns, format!("{message} arrives, and no host sent it")),
        }
    }

    fn host_message(&mut self, sent: &Sent, arrived: &Arrived, overtaken: Option<u32>) {
        let (now_ns, message) = (arrived.at_ns, sent.message);
        let fates = self.history.fates(sent, now_ns);
        if !fates.iter().any(|fate| fits(fate, sent, arrived)) {
            let (look, seen) = (&sent.look, &arrived.look);
            let what = format!("{message}, sent as {look:?}, arrives at host {} as {seen:?}", arrived.host);
            return self.find(now_ns, format!("{what}, but must have the fate {fates:?}"));
        }
        if let Err(what) = self.history.current_mut().observe(sent, arrived) {
            self.find(now_ns, format!("{message}: {what}"));
        }
        if let Some(later) = overtaken
            && fates.len() == 1
            && self.history.keeps_order(sent, now_ns)
            && !self.excuses.is_rough(sent.at_ns, now_ns)
        {
            self.find(now_ns, format!("{message} arrives after message {later}"));
        }
    }

    fn router_answer(&mut self, asked: &Sent, arrived: &Arrived) {
        let fates = self.history.fates(asked, arrived.at_ns);
        let (message, look) = (asked.message.answered(), &arrived.look);
        if !fates.contains(&Fate::Answered) && !fates.contains(&Fate::Open) {
            self.find(
                arrived.at_ns,
                format!("{message} comes from {}, but must have the fate {fates:?}", look.src),
            );
        } else if (arrived.host, look.dst, look.src) != (asked.host, asked.look.src, asked.look.dst) {
            self.find(arrived.at_ns, format!("{message} goes from {} to {}", look.src, look.dst));
        }
    }

    /// An ICMP error about a message has arrived.
    pub fn complaint(&mut self, ledger: &Ledger, message: Message, complaint: &Complaint) {
        let now_ns = complaint.at_ns;
        let Some(Entry { sent: Some(sent), complaints, .. }) = ledger.get(message) else {
            return self.find(now_ns, format!("an error about {message}, which no host sent"));
        };
        let ((kind, code), from) = (complaint.kind, complaint.from);
        let error = format!("the error {kind}/{code} from {from} about {message}");
        if complaint.host != sent.host {
            return self.find(now_ns, format!("{error} goes to host {}, not to its sender", complaint.host));
        }
        let look = &sent.look;
        if complaint.quoted != (look.src, look.dst, look.ports) {
            return self.find(now_ns, format!("{error} quotes {:?}, and not {look:?}", complaint.quoted));
        }
        if complaints.len() > 1 {
            return self.find(now_ns, format!("{error} is the {}th", complaints.len()));
        }
        let fates = self.history.fates(sent, now_ns);
        let fits = fates.contains(&Fate::Refused(Some(complaint.kind))) || fates.contains(&Fate::Open);
        if !fits
            && !self.history.current().allows(sent, complaint)
            && !self.excuses.is_rough(sent.at_ns, now_ns)
        {
            self.find(now_ns, format!("{error}, which must have the fate {fates:?}"));
        }
    }

    /// Nothing moves any more: what should have come and did not?
    pub fn end(&mut self, ledger: &Ledger, now_ns: i64) {
        for (message, entry) in ledger.all() {
            let Some(sent) = &entry.sent else { continue };
            let until_ns = self.excuses.until_ns(sent.at_ns);
            let answered = ledger.get(message.answered()).is_some_and(|answer| !answer.arrived.is_empty());
            let (arrived, told) = (!entry.arrived.is_empty(), !entry.complaints.is_empty());
            let fates = self.history.fates(sent, until_ns);
            let missing = |fate: &Fate| match fate {
                Fate::Arrives { .. } => !arrived,
                Fate::Answered => !answered,
                Fate::Refused(Some(_)) => !arrived && !told,
                Fate::Refused(None) | Fate::Open => false,
            };
            if fates.iter().all(missing) && !self.excuses.excuse(message, sent.at_ns) {
                let age = (sent.at_ns - self.start_ns) as f64 / 1e6;
                self.find(
                    now_ns,
                    format!("{message}, sent at {age:.3} ms as {:?}, is lost: {:?}", sent.look, fates[0]),
                );
            }
        }
    }
}

fn fits(fate: &Fate, sent: &Sent, arrived: &Arrived) -> bool {
    let (look, seen) = (&sent.look, &arrived.look);
    match fate {
        Fate::Open => true,
        Fate::Arrives { hosts, hops, as_sent, ecn } => {
            let same = (look.src, look.dst, look.ports) == (seen.src, seen.dst, seen.ports);
            hosts.contains(&arrived.host)
                && look.ttl.checked_sub(*hops) == Some(seen.ttl)
                && (same || !as_sent)
                && ecn.unwrap_or(look.ecn) == seen.ecn
        }
        _ => false,
    }
}
