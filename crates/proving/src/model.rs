//! What must happen to a packet, as the models of the families say it.

use crate::ledger::{Arrived, Complaint, Ledger, Sent};
use crate::machine::Machine;
use crate::story::{Knobs, Weather};
use std::net::IpAddr;

/// What must become of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives once.
    Arrives {
        /// At one of these hosts.
        hosts: Vec<usize>,
        /// With its TTL lowered by so many.
        hops: u8,
        /// With the addresses and ports that it was sent with. Otherwise the model looks itself, see [`Model::observe`].
        as_sent: bool,
        /// With this mark of explicit congestion notification; without one, with the one that it was sent with.
        ecn: Option<u8>,
    },
    /// A router answers it.
    Answered,
    /// It does not arrive. Its sender gets this ICMP error, type and code, or hears nothing.
    Refused(Option<(u8, u8)>),
    /// It may or may not arrive, once at most.
    Open,
}

impl Fate {
    /// The fate to arrive at a host.
    pub fn arrives(host: usize, hops: u8, as_sent: bool) -> Fate {
        Fate::Arrives { hosts: vec![host], hops, as_sent, ecn: None }
    }
}

/// What must come of a handler that is written, or of a swap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It succeeds.
    Succeeds,
    /// It is refused, and changes nothing.
    Fails,
    /// Either.
    Either,
}

/// What a family's routers must do at one moment.
///
/// The world keeps a copy for each moment at which something changed. A packet that was on its way during several of them may
/// have the fate that any of them gives it.
pub trait Model {
    /// What must become of a message.
    fn fate(&self, sent: &Sent) -> Fate;

    /// A handler is written; changes what must happen from now on.
    fn write(&mut self, machine: usize, path: &str, value: &str) -> Verdict;

    /// A right configuration takes the place of the one that runs, whose knobs were `old`.
    fn swap(&mut self, machine: usize, old: &Knobs, new: &Knobs) -> Verdict {
        let _ = (machine, old, new);
        Verdict::Succeeds
    }

    /// A router ends and starts anew, with nothing that it had learned.
    fn restart(&mut self, machine: usize) {
        let _ = machine;
    }

    /// A program of another version takes a router's place, with the configuration that ran: as a swap that changes nothing. Whether all that
    /// the router has learned goes on.
    fn upgrade(&mut self, machine: usize, knobs: &Knobs) -> bool {
        let _ = self.swap(machine, knobs, knobs);
        true
    }

    /// The clock leaps by so many nanoseconds: what has its time may be over.
    fn leap(&mut self, by_ns: i64) {
        let _ = by_ns;
    }

    /// A worker of a router does nothing between two moments.
    fn stall(&mut self, machine: usize, from_ns: i64, until_ns: i64) {
        let _ = (machine, from_ns, until_ns);
    }

    /// A link's weather changes. Returns whether the model says what gets lost by it; otherwise anything may, until some time after.
    fn weather(&mut self, link: &str, weather: Weather) -> bool {
        let _ = (link, weather);
        false
    }

    /// A change is over, and with it what it brought for a moment only. What is sent from now on meets what holds now.
    fn settle(&mut self, now_ns: i64) {
        let _ = now_ns;
    }

    /// A host sends a message.
    fn sends(&mut self, sent: &Sent) {
        let _ = sent;
    }

    /// A message arrived where it should.
    ///
    /// # Errors
    /// What is wrong with how it looks.
    fn observe(&mut self, sent: &Sent, arrived: &Arrived) -> Result<(), String> {
        let _ = (sent, arrived);
        Ok(())
    }

    /// Whether a message may not overtake others of its flow.
    fn keeps_order(&self, sent: &Sent) -> bool {
        let _ = sent;
        true
    }

    /// For which reasons a router may drop packets that others overtook by more than it can bear. As many messages may be missing.
    fn overtaken(&self, machine: usize) -> &'static [&'static str] {
        let _ = machine;
        &[]
    }

    /// Whether routers say by now that they let packets overtake others of their flow.
    fn lets_overtake(&self, machines: &mut [Machine]) -> bool {
        let _ = machines;
        false
    }

    /// How many copies of a packet from one address to another, which was sent at some time or later, may arrive beside it by now, because
    /// something repeats packets and a router has forgotten since then what keeps them out.
    fn copies(&self, way: [IpAddr; 2], since_ns: i64) -> usize {
        let _ = (way, since_ns);
        0
    }

    /// Whether an error is a reasonable one, if [`Model::fate`] allows none.
    fn allows(&self, sent: &Sent, complaint: &Complaint) -> bool {
        let _ = (sent, complaint);
        false
    }

    /// What is wrong at the end of the story, when nothing moves any more. If it was `calm`, no link was ever in trouble, and no router
    /// was restarted.
    fn at_end(&self, machines: &mut [Machine], ledger: &Ledger, calm: bool) -> Vec<String> {
        let _ = (machines, ledger, calm);
        Vec::new()
    }

    /// Handlers whose values a swap from one configuration to the other must not change.
    fn kept(&self, machine: usize, old: &Knobs, new: &Knobs) -> Vec<String> {
        let _ = (machine, old, new);
        Vec::new()
    }

    /// What of a value of such a handler must be the same.
    fn essence(&self, path: &str, text: &str) -> String {
        let _ = path;
        text.to_owned()
    }

    /// A copy.
    fn copy(&self) -> Box<dyn Model>;
}

/// A model's versions, each with the time from which it holds.
pub struct History {
    versions: Vec<(i64, Box<dyn Model>)>,
}

impl History {
    /// The model that holds from the beginning.
    pub fn new(model: Box<dyn Model>) -> History {
        History { versions: vec![(i64::MIN, model)] }
    }

    /// The version that holds now.
    pub fn current(&self) -> &dyn Model {
        self.versions[self.versions.len() - 1].1.as_ref()
    }

    /// The version that holds now, to learn what changes nothing in the past.
    pub fn current_mut(&mut self) -> &mut Box<dyn Model> {
        let last = self.versions.len() - 1;
        &mut self.versions[last].1
    }

    /// Begins another version.
    pub fn change<R>(&mut self, now_ns: i64, change: impl FnOnce(&mut dyn Model) -> R) -> R {
        self.change_during(now_ns, now_ns, change)
    }

    /// The same by what begins at one moment and is over at another, as a leap of the clock.
    pub fn change_during<R>(
        &mut self,
        from_ns: i64,
        to_ns: i64,
        change: impl FnOnce(&mut dyn Model) -> R,
    ) -> R {
        let mut model = self.current().copy();
        let result = change(model.as_mut());
        let mut settled = model.copy();
        settled.settle(to_ns);
        self.versions.push((from_ns, model));
        self.versions.push((to_ns, settled));
        result
    }

    /// The same by what is not over for long, so that nothing settles.
    pub fn begin(&mut self, now_ns: i64, change: impl FnOnce(&mut dyn Model)) {
        let mut model = self.current().copy();
        change(model.as_mut());
        self.versions.push((now_ns, model));
    }

    /// The fates that a message may have that was on its way between two moments, each once.
    pub fn fates(&self, sent: &Sent, until_ns: i64) -> Vec<Fate> {
        let mut fates = Vec::new();
        for model in self.during(sent, until_ns) {
            let fate = model.fate(sent);
            if !fates.contains(&fate) {
                fates.push(fate);
            }
        }
        fates
    }

    /// Whether a message that was on its way between two moments may not have overtaken others of its flow.
    pub fn keeps_order(&self, sent: &Sent, until_ns: i64) -> bool {
        self.during(sent, until_ns).all(|model| model.keeps_order(sent))
    }

    /// The versions that held between two moments.
    fn during(&self, sent: &Sent, until_ns: i64) -> impl Iterator<Item = &dyn Model> {
        let end = |number: usize| self.versions.get(number + 1).map_or(i64::MAX, |next| next.0);
        let versions = self.versions.iter().enumerate();
        let during =
            versions.filter(move |&(number, &(from, _))| from <= until_ns && end(number) >= sent.at_ns);
        during.map(|(_, (_, model))| model.as_ref())
    }
}
