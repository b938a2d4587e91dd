//! Handlers: named values of elements that people and scripts read and write while the router runs.

use crate::handlers::metric::Metric;
use crate::handlers::response::Merge;

/// The name of a handler that answers to every name that nothing else has. The text that its functions get is the name, a
/// space, and the parameter or value.
pub const ANY: &str = "*";

/// What programs that show handlers to people may want to know of one, besides its sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// Its value is data rather than a line of text.
    pub const RAW: Flags = Flags(1);
    /// Its value hardly ever changes.
    pub const CALM: Flags = Flags(1 << 1);
    /// A read costs much.
    pub const EXPENSIVE: Flags = Flags(1 << 2);
    /// Few people want to see it.
    pub const UNCOMMON: Flags = Flags(1 << 3);
    /// It is there for old programs only.
    pub const DEPRECATED: Flags = Flags(1 << 4);
    /// A write takes no value, is done for its effect.
    pub const BUTTON: Flags = Flags(1 << 5);
    /// Its value is a boolean.
    pub const CHECKBOX: Flags = Flags(1 << 6);

    /// All of them with the letters that Click has for them, in Click's order.
    const LETTERS: [(Flags, char); 7] = [
        (Flags::RAW, '%'),
        (Flags::CALM, '.'),
        (Flags::EXPENSIVE, '$'),
        (Flags::UNCOMMON, 'U'),
        (Flags::DEPRECATED, 'D'),
        (Flags::BUTTON, 'b'),
        (Flags::CHECKBOX, 'c'),
    ];

    /// Whether all of `flags` are set.
    pub fn contains(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// Click's letters.
impl std::fmt::Display for Flags {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut set = Flags::LETTERS.iter().filter(|(flag, _)| self.contains(*flag));
        set.try_for_each(|(_, letter)| write!(f, "{letter}"))
    }
}

/// One handler: its sides and what is known about it.
pub struct Handler {
    /// Its name, without the element's.
    pub name: String,
    /// How values of several instances merge.
    pub merge: Merge,
    /// Whether a read takes a parameter.
    pub parameter: bool,
    /// What those who show it may want to know.
    pub flags: Flags,
    /// Whether it is for this program alone: not to be offered to others over the network.
    pub private: bool,
    /// Whether a write concerns every instance although they have a shared part.
    pub everywhere: bool,
    /// The argument that a write changes, if it has another name than the handler.
    pub argument: Option<&'static str>,
    /// What its value measures.
    pub metric: Option<&'static Metric>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

impl Handler {
    fn new(name: &str) -> Handler {
        Handler {
            name: name.to_owned(),
            merge: Merge::First,
            parameter: false,
            flags: Flags::default(),
            private: false,
            everywhere: false,
            argument: None,
            metric: None,
            reads: false,
            writes: false,
        }
    }

    /// Whether it can be read.
    pub fn readable(&self) -> bool {
        self.reads
    }

    /// Whether it can be written.
    pub fn writable(&self) -> bool {
        self.writes
    }
}

/// The handlers of an element, as declared.
#[derive(Default)]
pub struct Declarations {
    list: Vec<Handler>,
    /// Metrics that are no handlers.
    unnamed: Vec<Handler>,
}

impl Declarations {
    /// The place of the handler with this name, which is made if it is new.
    pub(crate) fn place(&mut self, name: &str) -> usize {
        self.find(name).unwrap_or_else(|| {
            self.list.push(Handler::new(name));
            self.list.len() - 1
        })
    }

    /// The handler at a place.
    pub(crate) fn at(&mut self, place: usize) -> &mut Handler {
        &mut self.list[place]
    }

    /// A new metric that is no handler.
    pub(crate) fn add_unnamed(&mut self) -> &mut Handler {
        self.unnamed.push(Handler::new(""));
        let last = self.unnamed.len() - 1;
        &mut self.unnamed[last]
    }

    /// What is measured: handlers that say so, and metrics that are none, each with its number in a list of first the
    /// former and then the latter.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = (&'static Metric, usize, &Handler)> {
        let all = self.list.iter().chain(&self.unnamed).enumerate();
        all.filter_map(|(number, handler)| handler.metric.map(|metric| (metric, number, handler)))
    }

    /// The handlers declared so far.
    pub fn list(&self) -> &[Handler] {
        &self.list
    }

    /// The handler with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.list.iter().position(|h| h.name == name)
    }
}

impl Handler {
    /// Says how values of several instances become one.
    pub fn merged(&mut self, merge: Merge) -> &mut Handler {
        self.merge = merge;
        self
    }

    /// Says what its value measures, so that it is found among the router's metrics.
    pub fn measures(&mut self, metric: &'static Metric) -> &mut Handler {
        self.metric = Some(metric);
        self
    }

    /// Says that a write takes no value.
    pub fn as_button(&mut self) -> &mut Handler {
        self.flagged(Flags::BUTTON)
    }

    /// Says what those who show it may want to know.
    pub fn flagged(&mut self, flags: Flags) -> &mut Handler {
        self.flags = self.flags | flags;
        self
    }

    /// Says that the handler is not to be offered over the network.
    pub fn as_private(&mut self) -> &mut Handler {
        self.private = true;
        self
    }

    /// Says that a write is for every instance. It is anyway where instances share nothing; where they have a shared part,
    /// the first instance alone performs a write unless this is said.
    pub fn to_everywhere(&mut self) -> &mut Handler {
        self.everywhere = true;
        self
    }

    /// Says which argument a write changes, where it is not the handler's namesake: the configuration string follows.
    pub fn of_argument(&mut self, name: &'static str) -> &mut Handler {
        self.argument = Some(name);
        self
    }

    /// Says that what is written is secret: the configuration string, which others can read, does not follow, although an argument has the
    /// handler's name.
    pub fn as_secret(&mut self) -> &mut Handler {
        self.argument = Some(""); // which no argument is called
        self
    }

    pub(crate) fn take_no_parameter(&mut self) -> &mut Handler {
        self.parameter = false;
        self
    }
}

/// A handler of some element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Its own: the place in its list.
    Own(usize),
    /// One that every element has.
    Common(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_click_s_letters() {
        let all = Flags::LETTERS.iter().rev().fold(Flags::default(), |all, (flag, _)| all | *flag);
        assert_eq!(all.to_string(), "%.$UDbc");
        assert_eq!((Flags::CHECKBOX | Flags::CALM).to_string(), ".c");
        assert!(all.contains(Flags::RAW | Flags::BUTTON) && !Flags::RAW.contains(Flags::RAW | Flags::BUTTON));
    }
}
