//! What is said on standard error, as a line of text or an object of JSON.

use std::fmt::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How much a message matters; what matters more comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something cannot do its work.
    Error,
    /// Something is odd.
    Warning,
    /// All else, what elements print on purpose among it.
    Info,
    /// What an element does, step by step. It says so where its arguments ask for it.
    Debug,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }

    /// The word of a line, as wide as the others.
    fn word(self) -> &'static str {
        match self {
            Level::Error => "ERROR",
            Level::Warning => "WARN ",
            Level::Info => "INFO ",
            Level::Debug => "DEBUG",
        }
    }

    /// The colour of the word: a parameter of SGR (ECMA-48, section 8.3.117).
    fn colour(self) -> u8 {
        match self {
            Level::Error => 31,
            Level::Warning => 33,
            Level::Info => 32,
            Level::Debug => 34,
        }
    }

    /// The priority of syslog(3), which the journal reads from the beginning of a line (sd-daemon(3)).
    fn priority(self) -> u8 {
        match self {
            Level::Error => 3,
            Level::Warning => 4,
            Level::Info => 6,
            Level::Debug => 7,
        }
    }
}

/// How messages are written to standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The text alone, as Click has it.
    #[default]
    Bare,
    /// A line with time and level.
    Timed,
    /// The same, with the level in colour.
    Coloured,
    /// A line with the priority that the journal reads (sd-daemon(3)), which has the time itself.
    Journal,
    /// An object of JSON on a line of its own.
    Json,
}

impl Form {
    const ALL: [Form; 5] = [Form::Bare, Form::Timed, Form::Coloured, Form::Journal, Form::Json];
}

/// A message.
#[derive(Clone, Copy, Debug)]
pub struct Record<'e> {
    /// How much it matters.
    pub level: Level,
    /// The name and the class of the element that says it.
    pub element: Option<(&'e str, &'e str)>,
    /// Why a packet was refused, if the message is about one.
    pub reason: Option<&'e str>,
    /// What is said.
    pub text: &'e str,
    /// Whether it is what an element prints on purpose: lines have neither its time nor its level then.
    pub is_printed: bool,
}

impl<'e> Record<'e> {
    /// A message of none of the elements.
    pub fn new(level: Level, text: &'e str) -> Record<'e> {
        Record { level, element: None, reason: None, text, is_printed: false }
    }

    /// As [`write_as`] says.
    pub fn line(&self, since_epoch: Duration) -> String {
        self.line_in(form(), since_epoch)
    }

    fn line_in(&self, form: Form, since_epoch: Duration) -> String {
        let (text, word, colour) = (self.text, self.level.word(), self.level.colour());
        match form {
            Form::Json => self.json(since_epoch),
            Form::Journal => prefixed(text, self.level.priority()),
            Form::Timed if !self.is_printed => format!("{} {word} {text}\n", time(since_epoch)),
            Form::Coloured if !self.is_printed => {
                format!("{} \x1b[{colour}m{word}\x1b[0m {text}\n", time(since_epoch))
            }
            Form::Bare | Form::Timed | Form::Coloured => format!("{text}\n"),
        }
    }

    fn json(&self, since_epoch: Duration) -> String {
        let mut line = format!("{{\"time\":\"{}\",\"level\":\"{}\"", time(since_epoch), self.level.name());
        let [name, class] = [self.element.map(|e| e.0), self.element.map(|e| e.1)];
        let fields =
            [("element", name), ("class", class), ("reason", self.reason), ("message", Some(self.text))];
        for (field, value) in fields.into_iter().filter_map(|(field, value)| Some((field, value?))) {
            let _ = write!(line, ",\"{field}\":");
            quote(&mut line, &lang::bytes::without_bytes(value));
        }
        line + "}\n"
    }
}

/// The text with a priority before each of its lines, for the journal takes each for a message.
fn prefixed(text: &str, priority: u8) -> String {
    let lines = if text.is_empty() { "\n" } else { text };
    lines.lines().map(|line| format!("<{priority}>{line}\n")).collect()
}

/// How messages are written: a place in [`Form::ALL`].
static FORM: AtomicU8 = AtomicU8::new(Form::Bare as u8);

/// Has all messages of this process on standard error be written so from now on.
pub fn write_as(form: Form) {
    FORM.store(form as u8, Ordering::Relaxed);
}

/// How messages are written.
pub fn form() -> Form {
    Form::ALL[usize::from(FORM.load(Ordering::Relaxed))]
}

/// The last level of which messages are written: all are.
static LEVEL: AtomicU8 = AtomicU8::new(Level::Debug as u8);

/// Has this process write only messages that matter as much as this from now on, or more. What elements print on purpose is written
/// whatever the level.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Whether messages of a level are written.
#[inline]
pub fn is_written(level: Level) -> bool {
    level as u8 <= LEVEL.load(Ordering::Relaxed)
}

/// Adds a string of JSON (RFC 8259, section 7).
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A time of the proleptic Gregorian calendar, in milliseconds and UTC (RFC 3339).
fn time(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    // Years begin with March here, so that the day that some have more is their last; 400 of them have 146,097 days.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) =
        (era * 400 + year + u64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 });
    let (hours, minutes, millis) = (seconds / 3600 % 24, seconds / 60 % 60, since_epoch.subsec_millis());
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{:02}.{millis:03}Z", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_868_800, "2000-03-01T00:00:00.007Z"),
            (1_709_164_800, "2024-02-29T00:00:00.007Z"),
            (1_798_761_599, "2026-12-31T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(time(Duration::from_secs(seconds) + Duration::from_millis(7)), expected);
        }
        // A day follows another.
        let day = |n: u64| time(Duration::from_secs(n * 86_400))[..10].to_owned();
        assert!((0..60_000).all(|n| day(n) < day(n + 1)));
    }

    #[test]
    fn objects_have_what_is_known() {
        let record = Record {
            level: Level::Warning,
            element: Some(("p/x", "Queue")),
            reason: Some("no room"),
            text: "a\u{1}\n\"\\b",
            is_printed: false,
        };
        assert_eq!(
            record.json(Duration::ZERO),
            "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"warning\",\"element\":\"p/x\",\"class\":\"Queue\",\
             \"reason\":\"no room\",\"message\":\"a\\u0001\\n\\\"\\\\b\"}\n"
        );
        let plain = Record::new(Level::Info, "as said").json(Duration::ZERO);
        assert!(plain.ends_with("\"level\":\"info\",\"message\":\"as said\"}\n"), "{plain}");
    }

    /// Each form is where [`form`] looks for it.
    #[test]
    fn forms_are_in_their_places() {
        assert!(Form::ALL.iter().enumerate().all(|(place, &form)| form as usize == place));
    }

    #[test]
    fn lines_have_time_and_level_or_a_priority() {
        let said = Record::new(Level::Warning, "eth1 :: ToDevice: no room\nat all");
        let printed = Record { is_printed: true, ..said };
        let line = |record: &Record<'_>, form| record.line_in(form, Duration::from_millis(1_798_761_599_123));
        for (form, expected) in [
            (Form::Bare, "eth1 :: ToDevice: no room\nat all\n"),
            (Form::Timed, "2026-12-31T23:59:59.123Z WARN  eth1 :: ToDevice: no room\nat all\n"),
            (
                Form::Coloured,
                "2026-12-31T23:59:59.123Z \u{1b}[33mWARN \u{1b}[0m eth1 :: ToDevice: no room\nat all\n",
            ),
            (Form::Journal, "<4>eth1 :: ToDevice: no room\n<4>at all\n"),
        ] {
            assert_eq!(line(&said, form), expected);
            let as_it_is =
                if form == Form::Journal { expected } else { "eth1 :: ToDevice: no room\nat all\n" };
            assert_eq!(line(&printed, form), as_it_is);
        }
        let empty = Record { is_printed: true, ..Record::new(Level::Info, "") };
        assert_eq!([line(&empty, Form::Timed), line(&empty, Form::Journal)], ["\n", "<6>\n"]);
        let words = [Level::Error, Level::Warning, Level::Info, Level::Debug].map(Level::word);
        assert!(words.iter().all(|word| word.len() == 5));
    }
}
