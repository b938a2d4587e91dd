//! Shows a progress bar on standard error.
//!
//! ```click
//! ProgressBar(POSHANDLER [, SIZEHANDLER, KEYWORDS])
//! ```
//!
//! Reads the handlers regularly, and draws a bar that shows the position as a fraction of the size, together with the
//! remaining time. The values of several handlers are added up. Without a size, a mark moves back and forth. Nothing
//! is drawn if standard error is not a terminal.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `POSHANDLER` (read handlers, separated by spaces): the position.
//! - `SIZEHANDLER` (read handlers, separated by spaces): the size; read once.
//! - `FIXED_SIZE` (number): the size, if no handler provides it.
//! - `UPDATE` (time, default 0.25 s): time between two updates.
//! - `BANNER` (string): text before the bar.
//! - `ACTIVE` (boolean, default true): whether to draw the bar.
//! - `DELAY` (time, default 0): how long to wait before drawing, so that short operations show no bar.
//! - `CHECK_STDOUT` (boolean, default false): whether to draw nothing if standard output is a terminal.
//!
//! # Handlers
//! - `mark_stopped` (write, button): draws the bar for the last time.
//! - `mark_done` (write, button): the same, showing it as complete.
//! - `pos` (read): the position.
//! - `size` (read, write): the size; -1 while it is unknown.
//! - `active`, `banner`, `poshandler`, `sizehandler` (read, write): the arguments.
//! - `reset` (write, button): starts again.
//!
//! # Example
//! ```click
//! d :: FromDump(trace.pcap, STOP true) -> Discard;
//! ProgressBar(d.filepos, d.filesize)
//! ```
//!
//! # See also
//! FromDump, Script

use elements_shared::sprintf::general;
use router::{
    Answer, Call, Class, Config, ConfigError, Cx, Element, Flags, Handlers, Raw, Residency, Response, Step,
};
use std::any::Any;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ProgressBar", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("progress_bar.rs"));

/// Columns that a line may have.
const WIDTH: usize = 79;
/// Columns behind the bar.
const TAIL: usize = 25;
/// After so long without progress, there is no guess how long it will take.
const STALL_NS: i64 = 5 * SECOND_NS;
const SECOND_NS: i64 = 1_000_000_000;
/// A mark without size moves by one of a hundred steps for each so many.
const WANDER: u64 = 100_000;

/// Where it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Status {
    #[default]
    First,
    Middle,
    /// Drawn for the last time.
    Done,
}

#[derive(Default)]
struct ProgressBar {
    position_handlers: Vec<String>,
    size_handlers: Vec<String>,
    interval: Duration,
    delay: Duration,
    banner: String,
    active: bool,
    /// Whether nothing is drawn where standard output is a terminal.
    check_stdout: bool,
    fixed_size: Option<f64>,
    progress: Progress,
}

/// What is known about the progress.
#[derive(Clone, Copy, Default)]
struct Progress {
    status: Status,
    position: Option<f64>,
    size: Option<f64>,
    start_ns: i64,
    /// When the position changed last.
    moved_ns: i64,
    /// Time without progress, all together.
    stalled_ns: i64,
}

/// A round of readings.
struct Reading {
    handlers: Vec<String>,
    next: usize,
    /// How many of the handlers belong to the size.
    sizes: usize,
    sums: [Option<f64>; 2],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ProgressBar { interval: Duration::from_millis(250), active: true, ..ProgressBar::default() };
    let (mut position, mut size) = (Raw::default(), Raw::default());
    config
        .args()
        .required("POSHANDLER", &mut position)
        .positional("SIZEHANDLER", &mut size)
        .keyword("UPDATE", &mut e.interval)
        .keyword("BANNER", &mut e.banner)
        .keyword("ACTIVE", &mut e.active)
        .keyword("DELAY", &mut e.delay)
        .keyword("CHECK_STDOUT", &mut e.check_stdout)
        .keyword("FIXED_SIZE", &mut e.fixed_size)
        .finish()?;
    e.progress.size = e.fixed_size;
    e.position_handlers = lang::conf::split_spaces(&position.0);
    e.size_handlers = lang::conf::split_spaces(&size.0);
    e.interval = e.interval.max(Duration::from_millis(10));
    Ok(Box::new(e))
}

impl Progress {
    /// Takes a new position into account.
    fn see(&mut self, now_ns: i64, position: Option<f64>) {
        if position.unwrap_or_default() > self.position.unwrap_or_default() {
            let wait_ns = now_ns - self.moved_ns;
            if wait_ns >= STALL_NS {
                self.stalled_ns += wait_ns;
            }
            self.moved_ns = now_ns;
        }
        self.position = position;
    }

    /// The part that is done, in percent; of what has no size, where the mark is.
    fn percent(&self) -> Option<usize> {
        let percent = match (self.position?, self.size) {
            (position, Some(size)) if size > 0.0 => ((100.0 * position / size) as u64).min(100),
            (_, Some(_)) => 100,
            (position, None) => {
                let step = position as u64 / WANDER % 200;
                step.min(200 - step)
            }
        };
        usize::try_from(percent).ok()
    }

    fn bar(&self, width: usize) -> String {
        let Some(percent) = self.percent() else { return "-".repeat(width) };
        if self.size.is_some() {
            let done = width * percent / 100;
            return format!("{}{}", "*".repeat(done), " ".repeat(width - done));
        }
        if self.status == Status::Done {
            return "-".repeat(width);
        }
        let mark = if width > 3 { 3 } else { 1 };
        let before = width.saturating_sub(mark) * percent / 100;
        format!(
            "{}{}{}",
            " ".repeat(before),
            "*".repeat(mark),
            " ".repeat(width.saturating_sub(before + mark))
        )
    }

    /// The time that is left, or at the end the time that it took.
    fn time(&self, now_ns: i64) -> String {
        let elapsed = (now_ns - self.start_ns - self.stalled_ns) as f64 / SECOND_NS as f64;
        let done = self.status == Status::Done;
        let seconds = match (self.size, self.position) {
            _ if done => elapsed,
            (Some(size), Some(position)) if elapsed > 0.0 && position <= size && position > 0.0 => {
                if now_ns - self.moved_ns >= STALL_NS {
                    return " - stalled -".to_owned();
                }
                size * elapsed / position - elapsed
            }
            _ => return "   --:-- ETA".to_owned(),
        };
        let seconds = seconds.max(0.0) as u64; // saturates
        let hours = if seconds >= 3600 { format!("{:2}:", seconds / 3600) } else { "   ".to_owned() };
        let end = if done { "    " } else { " ETA" };
        format!("{hours}{:02}:{:02}{end}", seconds % 3600 / 60, seconds % 60)
    }

    /// The line, without its beginning and end.
    fn line(&self, banner: &str, now_ns: i64) -> String {
        let mut line = String::new();
        if !banner.is_empty() {
            line += &format!("{banner} ");
        }
        // Writing to a string does not fail.
        let _ = match (self.size, self.percent()) {
            (Some(_), Some(percent)) => write!(line, "{percent:3}% "),
            (Some(_), None) => write!(line, "  -% "),
            _ => Ok(()),
        };
        let width = WIDTH.saturating_sub(line.chars().count() + TAIL);
        if width > 0 {
            let _ = write!(line, "|{}|", self.bar(width));
        }
        line += &self.position.map_or(" -----   ".to_owned(), |position| shown(position as u64));
        line + &self.time(now_ns)
    }
}

/// A number of bytes in five digits.
fn shown(mut number: u64) -> String {
    let mut prefixes = " KMGTPE".chars();
    let mut prefix = prefixes.next().unwrap_or(' ');
    while number >= 100_000 {
        number >>= 10;
        prefix = prefixes.next().unwrap_or(prefix);
    }
    let unit = if prefix == ' ' { ' ' } else { 'B' };
    format!(" {number:5}{prefix}{unit} ")
}

impl ProgressBar {
    fn begin(&mut self, cx: &mut Cx<'_>) {
        let sizes = if self.progress.status == Status::First { self.size_handlers.len() } else { 0 };
        let handlers = self.size_handlers[..sizes].iter().chain(&self.position_handlers).cloned().collect();
        let none_yet = |any: bool| any.then_some(0.0);
        let sums = [none_yet(sizes > 0), none_yet(!self.position_handlers.is_empty())];
        cx.handlers().start(Box::new(Reading { handlers, next: 0, sizes, sums }));
    }

    fn draw(&self, cx: &Cx<'_>) {
        let elsewhere =
            !std::io::stderr().is_terminal() || self.check_stdout && std::io::stdout().is_terminal();
        let delay_ns = i64::try_from(self.delay.as_nanos()).unwrap_or(i64::MAX);
        let early = cx.now_ns() < self.progress.start_ns.saturating_add(delay_ns);
        if cx.info().clock.is_simulated() || elsewhere || early {
            return;
        }
        let end = if self.progress.status == Status::Done { "\n" } else { "" };
        let line = self.progress.line(&self.banner, cx.now_ns());
        // If it cannot be drawn, nothing is lost.
        let _ = write!(std::io::stderr(), "\r{line}{end}");
    }

    fn finish_reading(&mut self, cx: &mut Cx<'_>, reading: &Reading) {
        let now_ns = cx.now_ns();
        if self.progress.status == Status::First {
            self.progress = Progress {
                status: Status::Middle,
                size: self.progress.size.or(reading.sums[0]),
                start_ns: now_ns,
                moved_ns: now_ns,
                ..Progress::default()
            };
        }
        self.progress.see(now_ns, reading.sums[1]);
        self.draw(cx);
        if self.progress.status == Status::Done {
            self.active = false;
        } else {
            cx.timers().after(0, self.interval);
        }
    }

    /// Draws the bar for the last time.
    fn complete(&mut self, cx: &mut Cx<'_>, full: bool) {
        if self.progress.status != Status::Done && self.active {
            if full {
                self.progress.size = self.progress.position;
            }
            self.progress.status = Status::Done;
            cx.timers().cancel(0);
            self.begin(cx);
        }
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) {
        if self.active && !cx.timers().is_set(0) {
            cx.timers().after(0, Duration::ZERO);
        }
    }
}

impl Element for ProgressBar {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        let mut messages = Vec::new();
        for path in self.position_handlers.iter().chain(&self.size_handlers) {
            if let Err(error) = Call::read(path.as_str(), "").within(cx.index()).check(cx.info()) {
                messages.push(error.message);
            }
        }
        if !messages.is_empty() {
            return Err(ConfigError::from(messages));
        }
        self.go_on(cx);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if self.active {
            self.begin(cx);
        }
    }

    /// The end of the line, if one was begun.
    fn finish(&mut self, cx: &mut Cx<'_>) {
        if self.progress.status == Status::Middle && self.active {
            self.progress.status = Status::Done;
            self.draw(cx);
        }
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(reading) = state.downcast_mut::<Reading>() else { return Step::Done(Ok(String::new())) };
        if let Answer::Response(Response { result, .. }) = answer {
            let value = result.ok().and_then(|text| text.trim().parse::<f64>().ok());
            let sum = &mut reading.sums[usize::from(reading.next > reading.sizes)];
            *sum = sum.zip(value).map(|(sum, value)| sum + value);
        }
        if let Some(path) = reading.handlers.get(reading.next) {
            reading.next += 1;
            return Step::Call(Call::read(path.as_str(), "").within(cx.index()));
        }
        self.finish_reading(cx, reading);
        Step::Done(Ok(String::new()))
    }

    fn handlers(&self, h: &mut Handlers) {
        type P = ProgressBar;
        for (name, full) in [("mark_stopped", false), ("mark_done", true)] {
            h.write(name, move |e: &mut P, cx, _| {
                e.complete(cx, full);
                Ok(())
            })
            .as_button();
        }
        h.read("active", |e: &mut P, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut P, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "type mismatch")?;
            e.go_on(cx);
            Ok(())
        });
        h.read("pos", |e: &mut P, _| general(e.progress.position.unwrap_or_default()));
        h.read("size", |e: &mut P, _| general(e.progress.size.unwrap_or(-1.0)));
        h.write("size", |e: &mut P, cx, text| {
            e.progress.size = Some(router::value(cx, text)?);
            Ok(())
        });
        h.read("banner", |e: &mut P, _| e.banner.clone());
        h.write("banner", |e: &mut P, _, text| {
            e.banner = lang::conf::uncomment(text);
            Ok(())
        });
        h.read("poshandler", |e: &mut P, _| e.position_handlers.join(" "));
        h.write("poshandler", |e: &mut P, _, text| {
            e.position_handlers = lang::conf::split_spaces(&lang::conf::uncomment(text));
            Ok(())
        });
        h.read("sizehandler", |e: &mut P, _| e.size_handlers.join(" "));
        h.write("sizehandler", |e: &mut P, _, text| {
            e.size_handlers = lang::conf::split_spaces(&lang::conf::uncomment(text));
            e.progress.size = None;
            Ok(())
        });
        h.write("reset", |e: &mut P, cx, _| {
            (e.progress, e.active) = (Progress::default(), true);
            cx.timers().after(0, Duration::ZERO);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{errors, run_and_read};

    #[test]
    fn draws_the_bar_the_size_and_the_time_left() {
        let mut progress = Progress { status: Status::Middle, size: Some(400_000.0), ..Progress::default() };
        progress.see(4 * SECOND_NS, Some(100_000.0));
        let line = progress.line("file", 4 * SECOND_NS);
        assert!(line.starts_with("file  25% |***********"), "{line}");
        assert!(line.ends_with("|    97KB    00:12 ETA"), "{line}");
        assert!(progress.line("", 20 * SECOND_NS).ends_with("- stalled -"));
        progress.status = Status::Done;
        assert!(progress.line("", 3_725 * SECOND_NS).ends_with(" 1:02:05    "));
        let unknown = Progress { position: Some((50 * WANDER) as f64), ..Progress::default() };
        let line = unknown.line("", 1);
        assert!(line.contains(&format!("|{}***{}|", " ".repeat(25), " ".repeat(26))), "{line}");
        assert!(line.ends_with(" 4882KB    --:-- ETA"), "{line}");
        assert!(Progress { size: Some(1.0), ..Progress::default() }.line("", 1).starts_with("  -% |-----"));
    }

    /// It keeps no worker from sleeping.
    #[test]
    fn runs_until_it_is_marked_done() {
        let config = "RatedSource(RATE 100, LIMIT 200) -> c :: Counter -> Discard; p :: ProgressBar(c.count c.byte_count, BANNER now);
                      Script(wait 5.5, write p.mark_done, wait 1, stop)";
        let read = run_and_read(config, &["p.active", "p.banner", "p.poshandler", "p.sizehandler"]);
        assert_eq!(read, ["false", "now", "c.count c.byte_count", ""]);
        let config = "s :: RatedSource(RATE 100, LIMIT 100) -> c :: Counter -> Discard;
                      p :: ProgressBar(c.count, FIXED_SIZE 200.5, UPDATE 1, DELAY 9, CHECK_STDOUT true); q :: ProgressBar(c.count, s.limit);
                      r :: ProgressBar(c.count); Script(wait 4, write r.size 7, wait 1, stop)";
        let read = run_and_read(config, &["p.pos", "p.size", "q.size", "r.size", "p.active"]);
        assert_eq!(read, ["100", "200.5", "100", "7", "true"]);
        assert!(errors("ProgressBar(x.count)").contains("no element named 'x'"));
    }
}
