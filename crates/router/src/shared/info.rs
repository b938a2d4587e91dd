//! What all workers share about one configuration while it runs.

use crate::configuration::plan::Plan;
use crate::handlers::declaration::Declarations;
use crate::shared::clock::Clock;
use crate::shared::ending::Ending;
use crate::shared::events::Events;
use crate::shared::ledger::Ledger;
use crate::shared::log::Log;
use crate::shared::mailbox::Mailbox;
use crate::shared::record::{Level, Record, is_written};
use crate::shared::swaps::Swaps;
use crate::shared::voices::Voices;
use crate::shared::writer::Writer;
use crate::text::args::Scope;
use crate::text::current::Current;
use crate::text::names::{Names, Value};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wire::MacAddr;

/// How long packets on their way are given to arrive when a source has come to its end: a loop in the graph never lets them.
const LONGEST_END: Duration = Duration::from_secs(10);
/// How long after a signal.
const LONGEST_LAST_END: Duration = Duration::from_secs(1);

/// Takes a new configuration and who is told what becomes of it; must not wait for that. In simulated time it may
/// wait until the configuration is built.
pub type Reconfigure = Box<dyn Fn(String, Writer) + Send + Sync>;

/// The parts that instances of an element share, by element.
pub(crate) type SharedParts = HashMap<(usize, TypeId), Arc<dyn Any + Send + Sync>>;

/// A running configuration: its plan, and what its workers and other threads share at run time.
pub struct Info {
    /// What does not change.
    pub plan: Plan,
    /// The time.
    pub clock: Clock,
    /// Where messages go.
    pub log: Log,
    /// How often elements may speak there.
    pub(crate) voices: Voices,
    /// Where events go.
    pub events: Events,
    /// How often a configuration took the place of another one, in this process.
    pub swaps: Swaps,
    /// What elements have made of the plan.
    pub(crate) made: Made,
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
    /// The kernel's ids of the workers' threads; 0 of one that has not begun.
    pub(crate) threads: Vec<AtomicI32>,
    /// Where packets are counted, by worker and element; empty where they are not.
    pub(crate) ledgers: Vec<Vec<Arc<Ledger>>>,
    /// By element, whether it has a task on any worker.
    pub(crate) has_task: Vec<AtomicBool>,
    /// Whether elements are initialised, which is when most of them make their tasks.
    pub(crate) initialized: AtomicBool,
    /// How many times more the driver may be asked to stop before it does.
    pub(crate) run_count: AtomicI64,
    /// How often that was raised.
    pub(crate) grants: AtomicU64,
    /// Stops that wait for packets on their way.
    pub(crate) ending: Ending,
    pub(crate) halted: AtomicBool,
    /// Whether the router has ever run, or has taken the place of one that had.
    pub(crate) has_run: AtomicBool,
    /// Whether it halts only for as long as another configuration is put in its place.
    pub(crate) swapping: AtomicBool,
    /// Whether a trace runs.
    pub(crate) traced: AtomicBool,
    /// What takes new configurations, where that is allowed.
    pub(crate) reconfigure: OnceLock<Reconfigure>,
}

/// What elements say and make when they are configured.
pub(crate) struct Made {
    /// The handlers of each.
    pub(crate) handlers: Vec<Declarations>,
    pub(crate) shared: SharedParts,
    /// The address names that they define.
    pub(crate) names: Names,
    /// Their arguments, as handlers have changed them.
    pub(crate) current: Current,
    /// The one that is asked before the driver stops.
    pub(crate) driver_manager: Option<usize>,
}

impl Deref for Info {
    type Target = Plan;

    #[inline]
    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl Info {
    /// What the workers share while this plan runs.
    pub(crate) fn new(plan: Plan, made: Made, workers: usize, clock: Clock, log: Log) -> Info {
        let counts = if plan.counts { workers } else { 0 };
        Info {
            ledgers: (0..counts).map(|_| plan.nodes.iter().map(|_| Arc::default()).collect()).collect(),
            has_task: plan.nodes.iter().map(|_| AtomicBool::new(false)).collect(),
            voices: Voices::new(plan.nodes.len()),
            plan,
            clock,
            log,
            events: Events::default(),
            swaps: Swaps::default(),
            made,
            mailboxes: (0..workers).map(|_| Arc::new(Mailbox::default())).collect(),
            threads: (0..workers).map(|_| AtomicI32::new(0)).collect(),
            initialized: AtomicBool::new(false),
            run_count: AtomicI64::new(1),
            grants: AtomicU64::new(0),
            ending: Ending::new(workers),
            halted: AtomicBool::new(false),
            has_run: AtomicBool::new(false),
            swapping: AtomicBool::new(false),
            traced: AtomicBool::new(false),
            reconfigure: OnceLock::new(),
        }
    }

    /// The handlers of an element.
    pub fn handlers(&self, element: usize) -> Option<&Declarations> {
        self.made.handlers.get(element)
    }

    /// The address names that the configuration defines.
    pub fn names(&self) -> &Names {
        &self.made.names
    }

    /// Notes that a configuration which was to take this one's place is refused, and tells those who listen to events why, in one line.
    pub fn refuse_swap(&self, why: &str) {
        self.swaps.refuse();
        if self.events.is_heard() {
            let reasons: Vec<&str> = why.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            self.events.publish(&format!("router refused {}", reasons.join("; ")));
        }
    }

    /// Says something in the name of an element, or of none, for threads that work for it: as [`Cx::log`](crate::Cx::log).
    pub fn say(&self, element: Option<usize>, level: Level, message: impl Display) {
        self.speak(self.clock.now_ns(), element, level, None, &message);
    }

    /// Says something at a time in the name of an element, or of none, about a packet that is refused for a reason, if it is about one. All
    /// messages but those that are printed on purpose come this way. One that is not written costs neither memory nor a lock.
    pub(crate) fn speak(
        &self,
        now_ns: i64,
        element: Option<usize>,
        level: Level,
        reason: Option<&str>,
        message: &dyn Display,
    ) {
        if now_ns >= self.voices.due_ns() {
            self.tell_held();
        }
        let may_speak = || self.log.is_in_clicks_words() || self.voices.may_speak(element, now_ns);
        if is_written(level) && may_speak() {
            self.write(element, level, reason, message.to_string());
        }
    }

    /// Says of how many messages nothing was written.
    #[cold]
    pub(crate) fn tell_held(&self) {
        for (element, held) in self.voices.take_held() {
            let messages = if held == 1 { "message was" } else { "messages were" };
            self.write(element, Level::Warning, None, format!("{held} more {messages} held back"));
        }
    }

    fn write(&self, element: Option<usize>, level: Level, reason: Option<&str>, mut text: String) {
        let node = element.map(|element| &self.plan.nodes[element]);
        if let Some(node) = node
            && !self.log.is_in_clicks_words()
        {
            text = node.in_its_name(text, reason);
        }
        let element = node.map(|node| (node.name.as_str(), node.class.name));
        self.log.write(&Record { level, element, reason, text: &text, is_printed: false });
    }

    /// Writes what an element prints on purpose, as it is.
    pub(crate) fn print(&self, element: usize, text: &str) {
        let node = &self.plan.nodes[element];
        let element = Some((node.name.as_str(), node.class.name));
        self.log.put(&Record { level: Level::Info, element, reason: None, text, is_printed: true });
    }

    /// The Ethernet address that an argument of an element stands for, be it the name of an interface.
    pub fn ether_of(&self, element: usize, argument: &str) -> Option<MacAddr> {
        let name = argument.strip_suffix(":eth").unwrap_or(argument);
        let pick = |value: &Value| match value {
            Value::Ether(mac) => Some(*mac),
            _ => None,
        };
        let defined = || self.made.names.lookup(&self.plan.nodes[element].name, name, pick);
        let interface = || self.plan.interfaces.and_then(|interfaces| (interfaces.ether)(name));
        argument.parse().ok().or_else(defined).or_else(interface)
    }

    /// Where the arguments of an element are read.
    pub(crate) fn scope(&self, element: usize) -> Scope<'_> {
        Scope {
            names: &self.made.names,
            element: &self.plan.nodes[element].name,
            elements: &self.plan.elements,
            interfaces: self.plan.interfaces,
        }
    }

    /// Where names are read that belong to no element.
    pub(crate) fn outer_scope(&self) -> Scope<'_> {
        let interfaces = self.plan.interfaces;
        Scope { names: &self.made.names, element: "", elements: &self.plan.elements, interfaces }
    }

    /// The configuration string that an element has now.
    pub(crate) fn config(&self, element: usize) -> String {
        self.made.current.config(element, &self.plan.nodes[element].config)
    }

    /// Where the packets of an element's instance on a worker are counted, if they are.
    pub(crate) fn ledger(&self, worker: usize, element: usize) -> Option<Arc<Ledger>> {
        self.ledgers.get(worker).map(|ledgers| ledgers[element].clone())
    }

    /// Asks the driver to stop at once, as scripts do.
    pub fn please_stop(&self) {
        self.adjust_run_count(-1);
    }

    /// Asks the driver to stop once packets on their way have arrived: sources that have come to their end do.
    ///
    /// Until then workers run the tasks of elements that pull stored packets or hand packets over, in their usual order, and neither
    /// sources nor timers: packets that wait for time to pass stay where they are. After ten seconds the driver stops anyway.
    pub fn please_end(&self) {
        self.end_often(1);
    }

    /// The same as if so many sources did.
    pub(crate) fn end_often(&self, stops: i64) {
        self.end(stops, LONGEST_END);
    }

    /// Asks as often as any script may wait for, giving packets a second: for signals that stop the router.
    pub fn end_for_good(&self) {
        self.end(i64::from(i32::MAX), LONGEST_LAST_END);
    }

    fn end(&self, stops: i64, within: Duration) {
        let within_ns = i64::try_from(within.as_nanos()).unwrap_or(i64::MAX);
        self.ending.ask(stops, self.clock.now_ns().saturating_add(within_ns));
        self.mailboxes.iter().for_each(|mailbox| mailbox.wake());
    }

    /// Packets have arrived, or had time enough: asks the driver to stop.
    pub(crate) fn stop_now(&self) {
        self.adjust_run_count(-self.ending.take());
        // An element that steers the driver may have it go on.
        self.mailboxes.iter().for_each(|mailbox| mailbox.wake());
    }

    /// Asks the driver to stop as often as that of another configuration was asked, whose place this one takes.
    pub(crate) fn follow_stops(&self, before: &Info) {
        let until_ns = before.ending.until_ns();
        self.ending.ask(before.ending.take(), until_ns);
        if before.run_count() <= 0 {
            self.adjust_run_count(before.run_count() - 1);
        }
    }

    /// Whether the driver was asked to stop, at once or later.
    #[inline]
    pub fn is_asked_to_stop(&self) -> bool {
        self.run_count() <= 0 || self.ending.is_wanted()
    }

    /// Changes how often the driver may still be asked to stop before it does; when none are left, it stops, unless an
    /// element steers it.
    pub fn adjust_run_count(&self, by: i64) {
        if by > 0 {
            self.grants.fetch_add(1, Ordering::Relaxed);
        }
        let old =
            self.run_count.update(Ordering::Relaxed, Ordering::Relaxed, |count| count.saturating_add(by));
        if let Some(first) = self.mailboxes.first()
            && old.saturating_add(by) <= 0
        {
            first.wake();
        }
    }

    /// How often the driver may still be asked to stop.
    #[inline]
    pub fn run_count(&self) -> i64 {
        self.run_count.load(Ordering::Relaxed)
    }

    /// Whether the driver has stopped for good.
    #[inline]
    pub fn halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Stops all workers for a swap of configurations.
    pub(crate) fn interrupt(&self) {
        self.swapping.store(true, Ordering::Relaxed);
        self.halt();
    }

    /// Whether no worker will answer any more.
    pub(crate) fn is_over(&self) -> bool {
        self.halted() && !self.swapping.load(Ordering::Relaxed)
    }

    /// Stops all workers.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
        self.mailboxes.iter().for_each(|mailbox| mailbox.wake());
    }

    /// Whether an element has a task on any worker.
    #[inline]
    pub fn has_task(&self, element: usize) -> bool {
        self.has_task[element].load(Ordering::Relaxed)
    }

    /// Whether it has one, or may yet have one.
    pub(crate) fn may_have_task(&self, element: usize) -> bool {
        self.has_task(element) || !self.initialized.load(Ordering::Relaxed)
    }

    /// The shared part of an element, if it has one of this type.
    pub fn shared<T: Any + Send + Sync>(&self, element: usize) -> Option<Arc<T>> {
        self.made.shared.get(&(element, TypeId::of::<T>()))?.clone().downcast().ok()
    }
}
