//! Element classes: what is known about elements before any exists.

use crate::configuration::filter::CompileFilter;
use crate::error::ConfigError;
use crate::text::names::InterfaceAddresses;
use lang::secrets::KeyNames;
use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// How elements of a class live on several workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residency {
    /// An instance for each worker that reaches the element; they share nothing.
    Replicated,
    /// An instance for each worker that reaches it, around one shared part.
    Shared,
    /// One instance. Tasks that reach it run on one worker.
    Exclusive,
}

/// Whether elements of a class start work by themselves: packets of their own, or requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Only react.
    Never,
    /// Have a task or timers that emit or request packets.
    Always,
    /// Have a task where their first input is pull.
    IfPullInput,
    /// A multi-queue source: an instance, and a task, on each worker.
    PerWorker,
}

/// A pin of an element to a worker, as an information element says it.
pub type Pin = (String, usize);

/// Reads the pins that a configuration string asks for.
pub type ReadPins = fn(&str) -> Result<Vec<Pin>, ConfigError>;

/// Makes of a configuration string what others than the element may see of it; none if all of it.
pub type Hide = fn(&str) -> Option<String>;

/// How much memory an element takes at most for those whose packets come, however many they are or claim to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What it keeps, in a few words for people.
    pub what: &'static str,
    /// The argument that says how many; empty if none does.
    pub argument: &'static str,
    /// How many there are at most, unless the argument says otherwise.
    pub entries: u64,
    /// Bytes that each takes at most, with its share of tables.
    pub bytes: u64,
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Budget { what, argument, entries, bytes } = self;
        let total_kib = (entries * bytes).div_ceil(1024);
        let total = if total_kib < 10_240 {
            format!("{total_kib} KiB")
        } else {
            format!("{} MiB", total_kib.div_ceil(1024))
        };
        match *argument {
            "" => write!(f, "{entries} {what}, {bytes} bytes each: {total}"),
            argument => write!(f, "{argument} (default {entries}) {what}, {bytes} bytes each: {total}"),
        }
    }
}

/// An element class.
///
/// Built as a constant beside the element: `Class::new("Counter", create).ports("1/1").processing("a/a")`.
///
/// `C` is what makes an instance. The plan of a configuration needs everything but that ([`Described`]), which is why
/// classes lie below elements.
#[derive(Clone, Copy, Debug)]
pub struct Class<C: ?Sized> {
    /// Its name in configurations.
    pub name: &'static str,
    /// Port counts in Click's notation: inputs `/` outputs, each `n`, `n-m`, `n-`, `-` (any), or `=` (as many as inputs).
    pub ports: &'static str,
    /// Processing code in Click's notation: one letter a port, `h` push, `l` pull, `a` agnostic, inputs `/` outputs.
    pub processing: &'static str,
    /// Flow code in Click's notation: which inputs a packet at an output can have come from.
    pub flow: &'static str,
    /// How its elements live on several workers.
    pub residency: Residency,
    /// Whether its elements start work.
    pub activity: Activity,
    /// Order of configuration: lower first. Information elements, on which the arguments of others depend, are negative.
    pub phase: i32,
    /// Pins that an element's configuration string asks for (StaticThreadSched).
    pub pins: Option<ReadPins>,
    /// Whether a write to the handler `config` gives an element new arguments while it runs: see [`Class::live`].
    pub live: bool,
    /// Whether what is pushed into an element goes on as its own task's work, on its own worker: see [`Class::hands_over`].
    pub hands_over: bool,
    /// Whether its elements only look at packets and change them: see [`Class::pure`].
    pub pure: bool,
    /// Packets that its elements make: see [`Class::makes`].
    pub makes: &'static str,
    /// Packets that end in its elements: see [`Class::absorbs`].
    pub absorbs: &'static str,
    /// Packets that its elements keep: see [`Class::holds`].
    pub holds: &'static str,
    /// Whether others keep them together with its elements: see [`Class::holds_jointly`].
    pub jointly: bool,
    /// What its elements keep of hosts, which any sender can claim to be: see [`Class::keeps`].
    pub keeps: Option<Budget>,
    /// Takes keys out of its elements' configuration strings: see [`Class::hides`].
    pub hide: Option<Hide>,
    /// Other names for elements of its kind: those of classes that it extends in Click, and of Click's interfaces (`Storage`).
    pub kinds: &'static [&'static str],
    /// The class of which this is another name, if it is: see [`Class::aliases`].
    pub alias_of: Option<&'static str>,
    /// The documentation: the element file's leading doc block.
    pub doc: &'static str,
    /// Makes an instance from its configuration.
    pub create: C,
}

/// A class as far as its elements are not made yet.
pub type Described = Class<dyn Any + Send + Sync>;

impl<C: Copy> Class<C> {
    /// A class with one push or pull input and output that only reacts and replicates: the most common kind.
    pub const fn new(name: &'static str, create: C) -> Class<C> {
        Class {
            name,
            ports: "1/1",
            processing: "a/a",
            flow: "x/x",
            residency: Residency::Replicated,
            activity: Activity::Never,
            phase: 0,
            pins: None,
            live: false,
            hands_over: false,
            pure: false,
            makes: "",
            absorbs: "",
            holds: "",
            jointly: false,
            keeps: None,
            hide: None,
            kinds: &[],
            alias_of: None,
            doc: "",
            create,
        }
    }

    /// Classes under their other names: for each row of `table`, the class with its first column's name, once for each name of the
    /// second.
    ///
    /// # Panics
    /// No class has a row's name.
    pub fn aliases(
        families: &[&[&'static Class<C>]],
        table: &[(&'static str, &[&'static str])],
    ) -> Vec<Class<C>> {
        let mut aliases = Vec::new();
        for &(name, others) in table {
            let class = families.iter().copied().flatten().find(|class| class.name == name);
            let class = class.unwrap_or_else(|| panic!("aliases of '{name}', which is no class"));
            let alias = |&name: &&'static str, of| Class { name, alias_of: Some(of), ..**class };
            aliases.extend(others.iter().map(|other| alias(other, name)));
        }
        aliases
    }

    /// Sets the other names for elements of its kind.
    pub const fn kinds(mut self, kinds: &'static [&'static str]) -> Class<C> {
        self.kinds = kinds;
        self
    }

    /// Says which packets elements of the class make, in a few words for people. Without this, an element hands on, drops or absorbs what
    /// it got, and nothing else: [`crate::Router::balance`] finds one that does not.
    pub const fn makes(mut self, packets: &'static str) -> Class<C> {
        self.makes = packets;
        self
    }

    /// Says that elements of the class make copies of packets.
    pub const fn copies(self) -> Class<C> {
        self.makes("copies")
    }

    /// Says which packets end in elements of the class without being dropped: those that reach their destination there.
    pub const fn absorbs(mut self, packets: &'static str) -> Class<C> {
        self.absorbs = packets;
        self
    }

    /// Says which packets elements of the class keep for a while; [`crate::Element::held`] says how many those are.
    pub const fn holds(mut self, packets: &'static str) -> Class<C> {
        self.holds = packets;
        self
    }

    /// As [`Class::holds`], where elements of several classes, all of which declare it with the same words, keep packets together: what
    /// one has taken in another may hand on. What they hold counts for all of them.
    pub const fn holds_jointly(mut self, packets: &'static str) -> Class<C> {
        self.holds = packets;
        self.jointly = true;
        self
    }

    /// Says what elements of the class keep for each of those whose packets come: entries of a kind, how many there are at most unless
    /// the argument says otherwise (or whatever arguments say, if it is empty), and the bytes that each takes at most.
    pub const fn keeps(
        mut self,
        what: &'static str,
        argument: &'static str,
        entries: u64,
        bytes: u64,
    ) -> Class<C> {
        self.keeps = Some(Budget { what, argument, entries, bytes });
        self
    }

    /// Sets the port counts.
    pub const fn ports(mut self, ports: &'static str) -> Class<C> {
        self.ports = ports;
        self
    }

    /// Sets the processing code.
    pub const fn processing(mut self, code: &'static str) -> Class<C> {
        self.processing = code;
        self
    }

    /// Sets the flow code.
    pub const fn flow(mut self, code: &'static str) -> Class<C> {
        self.flow = code;
        self
    }

    /// Sets the residency.
    pub const fn residency(mut self, residency: Residency) -> Class<C> {
        self.residency = residency;
        self
    }

    /// Sets the activity.
    pub const fn activity(mut self, activity: Activity) -> Class<C> {
        self.activity = activity;
        self
    }

    /// Sets the order of configuration.
    pub const fn phase(mut self, phase: i32) -> Class<C> {
        self.phase = phase;
        self
    }

    /// Says how the class pins elements to workers.
    pub const fn pins(mut self, pins: ReadPins) -> Class<C> {
        self.pins = Some(pins);
        self
    }

    /// Says that elements can be given new arguments while they run: a write to the handler `config` makes an instance from
    /// the new configuration string in the place of each old one, which first gives it its state. For classes that keep
    /// their arguments and state to themselves: without shared parts, tasks, signals and files. Others take the string by
    /// [`crate::Element::reconfigure`].
    pub const fn live(mut self) -> Class<C> {
        self.live = true;
        self
    }

    /// Says that a push into an element of the class does not reach what is behind it: only the instance on the element's
    /// own worker ([`crate::Config::home`]) emits, and the others hand their packets to it.
    pub const fn hands_over(mut self) -> Class<C> {
        self.hands_over = true;
        self
    }

    /// Says that what elements of the class do with a packet by [`crate::Element::push_one`] depends on the packet and their arguments
    /// alone, and leaves nothing behind but the packet: neither counts nor other packets. An explanation tries such elements out.
    pub const fn pure(mut self) -> Class<C> {
        self.pure = true;
        self
    }

    /// Says that arguments of its elements may be keys. Where configuration strings are shown, by handlers and by what programs read, `hide`
    /// takes the keys out of them.
    pub const fn hides(mut self, hide: Hide) -> Class<C> {
        self.hide = Some(hide);
        self
    }

    /// Sets the documentation.
    pub const fn doc(mut self, doc: &'static str) -> Class<C> {
        self.doc = doc;
        self
    }
}

impl<C: ?Sized> Class<C> {
    /// Whether its elements are of a kind: whether this is its name, or one of its [`kinds`](Class::kinds).
    pub fn is_a(&self, kind: &str) -> bool {
        self.name == kind || self.kinds.contains(&kind)
    }

    /// A configuration string of one of its elements as others may see it: without the keys that the class hides, and without what the word `key`
    /// announces, as an association that a script writes, or one of the configuration's variables that have keys.
    pub fn shown(&self, config: &str, names: &KeyNames) -> String {
        let shown = self.hide.and_then(|hide| hide(config)).unwrap_or_else(|| config.to_owned());
        let masked = match names.behind_key(&shown) {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        };
        masked.unwrap_or(shown)
    }
}

/// The classes that a program knows.
#[derive(Clone, Debug)]
pub struct Classes<C: 'static> {
    by_name: BTreeMap<&'static str, &'static Class<C>>,
    pub(crate) interfaces: Option<InterfaceAddresses>,
    pub(crate) filters: Option<CompileFilter>,
}

impl<C> Default for Classes<C> {
    fn default() -> Self {
        Classes { by_name: BTreeMap::new(), interfaces: None, filters: None }
    }
}

impl<C> Classes<C> {
    /// These classes.
    pub fn new(classes: impl IntoIterator<Item = &'static Class<C>>) -> Classes<C> {
        let by_name = classes.into_iter().map(|class| (class.name, class)).collect();
        Classes { by_name, interfaces: None, filters: None }
    }

    /// Lets the names of the machine's interfaces stand for their addresses in arguments.
    #[must_use]
    pub fn with_interfaces(self, interfaces: InterfaceAddresses) -> Classes<C> {
        Classes { interfaces: Some(interfaces), ..self }
    }

    /// Lets traces and captures be asked for with expressions that this understands.
    #[must_use]
    pub fn with_filters(self, filters: CompileFilter) -> Classes<C> {
        Classes { filters: Some(filters), ..self }
    }

    /// The class with a name.
    pub fn get(&self, name: &str) -> Option<&'static Class<C>> {
        self.by_name.get(name).copied()
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// All classes, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &'static Class<C>> {
        self.by_name.values().copied()
    }
}
