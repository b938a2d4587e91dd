//! Takes IPsec associations and policies from the kernel.
//!
//! ```click
//! KernelIPsec(ELEMENT [, INTERVAL])
//! ```
//!
//! Keeps the tables of an IPsec element in step with the kernel's (XFRM), so that an IKE daemon that configures the kernel, or `ip xfrm`, configures Clique,
//! which does the packets. Everything is read when the router starts, and changes are made as they happen.
//!
//! What Clique finds out goes back: how many packets and octets each association has protected and the sequence numbers that it has used, every INTERVAL;
//! that one has reached a limit in packets or octets (an expiry), and that packets need one that is not there (an acquire). Daemons see all of this as if
//! the kernel had found it out, and renew keys and watch for dead peers by it. Limits in time are the kernel's affair.
//!
//! The kernel must not do these packets as well: it must neither receive ESP for this machine nor send packets that a policy protects, or sequence
//! numbers come twice. The policies of its own sockets, by which daemons keep IKE in the clear, are not mirrored; see output 2 of IPsec.
//!
//! An association that Clique cannot use (another algorithm than those of IPsec, check values of less than 128 bits, marks, XFRM interfaces) is left out and
//! counted, and what a policy would protect by it is dropped. A policy that wants several protocols, or protection only where there is an association (`level use`
//! of `ip xfrm`), drops what it matches. When the program starts
//! anew, associations that were in use go on with numbers that are so much higher that none comes twice, and take for replays what came before.
//!
//! If the kernel reports that messages were lost because the socket's buffer was full, everything is read again; and ten seconds after there was no room for
//! changes, because what they replace waits for workers. If a program error occurs in the thread
//! that reads them, it starts over. No key is shown or logged.
//!
//! Ports: none. Workers: exclusive. Messages are read by a separate thread. It needs the right CAP_NET_ADMIN.
//!
//! # Arguments
//! - `ELEMENT` (element): an IPsec.
//! - `INTERVAL` (time, default 1s): how often the kernel is told of usage.
//!
//! # Handlers
//! - `stats` (read): one number per line: `messages` about associations and policies, `associations` and `policies` that are mirrored, those
//!   `unusable`, changes `refused` by the element, `usage`, `expiries` and `acquires` told to the kernel, `overruns` (how often messages were lost), and
//!   `restarts` (program errors survived).
//! - `panic` (write, button): makes the thread fail, to test the recovery.
//!
//! # Example
//! ```click
//! gateway :: IPsec(DEFAULT bypass); KernelIPsec(gateway);
//! ```
//!
//! # See also
//! IPsec, KernelRoutes

use super::xfrm::{self, GETPOLICY, GETSA, GROUPS, Known, Message, Numbers};
use crate::feed::{Feed, Priority, Waiter, Wake};
use crate::kernel::{self, Ear, End, Event, Language, List};
use elements_shared::ipsec_port::{
    Action, Change, Direction, IpsecFeed, IpsecPort, Notice, Port, Refused, Selector, Usage,
};
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Handlers, Info, Level, Residency};
use rustix::fd::OwnedFd;
use rustix::net::netlink::XFRM;
use rustix::net::{RecvFlags, SendFlags};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The class.
pub(crate) const CLASS: Class = Class::new("KernelIPsec", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("kernel_ipsec.rs"));

/// What is read: associations, then policies.
const LISTS: &[List] = &[List::of(GETSA), List::of(GETPOLICY)];
/// How long after there was no room for changes everything is read again.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same after the kernel may have listed what was gone already.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is looked at what packets have found out.
const LOOK: Duration = Duration::from_millis(200);
/// Numbers that an association may have used since the kernel was told, before this program started anew.
const SKIPPED: u64 = 1 << 24;
/// Bytes of messages that may wait.
const WAITING: usize = 1 << 23;
/// Bytes of an answer of the kernel's that are read.
const ANSWER: usize = 1 << 12;
/// Timer: the router runs.
const START: u32 = 0;

struct KernelIpsec {
    element: String,
    interval: Duration,
    /// What the thread will work with.
    ready: Option<(Ear<Message>, OwnedFd, Arc<dyn IpsecPort>)>,
    feed: Option<Feed<Shared>>,
    /// What the former thread has brought into the tables.
    inherited: Mirrored,
}

/// What the thread and the element have in common.
struct Shared {
    info: Arc<Info>,
    /// The element, in whose name messages are.
    element: usize,
    panic: AtomicBool,
    counters: Counters,
    mirrored: Mutex<Mirrored>,
}

#[derive(Default)]
struct Counters {
    messages: AtomicU64,
    unusable: AtomicU64,
    refused: AtomicU64,
    usage: AtomicU64,
    expiries: AtomicU64,
    acquires: AtomicU64,
    overruns: AtomicU64,
    restarts: AtomicU64,
}

/// What was brought into the tables; what others brought is not touched.
#[derive(Clone, Default)]
struct Mirrored {
    associations: HashMap<(IpAddr, u32), Numbers>,
    policies: HashSet<(Direction, u32, Selector)>,
}

impl Mirrored {
    /// What could not be taken away for want of room is there again, so that it goes when all is read again; for how many changes there was none.
    fn put_back(&mut self, going: &[Going], refused: &[(usize, Refused)]) -> usize {
        let mut without_room = 0;
        for (place, _) in refused.iter().filter(|(_, why)| *why == Refused::Backpressure) {
            without_room += 1;
            match going.get(*place) {
                Some(Going::Association(key)) => {
                    let numbers = Numbers { bitmap: None, window: 0, made: 0 };
                    self.associations.entry(*key).or_insert(numbers);
                }
                Some(Going::Policy(key)) => drop(self.policies.insert(*key)),
                _ => {}
            }
        }
        without_room
    }
}

impl Shared {
    fn mirrored(&self) -> MutexGuard<'_, Mirrored> {
        self.mirrored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self, message: &str) {
        self.info.say(Some(self.element), Level::Warning, message);
    }

    fn panicked(&self) {
        self.counters.restarts.fetch_add(1, Relaxed);
        self.log("a program error in the thread that reads associations; it starts over");
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut element, mut interval) = (ElementName::default(), Duration::from_secs(1));
    config.args().required("ELEMENT", &mut element).keyword("INTERVAL", &mut interval).finish()?;
    if interval < LOOK {
        return Err(format!("INTERVAL must be at least {} ms", LOOK.as_millis()).into());
    }
    let (ready, feed, inherited) = (None, None, Mirrored::default());
    Ok(Box::new(KernelIpsec { element: element.name, interval, ready, feed, inherited }))
}

fn open(groups: u32) -> Result<OwnedFd, ConfigError> {
    kernel::open(Some(XFRM), groups, WAITING)
        .map_err(|error| format!("cannot listen to the kernel's IPsec messages: {error}").into())
}

impl Element for KernelIpsec {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let port = Port::of(cx, &self.element)?;
        let language =
            Language { request: |ask| xfrm::get_all(ask.what, ask.sequence), messages: xfrm::messages };
        self.ready = Some((Ear::new(open(GROUPS)?, language, LISTS), open(0)?, port));
        cx.timers().after(START, Duration::ZERO);
        Ok(())
    }

    /// The router runs.
    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let Some((ear, mouth, port)) = self.ready.take() else { return };
        let shared = Arc::new(Shared {
            info: cx.info().clone(),
            element: cx.index(),
            panic: AtomicBool::new(false),
            counters: Counters::default(),
            mirrored: Mutex::new(std::mem::take(&mut self.inherited)),
        });
        let mut mirror = Mirror {
            ear,
            mouth,
            feed: port.join(),
            interval: self.interval,
            told: HashMap::new(),
            seen: Mirrored::default(),
            gone: Mirrored::default(),
            said: HashSet::new(),
            buffer: vec![0; ANSWER],
        };
        match Feed::start_lasting(
            "ipsec",
            Priority::Equal,
            shared,
            Shared::panicked,
            move |shared, waiter| mirror.listen(shared, waiter),
        ) {
            Ok(feed) => self.feed = Some(feed),
            Err(error) => cx.error(format_args!("{}: {error}", cx.name())),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        self.feed.take().map(|feed| Box::new(feed) as Box<dyn Any + Send>)
    }

    /// The new thread reads everything itself, and takes away what the old one brought and is no more.
    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(feed) = state.downcast::<Feed<Shared>>() {
            self.inherited = feed.shared.mirrored().clone();
            feed.let_go();
        }
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        self.feed = None;
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("stats", |e: &mut KernelIpsec, _| {
            let Some(feed) = &e.feed else { return String::new() };
            let (counters, mirrored) = (&feed.shared.counters, feed.shared.mirrored());
            let of = |counter: &AtomicU64| counter.load(Relaxed);
            let numbers = [
                ("messages", of(&counters.messages)),
                ("associations", mirrored.associations.len() as u64),
                ("policies", mirrored.policies.len() as u64),
                ("unusable", of(&counters.unusable)),
                ("refused", of(&counters.refused)),
                ("usage", of(&counters.usage)),
                ("expiries", of(&counters.expiries)),
                ("acquires", of(&counters.acquires)),
                ("overruns", of(&counters.overruns)),
                ("restarts", of(&counters.restarts)),
            ];
            numbers.map(|(name, count)| format!("{name} {count}\n")).concat()
        });
        h.write("panic", |e: &mut KernelIpsec, _, _| {
            e.feed.iter().for_each(|feed| {
                feed.shared.panic.store(true, Relaxed);
                feed.wake();
            });
            Ok(())
        })
        .as_button();
    }
}

/// What a change takes away.
enum Going {
    Association((IpAddr, u32)),
    Policy((Direction, u32, Selector)),
    Nothing,
}

impl Going {
    fn of(change: &Change) -> Going {
        match change {
            Change::Dissociate(destination, spi) => Going::Association((*destination, *spi)),
            Change::ForgetPolicy(direction, tag, selector) => Going::Policy((*direction, *tag, *selector)),
            _ => Going::Nothing,
        }
    }
}

/// The thread's part.
struct Mirror {
    /// Hears of changes, and answers.
    ear: Ear<Message>,
    /// Tells the kernel; what it answers says nothing of use.
    mouth: OwnedFd,
    feed: Box<dyn IpsecFeed>,
    interval: Duration,
    /// What the kernel was told of each association.
    told: HashMap<(IpAddr, u32), Usage>,
    /// What was listed since reading began.
    seen: Mirrored,
    /// What went since reading began: a list that was made at that moment may have it all the same.
    gone: Mirrored,
    /// Complaints that were made.
    said: HashSet<String>,
    buffer: Vec<u8>,
}

impl Mirror {
    /// Listens until the end. Called again after a panic.
    fn listen(&mut self, shared: &Shared, waiter: &Waiter) {
        self.ear.spoil();
        let (mut look_at, mut tell_at) = (Instant::now() + LOOK, Instant::now() + self.interval);
        loop {
            let until = self.ear.next().map_or(look_at, |next| next.min(look_at));
            if let Wake::Stop = waiter.wait(&[self.ear.descriptor()], Some(until)) {
                return;
            }
            self.receive(shared);
            let now = Instant::now();
            if now >= look_at {
                look_at = now + LOOK;
                self.pass_on(shared);
            }
            if now >= tell_at {
                tell_at = now + self.interval;
                self.tell_usage(shared);
            }
            assert!(!shared.panic.swap(false, Relaxed), "as asked for");
        }
    }

    /// Takes in messages, at most some of them, and makes the changes.
    fn receive(&mut self, shared: &Shared) {
        let mut changes = Vec::new();
        for event in self.ear.hear() {
            match event {
                Event::Message(message) => self.take(message, shared, &mut changes),
                Event::Lost => drop(shared.counters.overruns.fetch_add(1, Relaxed)),
                Event::Begun => (self.seen, self.gone) = Default::default(),
                Event::Ended(End::Whole) => self.finish_reading(shared, &mut changes),
                Event::Ended(End::Failed(Some(error))) => {
                    shared.log(&format!("the kernel does not list its IPsec associations: {error}"));
                }
                Event::Ended(End::Doubtful | End::Failed(None)) => {}
            }
        }
        self.change(changes, shared);
    }

    fn change(&mut self, changes: Vec<Change>, shared: &Shared) {
        if changes.is_empty() {
            return;
        }
        let (all, going) = (changes.len(), changes.iter().map(Going::of).collect::<Vec<_>>());
        let refused = self.feed.apply(changes);
        shared.counters.refused.fetch_add(refused.len() as u64, Relaxed);
        for (_, why) in refused.iter().filter(|(_, why)| *why != Refused::Backpressure) {
            self.say(&format!("refused: {why}"), shared);
        }
        let without_room = shared.mirrored().put_back(&going, &refused);
        if without_room > 0 {
            let (why, later) = (Refused::Backpressure, PATIENCE.as_secs());
            shared.log(&format!(
                "{without_room} of {all} changes could not be made: {why}; everything is read again in {later} s"
            ));
            self.ear.want(Instant::now() + PATIENCE);
        }
    }

    /// Says something once.
    fn say(&mut self, what: &str, shared: &Shared) {
        if self.said.len() < 100 && self.said.insert(what.to_owned()) {
            shared.log(&format!("{what} (said once)"));
        }
    }

    fn take(&mut self, message: Message, shared: &Shared, changes: &mut Vec<Change>) {
        if message != Message::Other {
            shared.counters.messages.fetch_add(1, Relaxed);
        }
        match message {
            Message::Association(known) => {
                let Known { mut association, bitmap, made } = *known;
                if association.used.0 > 0 {
                    association.used.0 += SKIPPED;
                }
                let key = (association.destination, association.spi);
                let numbers = Numbers { bitmap, window: association.window, made };
                self.doubt_if(self.gone.associations.contains_key(&key));
                self.seen.associations.insert(key, numbers);
                shared.mirrored().associations.insert(key, numbers);
                changes.push(Change::Associate(Box::new(association)));
            }
            Message::Unusable(destination, spi, why) => {
                // One that waits for its key is an ordinary thing.
                if why != "it has no key yet" {
                    shared.counters.unusable.fetch_add(1, Relaxed);
                    self.say(&format!("an association to {destination} cannot be used: {why}"), shared);
                }
                self.forget(destination, spi, shared, changes);
            }
            Message::Gone(destination, spi) => self.forget(destination, spi, shared, changes),
            Message::AllGone => {
                let all: Vec<(IpAddr, u32)> = shared.mirrored().associations.keys().copied().collect();
                all.into_iter().for_each(|(destination, spi)| self.forget(destination, spi, shared, changes));
            }
            Message::Policy(policy) => {
                let key = (policy.direction, policy.tag, policy.selector);
                self.doubt_if(self.gone.policies.contains(&key));
                self.seen.policies.insert(key);
                shared.mirrored().policies.insert(key);
                changes.push(Change::Policy(policy));
            }
            Message::UnusablePolicy(mut policy, why) => {
                shared.counters.unusable.fetch_add(1, Relaxed);
                self.say(
                    &format!("a policy cannot be used, so that what it matches is dropped: {why}"),
                    shared,
                );
                policy.action = Action::Discard;
                self.take(Message::Policy(policy), shared, changes);
            }
            Message::PolicyGone(direction, tag, selector) => {
                if shared.mirrored().policies.remove(&(direction, tag, selector)) {
                    changes.push(Change::ForgetPolicy(direction, tag, selector));
                }
                if self.ear.is_reading() {
                    self.gone.policies.insert((direction, tag, selector));
                }
            }
            Message::NoPolicies => {
                let all = std::mem::take(&mut shared.mirrored().policies);
                if self.ear.is_reading() {
                    self.gone.policies.extend(all.iter().copied());
                }
                changes.extend(
                    all.into_iter().map(|(direction, tag, of)| Change::ForgetPolicy(direction, tag, of)),
                );
            }
            Message::Other => {}
        }
    }

    /// What has gone while everything is read, and is heard of again: has it come back, or is the list late? Everything is read again.
    fn doubt_if(&mut self, has_gone: bool) {
        if has_gone {
            self.ear.want(Instant::now() + AGAIN);
        }
    }

    fn forget(&mut self, destination: IpAddr, spi: u32, shared: &Shared, changes: &mut Vec<Change>) {
        self.told.remove(&(destination, spi));
        if self.ear.is_reading() {
            self.gone.associations.insert((destination, spi), Numbers { bitmap: None, window: 0, made: 0 });
        }
        if shared.mirrored().associations.remove(&(destination, spi)).is_some() {
            changes.push(Change::Dissociate(destination, spi));
        }
    }

    /// What was not listed is no more.
    fn finish_reading(&mut self, shared: &Shared, changes: &mut Vec<Change>) {
        let mut mirrored = shared.mirrored();
        let Mirrored { associations, policies } = std::mem::take(&mut self.seen);
        mirrored.associations.retain(|&(destination, spi), _| {
            let listed = associations.contains_key(&(destination, spi));
            if !listed {
                changes.push(Change::Dissociate(destination, spi));
            }
            listed
        });
        mirrored.policies.retain(|&(direction, tag, selector)| {
            let listed = policies.contains(&(direction, tag, selector));
            if !listed {
                changes.push(Change::ForgetPolicy(direction, tag, selector));
            }
            listed
        });
    }

    fn tell(&mut self, message: &[u8]) -> bool {
        let sent = rustix::net::send(&self.mouth, message, SendFlags::empty()).is_ok();
        while rustix::net::recv(&self.mouth, &mut self.buffer[..], RecvFlags::empty()).is_ok() {}
        sent
    }

    /// Tells what packets have found out.
    fn pass_on(&mut self, shared: &Shared) {
        for notice in self.feed.notices() {
            let (message, counter) = match notice {
                Notice::Expired { destination, spi, hard } => {
                    if !shared.mirrored().associations.contains_key(&(destination, spi)) {
                        continue;
                    }
                    (xfrm::expire(destination, spi, hard), &shared.counters.expiries)
                }
                Notice::Wanted { template, packet, policy, priority } => {
                    (xfrm::acquire(&template, &packet, &policy, priority), &shared.counters.acquires)
                }
            };
            if self.tell(&message) {
                counter.fetch_add(1, Relaxed);
            }
        }
    }

    /// Tells what associations have done since the last time.
    fn tell_usage(&mut self, shared: &Shared) {
        for usage in self.feed.usage() {
            let key = (usage.destination, usage.spi);
            let Some(numbers) = shared.mirrored().associations.get(&key).copied() else { continue };
            if usage.used_ns == 0 || self.told.get(&key) == Some(&usage) {
                continue;
            }
            if self.tell(&xfrm::usage(&usage, numbers)) {
                shared.counters.usage.fetch_add(1, Relaxed);
            }
            self.told.insert(key, usage);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elements_shared::route_port::Destination;

    /// The kernel lists associations and policies, one after the other, to the end.
    #[test]
    fn the_kernel_is_read() {
        let socket = match kernel::open(Some(XFRM), GROUPS, WAITING) {
            Ok(socket) => socket,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let language =
            Language { request: |ask| xfrm::get_all(ask.what, ask.sequence), messages: xfrm::messages };
        let mut ear = Ear::new(socket, language, LISTS);
        let began = Instant::now();
        ear.want(began);
        let mut ends = Vec::new();
        while ends.is_empty() && began.elapsed() < PATIENCE {
            let ended = |event| if let Event::Ended(end) = event { Some(end) } else { None };
            ends.extend(ear.hear().into_iter().filter_map(ended));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(ends, [End::Whole]);
    }

    /// What is still in the tables is known to be there; what was refused for another reason, or is gone, is not.
    #[test]
    fn what_could_not_be_taken_away_is_kept_in_mind() {
        let prefix = Destination { address: [10, 0, 0, 0].into(), len: 8 };
        let selector = Selector {
            source: prefix,
            destination: prefix,
            protocol: 0,
            source_port: (0, 0),
            destination_port: (0, 0),
        };
        let to = |last: u8| IpAddr::from([192, 0, 2, last]);
        let changes = [
            Change::Dissociate(to(1), 300),
            Change::Dissociate(to(2), 300),
            Change::ForgetPolicy(Direction::In, 9, selector),
            Change::Dissociate(to(3), 300),
            Change::DissociateAll,
        ];
        let going: Vec<Going> = changes.iter().map(Going::of).collect();
        let full = |place| (place, Refused::Backpressure);
        let refused = [full(1), full(2), (3, Refused::Full), full(4), full(usize::MAX)];
        let mut mirrored = Mirrored::default();
        assert_eq!(mirrored.put_back(&going, &refused), 4);
        assert_eq!(mirrored.associations.keys().collect::<Vec<_>>(), [&(to(2), 300)]);
        assert_eq!(mirrored.policies.iter().collect::<Vec<_>>(), [&(Direction::In, 9, selector)]);
    }
}
