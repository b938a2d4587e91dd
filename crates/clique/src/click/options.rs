//! The command line of Click's user-level driver.
//!
//! Click's options do not follow the habits of today's parsers: long ones may be shortened as far as they stay
//! unambiguous, some are negated by `no-`, short ones may carry their value behind an equals sign, and the messages are
//! fixed. So they are read here.

/// Which option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Reconfigure,
    Clickpath,
    Expression,
    File,
    Handler,
    Help,
    Output,
    Socket,
    Port,
    Quit,
    SimulatedTime,
    Threads,
    Affinity,
    Time,
    UnixSocket,
    Version,
    Warnings,
    NoWarnings,
    ExitHandler,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    Text,
    Integer,
    /// A number, which may be missing.
    PerhapsReal,
}

struct Spec {
    long: &'static str,
    short: Option<char>,
    id: Id,
    takes: Takes,
    negatable: bool,
}

const fn spec(long: &'static str, short: Option<char>, id: Id, takes: Takes, negatable: bool) -> Spec {
    Spec { long, short, id, takes, negatable }
}

const OPTIONS: &[Spec] = &[
    spec("allow-reconfigure", Some('R'), Id::Reconfigure, Takes::Nothing, true),
    spec("clickpath", Some('C'), Id::Clickpath, Takes::Text, false),
    spec("expression", Some('e'), Id::Expression, Takes::Text, false),
    spec("file", Some('f'), Id::File, Takes::Text, false),
    spec("handler", Some('h'), Id::Handler, Takes::Text, false),
    spec("help", None, Id::Help, Takes::Nothing, false),
    spec("output", Some('o'), Id::Output, Takes::Text, false),
    spec("socket", None, Id::Socket, Takes::Integer, false),
    spec("port", Some('p'), Id::Port, Takes::Text, false),
    spec("quit", Some('q'), Id::Quit, Takes::Nothing, false),
    spec("simtime", None, Id::SimulatedTime, Takes::PerhapsReal, false),
    spec("simulation-time", None, Id::SimulatedTime, Takes::PerhapsReal, false),
    spec("threads", Some('j'), Id::Threads, Takes::Integer, false),
    spec("affinity", Some('a'), Id::Affinity, Takes::Nothing, false),
    spec("time", Some('t'), Id::Time, Takes::Nothing, false),
    spec("unix-socket", Some('u'), Id::UnixSocket, Takes::Text, false),
    spec("version", Some('v'), Id::Version, Takes::Nothing, false),
    spec("warnings", None, Id::Warnings, Takes::Nothing, true),
    spec("exit-handler", Some('x'), Id::ExitHandler, Takes::Text, false),
    spec("", Some('w'), Id::NoWarnings, Takes::Nothing, false),
];

/// Possibilities that the message about an ambiguous option names.
const POSSIBILITIES: usize = 4;

/// An item of the command line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
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
pub(super) struct Items {
    arguments: std::vec::IntoIter<String>,
    /// What is left of an argument with several short options.
    shorts: String,
    /// After `--`, everything is a word.
    only_words: bool,
    quotes: (char, char),
}

impl Items {
    /// A reader of these arguments; messages have curly quotes if `utf8` says so.
    pub(super) fn new(arguments: Vec<String>, utf8: bool) -> Items {
        let quotes = if utf8 { ('\u{2018}', '\u{2019}') } else { ('\'', '\'') };
        Items { arguments: arguments.into_iter(), shorts: String::new(), only_words: false, quotes }
    }

    fn quote(&self, text: &str) -> String {
        format!("{}{text}{}", self.quotes.0, self.quotes.1)
    }

    fn short(&mut self, c: char) -> Result<Item, String> {
        let Some(found) = OPTIONS.iter().find(|option| option.short == Some(c)) else {
            return Err(format!("unrecognized option {}", self.quote(&format!("-{c}"))));
        };
        let mut attached = None;
        if found.takes != Takes::Nothing && !self.shorts.is_empty() {
            let rest = std::mem::take(&mut self.shorts);
            attached = Some(rest.strip_prefix('=').map_or(rest.clone(), str::to_owned));
        }
        self.option(found, false, &format!("-{c}"), attached)
    }

    fn long(&mut self, text: &str) -> Result<Item, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let mut possible: Vec<(&Spec, bool)> = candidates(name, false);
        if possible.is_empty() {
            let (mut rest, mut negated) = (name, false);
            while let Some(shorter) = rest.strip_prefix("no-") {
                (rest, negated) = (shorter, !negated);
                possible = candidates(rest, negated);
                if !possible.is_empty() {
                    break;
                }
            }
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

    fn ambiguous(&self, text: &str, possible: &[(&Spec, bool)]) -> String {
        let mut message =
            format!("option {} is ambiguous\nclick: (Possibilities are", self.quote(&format!("--{text}")));
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
        spec: &Spec,
        negated: bool,
        spelled: &str,
        attached: Option<String>,
    ) -> Result<Item, String> {
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
            None if spec.takes != Takes::PerhapsReal => {
                Some(self.arguments.next().ok_or_else(|| format!("{spelled} requires an argument"))?)
            }
            attached => attached,
        };
        if let Some(value) = &value {
            let expected = match spec.takes {
                Takes::Integer if router::parse_integer(value).is_none() => Some("an integer"),
                Takes::PerhapsReal if value.parse::<f64>().is_err() => Some("a real number"),
                _ => None,
            };
            if let Some(expected) = expected {
                return Err(format!("{spelled} expects {expected}, not {}", self.quote(value)));
            }
        }
        Ok(Item::Option { id, negated, value })
    }
}

/// The options that a long name, perhaps shortened, can mean.
fn candidates(name: &str, negated: bool) -> Vec<(&'static Spec, bool)> {
    let known = OPTIONS.iter().filter(|option| !option.long.is_empty() && (!negated || option.negatable));
    match known.clone().find(|option| option.long == name) {
        Some(exact) => vec![(exact, negated)],
        None => {
            known.filter(|option| option.long.starts_with(name)).map(|option| (option, negated)).collect()
        }
    }
}

impl Iterator for Items {
    type Item = Result<Item, String>;

    /// The next item, or what is wrong with it.
    fn next(&mut self) -> Option<Result<Item, String>> {
        if let Some(c) = self.shorts.chars().next() {
            self.shorts.drain(..c.len_utf8());
            return Some(self.short(c));
        }
        let argument = self.arguments.next()?;
        if self.only_words || argument == "-" || !argument.starts_with('-') {
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
                self.next()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(arguments: &[&str]) -> Vec<Result<Item, String>> {
        Items::new(arguments.iter().map(|&a| a.to_owned()).collect(), false).collect()
    }

    fn option(id: Id, value: Option<&str>) -> Result<Item, String> {
        Ok(Item::Option { id, negated: false, value: value.map(str::to_owned) })
    }

    fn word(text: &str) -> Result<Item, String> {
        Ok(Item::Word(text.to_owned()))
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
    fn negation() {
        let warnings = |negated| Ok(Item::Option { id: Id::Warnings, negated, value: None });
        assert_eq!(
            items(&["--warnings", "--no-w", "--no-no-warn"]),
            [warnings(false), warnings(true), warnings(false)]
        );
    }

    #[test]
    fn messages() {
        let cases = [
            (&["--nothing"][..], "unrecognized option '--nothing'"),
            (&["-qZ"], "unrecognized option '-Z'"),
            (&["--no-quit"], "unrecognized option '--no-quit'"),
            (&["-j"], "'-j' requires an argument"),
            (&["--thr", "two"], "'--threads' expects an integer, not 'two'"),
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
