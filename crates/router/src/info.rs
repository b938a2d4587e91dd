//! The resolved configuration, which all workers of a running router share.

use crate::class::Class;
use crate::clock::Clock;
use crate::control::Writer;
use crate::current::Current;
use crate::handler::Handlers;
use crate::mailbox::Mailbox;
use crate::names::Names;
use lang::{Landmark, Span};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// A port of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Push, or pull.
    pub push: bool,
    /// The ports at the other end: element and port.
    pub peers: Vec<(usize, usize)>,
}

/// An element of the configuration, before and beside its instances.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its full name.
    pub name: String,
    /// Its class.
    pub class: &'static Class,
    /// Its configuration string.
    pub config: String,
    /// Where it was declared.
    pub landmark: Landmark,
    /// Where it was declared, in bytes.
    pub span: Span,
    /// Its inputs in use.
    pub inputs: Vec<Port>,
    /// Its outputs in use.
    pub outputs: Vec<Port>,
    /// The workers that have an instance of it.
    pub workers: Vec<usize>,
    /// The one of them that its own work is for, if it has work of its own.
    pub home: usize,
}

impl Node {
    /// `name :: Class`, as messages say it.
    pub fn declaration(&self) -> String {
        format!("{} :: {}", self.name, self.class.name)
    }
}

/// Where messages of elements go.
#[derive(Debug, Default)]
pub enum Log {
    /// Standard error.
    #[default]
    Stderr,
    /// A string, for tests.
    Memory(Mutex<String>),
}

impl Log {
    /// Writes a line.
    pub fn line(&self, text: &str) {
        match self {
            Log::Stderr => {
                print_error_line(text);
                tell(DEFAULT_CHANNEL, text);
            }
            Log::Memory(log) => {
                let mut log = log.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                log.push_str(text);
                log.push('\n');
            }
        }
    }

    /// Writes a line on a channel. Whoever listens there hears it, and nobody else; with the name of the default channel, or none, it
    /// is a line like any other.
    pub fn line_on(&self, channel: &str, text: &str) {
        match self {
            _ if matches!(channel, "" | DEFAULT_CHANNEL) => self.line(text),
            Log::Stderr if tell(channel, text) => print_error_line(text),
            _ => {}
        }
    }

    /// Writes to the standard output, as is; in memory it goes where messages go.
    pub fn print(&self, text: &str) {
        match self {
            Log::Stderr => {
                let mut out = std::io::stdout().lock();
                drop(out.write_all(&lang::bytes::of_text(text)).and_then(|()| out.flush()));
            }
            Log::Memory(log) => {
                log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push_str(text);
            }
        }
    }

    /// What was written to memory so far.
    pub fn text(&self) -> String {
        match self {
            Log::Stderr => String::new(),
            Log::Memory(log) => log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone(),
        }
    }
}

/// Writes a line to the standard error, at once. That it is closed is no reason to stop forwarding.
fn print_error_line(text: &str) {
    let line = format!("{text}\n");
    drop(std::io::stderr().lock().write_all(&lang::bytes::of_text(&line)));
}

/// Takes a new configuration and who is told what becomes of it; must not wait for that. In simulated time it may
/// wait until the configuration is built.
pub type Reconfigure = Box<dyn Fn(String, Writer) + Send + Sync>;

/// Hears the messages of elements.
pub type Listener = Arc<Hear>;
type Hear = dyn Fn(&str) + Send + Sync;

/// The channel of messages that name none.
pub const DEFAULT_CHANNEL: &str = "default";

/// Who hears a channel.
struct Ear {
    channel: String,
    /// Whether standard error gets what is said there, too.
    loud: bool,
    hear: Weak<Hear>,
}

/// Who hears what: channels, as standard error, are the same for the whole process.
static LISTENERS: Mutex<Vec<Ear>> = Mutex::new(Vec::new());
/// Whether anybody does: usually not, and then no lock is needed.
static LISTENED: AtomicBool = AtomicBool::new(false);

/// Lets `listener` hear each message of elements on a channel, for as long as it lives: on the default one, those that go to standard
/// error. What is said on another channel goes there, too, if that is `loud`. The listener must not wait.
pub fn listen(listener: &Listener, channel: &str, loud: bool) {
    let mut listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    listeners.retain(|known| known.hear.strong_count() > 0);
    listeners.push(Ear { channel: channel.to_owned(), loud, hear: Arc::downgrade(listener) });
    LISTENED.store(true, Ordering::Relaxed);
}

/// Tells those who listen on a channel. Returns whether one of them wants it on standard error.
fn tell(channel: &str, text: &str) -> bool {
    if !LISTENED.load(Ordering::Relaxed) {
        return false;
    }
    let listeners = LISTENERS.lock().unwrap_or_else(PoisonError::into_inner);
    let here = listeners.iter().filter(|ear| ear.channel == channel);
    let here: Vec<_> = here.filter_map(|ear| Some((ear.hear.upgrade()?, ear.loud))).collect();
    drop(listeners);
    here.iter().for_each(|(listener, _)| listener(text));
    here.iter().any(|(_, loud)| *loud)
}

/// How often configurations were replaced.
#[derive(Debug, Default)]
pub struct Swaps {
    done: AtomicU64,
    refused: AtomicU64,
}

impl Swaps {
    /// Those that were carried out.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Those that were not, because something was wrong.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Notes one that was refused.
    pub fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Goes on where the configuration was that has just been replaced.
    pub(crate) fn follow(&self, old: &Swaps) {
        self.done.store(old.done() + 1, Ordering::Relaxed);
        self.refused.store(old.refused(), Ordering::Relaxed);
    }
}

/// What all workers share about one configuration.
pub struct Info {
    /// The elements, in the order of the configuration.
    pub nodes: Vec<Node>,
    /// The configuration as a graph.
    pub graph: lang::Graph,
    /// The configuration's text as it was given.
    pub source: String,
    /// The names of all classes that the program knows.
    pub class_names: Vec<&'static str>,
    /// Packets that sources put into a batch, at most.
    pub vector: usize,
    /// The seed of all randomness.
    pub seed: u64,
    /// The time.
    pub clock: Clock,
    /// Where messages go.
    pub log: Log,
    /// What says the addresses of the machine's interfaces.
    pub(crate) interfaces: Option<crate::names::InterfaceAddresses>,
    /// Where events go.
    pub events: crate::events::Events,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) handlers: OnceLock<Vec<Handlers>>,
    pub(crate) shared: OnceLock<HashMap<(usize, TypeId), Arc<dyn Any + Send + Sync>>>,
    pub(crate) names: OnceLock<Names>,
    /// The arguments of elements, as handlers have changed them.
    pub(crate) current: Current,
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
    /// By element, whether it has a task on any worker.
    pub(crate) has_task: Vec<AtomicBool>,
    /// Whether elements are initialised, which is when most of them make their tasks.
    pub(crate) initialized: AtomicBool,
    /// How many times more the driver may be asked to stop before it does.
    pub(crate) run_count: AtomicI64,
    /// How often that was raised.
    pub(crate) grants: AtomicU64,
    pub(crate) halted: AtomicBool,
    /// Whether it halts only for as long as another configuration is put in its place.
    pub(crate) swapping: AtomicBool,
    /// How often a configuration took the place of another one, in this process.
    pub swaps: Swaps,
    /// What takes new configurations, where that is allowed.
    pub(crate) reconfigure: OnceLock<Reconfigure>,
    /// Whether there is the handler `hotconfig`.
    pub(crate) reconfigurable: bool,
    /// The element that is asked before the driver stops.
    pub(crate) driver_manager: OnceLock<usize>,
}

impl Info {
    /// The element with a name, seen from another element's compound: that compound's names hide those further out.
    pub fn find(&self, name: &str, from: Option<usize>) -> Option<usize> {
        let mut scope = from.map_or("", |element| self.nodes[element].name.as_str());
        while let Some(slash) = scope.rfind('/') {
            scope = &scope[..slash];
            if let Some(&found) = self.by_name.get(&format!("{scope}/{name}")) {
                return Some(found);
            }
        }
        self.by_name.get(name).copied()
    }

    /// The handlers of an element; none before the router is initialised.
    pub fn handlers(&self, element: usize) -> Option<&Handlers> {
        self.handlers.get().map(|all| &all[element])
    }

    /// The address names that the configuration defines; none before the router is configured.
    pub fn names(&self) -> &Names {
        static NONE: OnceLock<Names> = OnceLock::new();
        self.names.get().unwrap_or_else(|| NONE.get_or_init(Names::default))
    }

    /// Asks the driver to stop.
    pub fn please_stop(&self) {
        self.adjust_run_count(-1);
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
    pub fn run_count(&self) -> i64 {
        self.run_count.load(Ordering::Relaxed)
    }

    /// Whether the driver has stopped for good.
    pub fn halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Stops all workers for a swap of configurations.
    pub(crate) fn interrupt(&self) {
        self.swapping.store(true, Ordering::Relaxed);
        self.halt();
    }

    /// Whether nobody will answer any more.
    pub(crate) fn is_over(&self) -> bool {
        self.halted() && !self.swapping.load(Ordering::Relaxed)
    }

    /// Stops all workers.
    pub(crate) fn halt(&self) {
        self.halted.store(true, Ordering::Relaxed);
        self.mailboxes.iter().for_each(|mailbox| mailbox.wake());
    }

    /// Whether an element has a task on any worker.
    pub fn has_task(&self, element: usize) -> bool {
        self.has_task[element].load(Ordering::Relaxed)
    }

    /// Whether it has one, or may yet have one.
    pub(crate) fn may_have_task(&self, element: usize) -> bool {
        self.has_task(element) || !self.initialized.load(Ordering::Relaxed)
    }

    /// The shared part of an element, if it has one of this type.
    pub fn shared<T: Any + Send + Sync>(&self, element: usize) -> Option<Arc<T>> {
        self.shared.get()?.get(&(element, TypeId::of::<T>()))?.clone().downcast().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each hears its channel; standard error gets what is said there for as long as somebody wants that.
    #[test]
    fn channels() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = |name: &'static str, loud: bool| -> Listener {
            let heard = heard.clone();
            let listener: Listener =
                Arc::new(move |text: &str| heard.lock().expect("no panic").push(format!("{name}{text}")));
            listen(&listener, if name == "b" { "other" } else { "one" }, loud);
            listener
        };
        let (_a, _b, c) = (ear("a", false), ear("b", false), ear("c", true));
        assert_eq!((tell("one", "1"), tell("other", "2"), tell("none", "3")), (true, false, false));
        drop(c);
        assert!(!tell("one", "4"));
        assert_eq!(*heard.lock().expect("no panic"), ["a1", "c1", "b2", "a4"]);
    }
}
