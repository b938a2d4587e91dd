//! Reading an element's arguments, by position and by keyword, with all errors at once.
//!
//! The rules are those of Click's `Args`; the types of arguments are in `values`.

use crate::error::ConfigError;
use crate::text::current::Current;
use crate::text::names::{ElementNames, InterfaceAddresses, Names, Value};

/// Where an argument is read: names mean something there.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    pub(crate) names: &'a Names,
    pub(crate) element: &'a str,
    pub(crate) elements: &'a ElementNames,
    pub(crate) interfaces: Option<InterfaceAddresses>,
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Scope").field(&self.element).finish()
    }
}

impl Scope<'_> {
    /// What a name stands for here, as far as `pick` accepts it.
    pub fn lookup<T>(&self, name: &str, pick: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let found = self.names.lookup(self.element, name, pick);
        // Names begin with letters; what begins with anything else is an address, or none.
        if found.is_none() && name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            self.names.note_reference();
        }
        found
    }

    /// The port that a name stands for here.
    pub fn port(&self, name: &str) -> Option<u16> {
        self.lookup(name, |value| match value {
            Value::TcpPort(port) | Value::UdpPort(port) => Some(*port),
            _ => None,
        })
    }

    /// The index of the element that is meant by a name here.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.note_reference();
        self.elements.find(name, self.element)
    }
}

/// A type of argument.
pub trait FromArg: Sized {
    /// What Click's handlers say they expected when they are written something else; empty where they have no such words.
    const EXPECTED: &'static str = "";

    /// Reads a value from the text of an argument.
    ///
    /// # Errors
    /// What is wrong, as a phrase that follows the argument's name and a colon.
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String>;
}

/// Click's words for a text that is not of the expected form.
const PARSE_ERROR: &str = "parse error";
/// Click's words for a text that should be an integer.
pub(crate) const INVALID_NUMBER: &str = "invalid number";

/// The error for a text that is not of the expected form: Click's words, and some more that [`split_expected`] takes off.
///
/// # Errors
/// Always.
pub fn parse_error<T>(expected: &str, text: &str) -> Result<T, String> {
    unreadable(PARSE_ERROR, expected, text)
}

/// As [`parse_error`], with other words of Click's.
pub(crate) fn unreadable<T>(said: &str, expected: &str, text: &str) -> Result<T, String> {
    Err(format!("{said}: {expected} expected, not '{text}'"))
}

/// Splits what Click would say of a message from what was expected instead, if the message says that.
pub(crate) fn split_expected(message: &str) -> (&str, Option<String>) {
    for said in [PARSE_ERROR, INVALID_NUMBER] {
        let Some(at) = message.find(said).map(|at| at + said.len()) else { continue };
        let Some(rest) = message[at..].strip_prefix(": ") else { continue };
        if let Some((expected, text)) = rest.split_once(" expected, not ") {
            return (&message[..at], Some(format!("{expected}, not {text}")));
        }
    }
    (message, None)
}

/// The message in Click's words alone, line by line.
pub(crate) fn in_click_words(message: &str) -> String {
    message.split('\n').map(|line| split_expected(line).0).collect::<Vec<_>>().join("\n")
}

type Assign<'v> = Box<dyn FnMut(&str, Scope<'_>) -> Result<(), String> + 'v>;

struct Slot<'v> {
    name: &'static str,
    positional: bool,
    mandatory: bool,
    /// Whether a keyword may be given several times.
    repeated: bool,
    assign: Assign<'v>,
}

/// Reads arguments into variables: `args.positional("LIMIT", &mut limit).keyword("STOP", &mut stop).finish()?`.
///
/// An argument of the form `NAME VALUE`, where the slot NAME exists, belongs to that slot, also to a positional one; the
/// last such argument counts. Arguments without a name are taken by position, in the order of the calls, and come
/// before those with a name. A mandatory positional slot takes also an argument that merely looks like `NAME VALUE`.
pub struct Args<'s, 'v> {
    words: Vec<String>,
    scope: Scope<'s>,
    slots: Vec<Slot<'v>>,
    rest: Option<&'v mut Vec<String>>,
    /// Where the names of the arguments are noted, and for which element, if they are the element's own.
    own: Option<(&'s Current, usize)>,
}

impl<'s, 'v> Args<'s, 'v> {
    /// A reader of the arguments in the configuration string of an element, which notes their names.
    pub(crate) fn of_element(text: &str, scope: Scope<'s>, current: &'s Current, element: usize) -> Self {
        Args { own: Some((current, element)), ..Args::new(lang::conf::split_args(text), scope) }
    }

    /// A reader of these arguments.
    pub fn new(words: Vec<String>, scope: Scope<'s>) -> Self {
        Args { words, scope, slots: Vec::new(), rest: None, own: None }
    }

    fn slot<T: FromArg>(
        mut self,
        name: &'static str,
        value: &'v mut T,
        positional: bool,
        mandatory: bool,
    ) -> Self {
        let assign = Box::new(move |text: &str, scope: Scope<'_>| {
            *value = T::from_arg(text, scope)?;
            Ok(())
        });
        self.slots.push(Slot { name, positional, mandatory, repeated: false, assign });
        self
    }

    /// A mandatory argument, by position or keyword.
    pub fn required<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, true, true)
    }

    /// An optional argument, by position or keyword.
    pub fn positional<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, true, false)
    }

    /// An optional argument, by keyword only.
    pub fn keyword<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, false, false)
    }

    /// A mandatory argument, by keyword only.
    pub fn required_keyword<T: FromArg>(self, name: &'static str, value: &'v mut T) -> Self {
        self.slot(name, value, false, true)
    }

    /// An optional keyword that may be given several times.
    pub fn keywords<T: FromArg>(mut self, name: &'static str, values: &'v mut Vec<T>) -> Self {
        let assign = Box::new(move |text: &str, scope: Scope<'_>| {
            values.push(T::from_arg(text, scope)?);
            Ok(())
        });
        self.slots.push(Slot { name, positional: false, mandatory: false, repeated: true, assign });
        self
    }

    /// Any number of arguments, by position or keyword, each of one value or of several with blanks between them.
    pub fn list<T: FromArg>(mut self, name: &'static str, values: &'v mut Vec<T>) -> Self {
        let assign = Box::new(move |text: &str, scope: Scope<'_>| {
            for word in text.split_whitespace() {
                values.push(T::from_arg(word, scope)?);
            }
            Ok(())
        });
        self.slots.push(Slot { name, positional: true, mandatory: false, repeated: true, assign });
        self
    }

    /// All arguments that no other slot takes, in order.
    pub fn rest(mut self, words: &'v mut Vec<String>) -> Self {
        self.rest = Some(words);
        self
    }

    /// Reads everything.
    ///
    /// # Errors
    /// Every argument that is missing, malformed, unknown or too many.
    pub fn finish(self) -> Result<(), ConfigError> {
        let Args { words, scope, slots, rest, own } = self;
        if let Some((current, element)) = own {
            current.note(element, || slots.iter().map(|slot| (slot.name, slot.positional)).collect());
        }
        let mut given: Vec<Given> = words.iter().map(|word| Given::new(word)).collect();
        let (mut errors, mut sure) = (Vec::new(), Vec::new());
        for mut slot in slots {
            let texts = take(&slot, &mut given);
            if texts.is_empty() && slot.mandatory {
                errors.push(format!("{}: required argument missing", slot.name));
                sure.extend(errors.last().cloned());
            }
            for text in texts {
                let references = scope.names.references();
                if let Err(error) = (slot.assign)(text, scope) {
                    errors.push(format!("{}: {error}", slot.name));
                    sure.extend(errors.last().filter(|_| scope.names.references() == references).cloned());
                }
            }
        }
        let left: Vec<&Given> = given.iter().filter(|given| given.state == State::Free).collect();
        match rest {
            Some(rest) => rest.extend(left.iter().map(|given| given.word.to_owned())),
            None => {
                errors.extend(surplus(&left));
                sure.extend(surplus(&left));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(ConfigError { sure, ..ConfigError::from(errors) }) }
    }
}

/// What has become of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// Taken by its keyword.
    Named,
    /// Taken by position.
    Positioned,
}

/// An argument as it was given.
struct Given<'w> {
    word: &'w str,
    /// Its keyword and value, if it looks like that.
    named: Option<(&'w str, &'w str)>,
    state: State,
}

impl<'w> Given<'w> {
    fn new(word: &'w str) -> Given<'w> {
        Given { word, named: keyword(word), state: State::Free }
    }
}

/// Splits `NAME VALUE`: a letter or underscore, then letters, digits and `_:.?!`, then space and something more.
fn keyword(word: &str) -> Option<(&str, &str)> {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let (name, value) = lang::conf::keyword(word)?;
    (starts && !value.is_empty()).then_some((name, value))
}

/// The texts that a slot takes: the last one under its name, or all if it may be repeated, or else the next position, or all that are left.
fn take<'w>(slot: &Slot<'_>, given: &mut [Given<'w>]) -> Vec<&'w str> {
    // A keyword ends the positional arguments.
    let position = given.iter().position(|given| given.state != State::Positioned);
    let position = position.filter(|&at| given[at].state == State::Free);
    let mut texts: Vec<(usize, &str)> = Vec::new();
    for (at, given) in given.iter_mut().enumerate() {
        if let (State::Free, Some((name, value))) = (given.state, given.named)
            && name == slot.name
        {
            given.state = State::Named;
            texts.push((at, value));
        }
    }
    let mut next = position.filter(|_| slot.positional);
    while let Some(at) = next.take_if(|at| is_in_place(slot, given, *at, texts.is_empty())) {
        given[at].state = State::Positioned;
        texts.push((at, given[at].word));
        next = Some(at + 1).filter(|_| slot.repeated);
    }
    texts.sort_unstable_by_key(|&(at, _)| at);
    let first = if slot.repeated { 0 } else { texts.len().saturating_sub(1) };
    texts[first..].iter().map(|&(_, text)| text).collect()
}

/// Whether a positional slot takes the argument at this place, where it may be the slot's first one.
fn is_in_place(slot: &Slot<'_>, given: &[Given<'_>], at: usize, is_first: bool) -> bool {
    given.get(at).is_some_and(|given| {
        given.state == State::Free && (given.named.is_none() || is_first && slot.mandatory)
    })
}

/// The errors for arguments that no slot takes.
fn surplus(left: &[&Given<'_>]) -> Vec<String> {
    let named = left.iter().filter_map(|given| given.named);
    let mut errors: Vec<String> = named.map(|(name, _)| format!("{name}: unknown argument")).collect();
    if left.iter().any(|given| given.named.is_none()) {
        errors.push("too many arguments".to_owned());
    }
    errors
}
