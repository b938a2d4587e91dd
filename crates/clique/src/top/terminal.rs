//! The live display: keys, readings, and a terminal that is left as it was found.

use super::screen::{self, Choices};
use super::source::{Reading, Source};
use super::view::View;
use super::watch::{News, Watch};
use super::{Address, INTERVALS_S};
use crate::console::{self, reason};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// How long to wait for a key before looking around.
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// How long a notice stays.
const NOTICE: Duration = Duration::from_secs(5);

/// A reading takes no longer, unless something is wrong that the user should know of.
const LATE: Duration = Duration::from_secs(3);

/// Another thread, which waits for the router.
struct Reader {
    wishes: Sender<()>,
    readings: Receiver<Result<Reading, String>>,
    /// Since when a reading is awaited.
    awaited: Option<Instant>,
}

impl Reader {
    fn start(mut source: Source) -> io::Result<Reader> {
        let (wishes, wanted) = channel::<()>();
        let (sender, readings) = channel();
        // Ends when the display is over, or with the program.
        let read = move || {
            while wanted.recv().is_ok() && sender.send(source.read()).is_ok() {}
        };
        std::thread::Builder::new().name("readings".to_owned()).spawn(read)?;
        Ok(Reader { wishes, readings, awaited: None })
    }

    fn wish(&mut self) {
        if self.awaited.is_none() && self.wishes.send(()).is_ok() {
            self.awaited = Some(Instant::now());
        }
    }

    fn take(&mut self) -> Option<Result<Reading, String>> {
        let reading = self.readings.try_recv().ok()?;
        self.awaited = None;
        Some(reading)
    }
}

/// Shows a router until the user has seen enough.
///
/// # Errors
/// That this is no terminal that can be drawn on.
pub(super) fn run(address: Address, choices: Choices) -> Result<(), String> {
    let failed = |error: io::Error| format!("terminal: {}", reason(&error));
    // SIGHUP has its usual effect: of a terminal that is gone crossterm reads nothing, again and again, and never returns; and nothing is to
    // be restored.
    let over = console::interrupts().map_err(failed)?;
    let reader = Reader::start(Source::new(address)).map_err(failed)?;
    // Gives the terminal back if the program panics, too.
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let shown = Display::new(choices, reader).run(&mut terminal, &over);
    let restored = ratatui::try_restore();
    shown.and(restored).map_err(failed)
}

/// What is shown now.
struct Display {
    choices: Choices,
    reader: Reader,
    watch: Watch,
    view: View,
    /// When the next reading is due.
    due: Instant,
    /// Until when the notice stays; none is there to stay.
    notice_until: Option<Instant>,
    over: bool,
}

impl Display {
    fn new(choices: Choices, reader: Reader) -> Display {
        let (watch, view) = (Watch::default(), View::default());
        Display { choices, reader, watch, view, due: Instant::now(), notice_until: None, over: false }
    }

    fn run(mut self, terminal: &mut DefaultTerminal, over: &AtomicBool) -> io::Result<()> {
        let mut changed = true;
        while !self.over && !over.load(Ordering::Relaxed) {
            if self.due <= Instant::now() && !self.choices.paused {
                self.reader.wish();
            }
            changed |= self.take_reading() | self.expire();
            if changed {
                terminal.draw(|frame| screen::draw(frame, &self.view, &mut self.choices))?;
            }
            changed = false;
            // A signal interrupts the wait.
            match event::poll(LOOK_AROUND) {
                Ok(true) => changed = self.obey(&event::read()?),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                Ok(false) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Takes a reading if there is one.
    fn take_reading(&mut self) -> bool {
        let Some(reading) = self.reader.take() else { return false };
        self.due = Instant::now() + self.choices.interval;
        match reading {
            Err(message) => {
                // The place and the reason, without advice.
                let reason = message.split(';').next().unwrap_or(&message);
                self.notice(format!("{reason}; trying again"), None);
            }
            Ok(reading) => {
                let News { view, notice } = self.watch.take(reading);
                self.view = view;
                match notice {
                    Some(notice) => self.notice(notice.to_owned(), Some(NOTICE)),
                    None if self.notice_until.is_none() => self.choices.notice = None,
                    None => {}
                }
            }
        }
        true
    }

    fn notice(&mut self, text: String, stays: Option<Duration>) {
        self.choices.notice = Some(text);
        self.notice_until = stays.map(|stays| Instant::now() + stays);
    }

    /// Takes old notices away, and notices that nothing comes any more.
    fn expire(&mut self) -> bool {
        if self.notice_until.is_some_and(|until| until <= Instant::now()) {
            (self.choices.notice, self.notice_until) = (None, None);
            return true;
        }
        let late = self.reader.awaited.is_some_and(|since| since.elapsed() > LATE);
        if late && self.choices.notice.is_none() {
            self.notice("the router does not answer".to_owned(), None);
            return true;
        }
        false
    }

    /// Does what a key says; whether anything is to be drawn.
    fn obey(&mut self, event: &Event) -> bool {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.press(key),
            Event::Resize(..) => {}
            _ => return false,
        }
        true
    }

    fn press(&mut self, key: &KeyEvent) {
        let choices = &mut self.choices;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            self.over |= matches!(key.code, KeyCode::Char('c' | 'd'));
            return;
        }
        if choices.typing {
            match key.code {
                KeyCode::Char(c) => choices.filter.push(c),
                KeyCode::Backspace => drop(choices.filter.pop()),
                KeyCode::Enter => choices.typing = false,
                KeyCode::Esc => (choices.typing, choices.filter) = (false, String::new()),
                _ => {}
            }
            choices.scroll = 0;
            return;
        }
        match key.code {
            KeyCode::Char('q') => self.over = true,
            KeyCode::Esc => choices.filter.clear(),
            KeyCode::Char('p' | ' ') => choices.paused = !choices.paused,
            KeyCode::Char('s') => choices.order = choices.order.next(),
            KeyCode::Char('/') => choices.typing = true,
            KeyCode::Char(digit @ '1'..='8') => choices.turn_to(digit as usize - '1' as usize),
            KeyCode::Tab | KeyCode::Right => choices.turn_to(choices.panel + 1),
            KeyCode::BackTab | KeyCode::Left => {
                choices.turn_to(choices.panel + super::panels::TITLES.len() - 1)
            }
            KeyCode::Down | KeyCode::Char('j') => choices.scroll += 1,
            KeyCode::Up | KeyCode::Char('k') => choices.scroll = choices.scroll.saturating_sub(1),
            KeyCode::PageDown => choices.scroll += 10,
            KeyCode::PageUp => choices.scroll = choices.scroll.saturating_sub(10),
            KeyCode::Home => choices.scroll = 0,
            KeyCode::End => choices.scroll = usize::MAX,
            KeyCode::Char('+') => self.change_interval(2.0),
            KeyCode::Char('-') => self.change_interval(0.5),
            _ => {}
        }
    }

    fn change_interval(&mut self, factor: f64) {
        let seconds = self.choices.interval.as_secs_f64() * factor;
        self.choices.interval = Duration::from_secs_f64(seconds.clamp(INTERVALS_S.0, INTERVALS_S.1));
        self.due = Instant::now();
    }
}

impl Choices {
    fn turn_to(&mut self, panel: usize) {
        (self.panel, self.scroll) = (panel % super::panels::TITLES.len(), 0);
    }
}
