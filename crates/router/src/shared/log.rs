//! Messages of elements: where they go, and who hears them.

use crate::shared::record::{Level, Record, is_written};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where messages of elements go.
#[derive(Debug, Default)]
pub enum Log {
    /// Standard error.
    #[default]
    Stderr,
    /// Standard error, in Click's words: messages do not name their elements unless Click's do, and none is held back.
    Click,
    /// A string, for tests, in Click's words.
    Memory(Mutex<String>),
}

impl Log {
    /// Whether messages are Click's, word for word, and as many.
    pub(crate) fn is_in_clicks_words(&self) -> bool {
        !matches!(self, Log::Stderr)
    }

    /// Writes a line that is printed on purpose: whatever level of messages is wanted, and as often as it comes.
    pub fn line(&self, text: &str) {
        self.put(&printed(text));
    }

    /// Writes a message as a line, if messages of its level are wanted.
    pub(crate) fn write(&self, record: &Record<'_>) {
        if is_written(record.level) {
            self.put(record);
        }
    }

    /// Writes a message as a line.
    pub(crate) fn put(&self, record: &Record<'_>) {
        match self {
            Log::Stderr | Log::Click => {
                print_record(record);
                tell(DEFAULT_CHANNEL, record.text);
            }
            Log::Memory(log) => {
                let mut log = log.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                log.push_str(record.text);
                log.push('\n');
            }
        }
    }

    /// Writes a line on a channel. Listeners there hear it, and no others; with the name of the default channel, or none, it is
    /// a line like any other.
    pub fn line_on(&self, channel: &str, text: &str) {
        match self {
            _ if matches!(channel, "" | DEFAULT_CHANNEL) => self.line(text),
            Log::Stderr | Log::Click if tell(channel, text) => print_record(&printed(text)),
            _ => {}
        }
    }

    /// Writes to the standard output, as is; in memory it goes where messages go.
    pub fn print(&self, text: &str) {
        match self {
            Log::Stderr | Log::Click => {
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
            Log::Stderr | Log::Click => String::new(),
            Log::Memory(log) => log.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone(),
        }
    }
}

/// What is printed on purpose.
fn printed(text: &str) -> Record<'_> {
    Record { is_printed: true, ..Record::new(Level::Info, text) }
}

/// Writes a message to the standard error, at once. That it is closed is no reason to stop forwarding.
pub fn print_record(record: &Record<'_>) {
    let line = record.line(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO));
    drop(std::io::stderr().lock().write_all(&lang::bytes::of_text(&line)));
}

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
/// Whether a thread does: usually none, and then no lock is needed.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Standard error gets what is said there, too, for as long as a loud listener is there.
    #[test]
    fn each_listener_hears_its_channel() {
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
