//! What is wrong with what happened: said as soon as it shows, and at the end about what never came.

use crate::excuses::Excuses;
use crate::ledger::{Arrived, Complaint, Entry, Ledger, Sent};
use crate::message::Message;
use crate::model::{Fate, History};
use std::fmt;
use std::net::IpAddr;

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
        let times = entry.arrived.len();
        if times > 1 && times > self.arrivals_max(ledger, message) {
            return self.find(now_ns, format!("{message} arrives {times} times"));
        }
        match (&entry.sent, ledger.get(message.asked())) {
            (Some(sent), _) if times > 1 => {
                self.looks_right(sent, arrived, since_ns(ledger, message));
            }
            (Some(sent), _) => self.host_message(sent, arrived, overtaken),
            (None, Some(Entry { sent: Some(asked), .. })) if message.answer => {
                self.router_answer(asked, arrived)
            }
            _ => self.find(now_ns, format!("{message} arrives, and no host sent it")),
        }
    }

    /// How often a message may have arrived by now. A host answers a question as often as it comes, and so does a router.
    fn arrivals_max(&self, ledger: &Ledger, message: Message) -> usize {
        let Some(Entry { sent: Some(asked), .. }) = ledger.get(message.asked()) else { return 1 };
        let (here, there) = (asked.look.src, asked.look.dst);
        let questions = || self.times([here, there], asked.at_ns);
        if !message.answer {
            return questions();
        }
        let is_from_host = ledger.get(message).is_some_and(|entry| entry.sent.is_some());
        let answers = if is_from_host { sendings(ledger, message) } else { questions() };
        answers * self.times([there, here], asked.at_ns)
    }

    /// How often a router may have complained of a message by now: as often as it came there, and what it says may come again, too.
    fn complaints_max(&self, ledger: &Ledger, sent: &Sent, from: IpAddr) -> usize {
        let (sendings, since_ns) = (sendings(ledger, sent.message), since_ns(ledger, sent.message));
        let [there, back] = [[sent.look.src, from], [from, sent.look.src]];
        sendings * self.times(there, since_ns) * self.times(back, since_ns)
    }

    /// How often what is sent once from one address to another may arrive, if that was at some time or later.
    fn times(&self, way: [IpAddr; 2], since_ns: i64) -> usize {
        1 + self.history.current().copies(way, since_ns)
    }

    /// Whether parts of a message may arrive more than once.
    pub fn may_come_again(&self, ledger: &Ledger, message: Message) -> bool {
        self.arrivals_max(ledger, message) > 1
    }

    /// Whether a message arrived as the model says, if it was sent at some time or later.
    fn looks_right(&mut self, sent: &Sent, arrived: &Arrived, since_ns: i64) -> bool {
        let (now_ns, message) = (arrived.at_ns, sent.message);
        let fates = self.history.fates(&Sent { at_ns: since_ns, ..sent.clone() }, now_ns);
        let fits = fates.iter().any(|fate| fits(fate, sent, arrived));
        if !fits {
            let (look, seen) = (&sent.look, &arrived.look);
            let what = format!("{message}, sent as {look:?}, arrives at host {} as {seen:?}", arrived.host);
            self.find(now_ns, format!("{what}, but must have the fate {fates:?}"));
        }
        fits
    }

    fn host_message(&mut self, sent: &Sent, arrived: &Arrived, overtaken: Option<u32>) {
        let (now_ns, message) = (arrived.at_ns, sent.message);
        if !self.looks_right(sent, arrived, sent.at_ns) {
            return;
        }
        if let Err(what) = self.history.current_mut().observe(sent, arrived) {
            self.find(now_ns, format!("{message}: {what}"));
        }
        if let Some(later) = overtaken
            && self.history.fates(sent, now_ns).len() == 1
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
        if complaints.len() > 1 && complaints.len() > self.complaints_max(ledger, sent, from) {
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

/// How often a host sent a message by now: an answer as often as the question came.
fn sendings(ledger: &Ledger, message: Message) -> usize {
    match ledger.get(message.asked()) {
        Some(asked) if message.answer => asked.arrived.len(),
        _ => 1,
    }
}

/// Since when a message may be on its way: an answer since its question is.
fn since_ns(ledger: &Ledger, message: Message) -> i64 {
    let asked = ledger.get(message.asked()).and_then(|asked| asked.sent.as_ref());
    asked.map_or(i64::MIN, |asked| asked.at_ns)
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
