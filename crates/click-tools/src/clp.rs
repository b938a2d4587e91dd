//! Command lines of Click's programs: the driver's and its companions'.
//!
//! Click's options do not follow the habits of today's parsers: long ones may be shortened as far as they stay
//! unambiguous, some are negated by `no-` or, short, by a plus sign, short ones may carry their value behind an equals
//! sign, and the messages are fixed. So they are read here.

use std::ffi::OsString;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Text,
    Integer,
    /// A TCP port: a number, perhaps with a plus sign for those after it, or a name.
    Port,
    /// A number, which may be missing.
    PerhapsReal,
    /// An integer, which may be missing.
    PerhapsInteger,
}

/// An option that a program has; `Id` is what the program calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec<Id> {
    long: &'static str,
    short: Option<char>,
    id: Id,
    takes: Takes,
    negatable: bool,
    preferred: bool,
}

impl<Id> Spec<Id> {
    /// An option with this long and this short name; one of them may be missing.
    pub(crate) const fn new(long: &'static str, short: Option<char>, id: Id, takes: Takes) -> Spec<Id> {
        Spec { long, short, id, takes, negatable: false, preferred: false }
    }

    /// Whether this is the option that the program calls so.
    pub(crate) fn is(&self, id: Id) -> bool
    where
        Id: PartialEq,
    {
        self.id == id
    }

    /// Lets the option be negated.
    pub(crate) const fn negatable(mut self) -> Spec<Id>
    where
        Id: Copy,
    {
        self.negatable = true;
        self
    }

    /// Makes this the option that is meant by what could mean several.
    pub(crate) const fn preferred(mut self) -> Spec<Id>
    where
        Id: Copy,
    {
        self.preferred = true;
        self
    }
}

/// Possibilities that the message about an ambiguous option names.
const POSSIBILITIES: usize = 4;

/// An item of the command line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item<Id> {
    /// An option.
    Option {
        /// Which.
        id: Id,
        /// Whether it was negated.
        negated: bool,
        /// Its value, if it has one.
        value: Option<String>,
    },
    /// Anything else.
    Word(String),
}

/// Takes a command line apart, item by item.
pub(crate) struct Items<Id: 'static> {
    program: &'static str,
    options: &'static [Spec<Id>],
    /// Whether a plus sign before short options negates them.
    plus: bool,
    arguments: std::vec::IntoIter<String>,
    /// What is left of an argument with several short options, and whether they are negated.
    shorts: String,
    negated: bool,
    /// After `--`, everything is a word.
    only_words: bool,
    quotes: (char, char),
}

/// An option that a long name can mean, and whether the name negates it.
type Candidate<Id> = (&'static Spec<Id>, bool);

/// Whether messages may have curly quotes, as Click decides it.
fn has_utf8() -> bool {
    std::env::var("LANG").is_ok_and(|lang| ["UTF-8", "UTF8", "utf8"].iter().any(|u| lang.contains(u)))
}

impl<Id: Copy + PartialEq> Items<Id> {
    /// A reader of the arguments of a program with these options.
    pub(crate) fn new(
        program: &'static str,
        options: &'static [Spec<Id>],
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Items<Id> {
        let arguments: Vec<String> =
            arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        Items {
            program,
            options,
            plus: false,
            arguments: arguments.into_iter(),
            shorts: String::new(),
            negated: false,
            only_words: false,
            quotes: if has_utf8() { ('\u{2018}', '\u{2019}') } else { ('\'', '\'') },
        }
    }

    /// Lets `+x` negate the option `-x`.
    pub(crate) fn with_plus(mut self) -> Items<Id> {
        self.plus = true;
        self
    }

    fn quote(&self, text: &str) -> String {
        format!("{}{text}{}", self.quotes.0, self.quotes.1)
    }

    fn short(&mut self, c: char) -> Result<Item<Id>, String> {
        let negated = self.negated;
        let spelled = format!("{}{c}", if negated { '+' } else { '-' });
        let found = self.options.iter().find(|option| option.short == Some(c));
        let Some(found) = found.filter(|option| !negated || option.negatable) else {
            return Err(format!("unrecognized option {}", self.quote(&spelled)));
        };
        let mut attached = None;
        if !negated && found.takes != Takes::Nothing && !self.shorts.is_empty() {
            let rest = std::mem::take(&mut self.shorts);
            attached = Some(rest.strip_prefix('=').map_or(rest.clone(), str::to_owned));
        }
        self.option(found, negated, &spelled, attached)
    }

    fn long(&mut self, text: &str) -> Result<Item<Id>, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let mut possible = self.candidates(name, false);
        if possible.is_empty() {
            let (mut rest, mut negated) = (name, false);
            while let Some(shorter) = rest.strip_prefix("no-") {
                (rest, negated) = (shorter, !negated);
                possible = self.candidates(rest, negated);
                if !possible.is_empty() {
                    break;
                }
            }
        }
        if let Some(preferred) = possible.iter().find(|(option, _)| option.preferred).copied() {
            possible = vec![preferred];
        }
        let Some(&(found, negated)) = possible.first() else {
            return Err(format!("unrecognized option {}", self.quote(&format!("--{text}"))));
        };
        if possible.iter().any(|(option, _)| option.id != found.id) {
            return Err(self.ambiguous(text, &possible));
        }
        let full = format!("--{}{}", if negated { "no-" } else { "" }, found.long);
        self.option(found, negated, &full, value)
    }

    fn ambiguous(&self, text: &str, possible: &[Candidate<Id>]) -> String {
        let mut message = format!(
            "option {} is ambiguous\n{}: (Possibilities are",
            self.quote(&format!("--{text}")),
            self.program
        );
        for (i, (option, negated)) in possible.iter().take(POSSIBILITIES).enumerate() {
            message.push_str(match i {
                0 => " ",
                1 if possible.len() == 2 => " and ",
                i if i + 1 == possible.len() => ", and ",
                _ => ", ",
            });
            let no = if *negated { "no-" } else { "" };
            message.push_str(&self.quote(&format!("--{no}{}", option.long)));
        }
        if possible.len() > POSSIBILITIES {
            message.push_str(", and others");
        }
        message + ".)"
    }

    /// Completes an option that was spelled like this with its value, which may be attached.
    fn option(
        &mut self,
        spec: &Spec<Id>,
        negated: bool,
        spelled: &str,
        attached: Option<String>,
    ) -> Result<Item<Id>, String> {
        let id = spec.id;
        let spelled = self.quote(spelled);
        if negated || spec.takes == Takes::Nothing {
            let apostrophe = self.quotes.1;
            return match attached {
                Some(_) => Err(format!("{spelled} can{apostrophe}t take an argument")),
                None => Ok(Item::Option { id, negated, value: None }),
            };
        }
        let value = match attached {
            None if !matches!(spec.takes, Takes::PerhapsReal | Takes::PerhapsInteger) => {
                Some(self.arguments.next().ok_or_else(|| format!("{spelled} requires an argument"))?)
            }
            attached => attached,
        };
        if let Some(value) = &value {
            let expected = match spec.takes {
                Takes::Integer | Takes::PerhapsInteger if router::parse_integer(value).is_none() => {
                    Some("an integer")
                }
                Takes::Port if !is_port(value) => Some("a TCP port number"),
                Takes::PerhapsReal if value.parse::<f64>().is_err() => Some("a real number"),
                _ => None,
            };
            if let Some(expected) = expected {
                return Err(format!("{spelled} expects {expected}, not {}", self.quote(value)));
            }
        }
        Ok(Item::Option { id, negated, value })
    }

    /// The options that a long name, perhaps shortened, can mean.
    fn candidates(&self, name: &str, negated: bool) -> Vec<Candidate<Id>> {
        let known =
            (self.options.iter()).filter(|option| !option.long.is_empty() && (!negated || option.negatable));
        match known.clone().find(|option| option.long == name) {
            Some(exact) => vec![(exact, negated)],
            None => {
                known.filter(|option| option.long.starts_with(name)).map(|option| (option, negated)).collect()
            }
        }
    }
}

fn is_port(value: &str) -> bool {
    let name = |value: &str| wire::describe::port(value).or_else(|| router::service_port(value)).is_some();
    let number = |value: &str| router::parse_integer(value).and_then(|n| u16::try_from(n).ok());
    match value.strip_suffix('+') {
        Some(first) => number(first).is_some_and(|first| first > 0),
        None => number(value).is_some() || name(value),
    }
}

impl<Id: Copy + PartialEq> Iterator for Items<Id> {
    type Item = Result<Item<Id>, String>;

    /// The next item, or what is wrong with it.
    fn next(&mut self) -> Option<Result<Item<Id>, String>> {
        if let Some(c) = self.shorts.chars().next() {
            self.shorts.drain(..c.len_utf8());
            return Some(self.short(c));
        }
        let argument = self.arguments.next()?;
        let plus = self.plus && argument.starts_with('+') && argument != "+";
        if self.only_words || argument == "-" || !(plus || argument.starts_with('-')) {
            return Some(Ok(Item::Word(argument)));
        }
        if argument == "--" {
            self.only_words = true;
            return self.next();
        }
        match argument.strip_prefix("--") {
            Some(text) => Some(self.long(text)),
            None => {
                self.shorts = argument[1..].to_owned();
                self.negated = plus;
                self.next()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Id {
        Handler,
        Help,
        Port,
        Quit,
        SimulatedTime,
        Socket,
        Threads,
        Warnings,
    }

    const OPTIONS: &[Spec<Id>] = &[
        Spec::new("handler", Some('h'), Id::Handler, Takes::Text),
        Spec::new("help", None, Id::Help, Takes::Nothing),
        Spec::new("port", Some('p'), Id::Port, Takes::Port),
        Spec::new("quit", Some('q'), Id::Quit, Takes::Nothing),
        Spec::new("socket", None, Id::Socket, Takes::Integer),
        Spec::new("simtime", None, Id::SimulatedTime, Takes::PerhapsReal),
        Spec::new("simulation-time", None, Id::SimulatedTime, Takes::PerhapsReal),
        Spec::new("threads", Some('j'), Id::Threads, Takes::Integer),
        Spec::new("warnings", Some('W'), Id::Warnings, Takes::Nothing).negatable(),
    ];

    fn read(arguments: &[&str]) -> Items<Id> {
        let mut items = Items::new("click", OPTIONS, arguments.iter().map(OsString::from));
        items.quotes = ('\'', '\'');
        items
    }

    fn items(arguments: &[&str]) -> Vec<Result<Item<Id>, String>> {
        read(arguments).collect()
    }

    fn option(id: Id, value: Option<&str>) -> Result<Item<Id>, String> {
        Ok(Item::Option { id, negated: false, value: value.map(str::to_owned) })
    }

    fn word(text: &str) -> Result<Item<Id>, String> {
        Ok(Item::Word(text.to_owned()))
    }

    fn warnings(negated: bool) -> Result<Item<Id>, String> {
        Ok(Item::Option { id: Id::Warnings, negated, value: None })
    }

    #[test]
    fn values_in_every_place() {
        for arguments in
            [&["-j3"][..], &["-j=3"], &["-j", "3"], &["--threads=3"], &["--threads", "3"], &["--th", "3"]]
        {
            assert_eq!(items(arguments), [option(Id::Threads, Some("3"))], "{arguments:?}");
        }
        assert_eq!(
            items(&["-qh", "-x", "-"]),
            [option(Id::Quit, None), option(Id::Handler, Some("-x")), word("-"),]
        );
        assert_eq!(items(&["--simtime", "5"]), [option(Id::SimulatedTime, None), word("5")]);
        assert_eq!(items(&["--sim=5"]), [option(Id::SimulatedTime, Some("5"))]);
        assert_eq!(items(&["--", "-q", "--"]), [word("-q"), word("--")]);
    }

    #[test]
    fn a_port_is_a_number_a_first_number_or_a_service() {
        for port in ["0", "65535", "0x1f90", "7777+", "http"] {
            assert_eq!(items(&["-p", port]), [option(Id::Port, Some(port))]);
        }
    }

    #[test]
    fn no_negates_an_option_and_a_second_no_undoes_it() {
        assert_eq!(
            items(&["--warnings", "--no-w", "--no-no-warn"]),
            [warnings(false), warnings(true), warnings(false)]
        );
    }

    /// Only a program that has said so lets a plus sign negate, and only what can be negated.
    #[test]
    fn plus_negates_where_the_program_allows_it() {
        assert_eq!(items(&["+W"]), [word("+W")]);
        let plus = |arguments: &[&str]| read(arguments).with_plus().collect::<Vec<_>>();
        assert_eq!(
            plus(&["+W", "-Wq", "+"]),
            [warnings(true), warnings(false), option(Id::Quit, None), word("+")]
        );
        assert_eq!(plus(&["+q"]), [Err("unrecognized option '+q'".to_owned())]);
    }

    #[test]
    fn each_mistake_has_its_message() {
        let cases = [
            (&["--nothing"][..], "unrecognized option '--nothing'"),
            (&["-qZ"], "unrecognized option '-Z'"),
            (&["--no-quit"], "unrecognized option '--no-quit'"),
            (&["-j"], "'-j' requires an argument"),
            (&["--thr", "two"], "'--threads' expects an integer, not 'two'"),
            (&["-p", "nonsense"], "'-p' expects a TCP port number, not 'nonsense'"),
            (&["-p", "99999"], "'-p' expects a TCP port number, not '99999'"),
            (&["--port=0+"], "'--port' expects a TCP port number, not '0+'"),
            (&["-p7, LOCALHOST false"], "'-p' expects a TCP port number, not '7, LOCALHOST false'"),
            (&["--quit=1"], "'--quit' can't take an argument"),
            (&["--no-warnings=1"], "'--no-warnings' can't take an argument"),
            (
                &["--s"],
                "option '--s' is ambiguous\n\
                 click: (Possibilities are '--socket', '--simtime', and '--simulation-time'.)",
            ),
            (&["--h=a"], "option '--h=a' is ambiguous\nclick: (Possibilities are '--handler' and '--help'.)"),
        ];
        for (arguments, message) in cases {
            let found = items(arguments).into_iter().find_map(Result::err);
            assert_eq!(found.as_deref(), Some(message), "{arguments:?}");
        }
    }
}
