//! Signals that scripts serve.

use router::{Call, ConfigError, Cx, Handle, parse_integer};
use signal_hook::consts as c;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Names that configurations use.
const NAMES: &[(&str, i32)] = &[
    ("ABRT", c::SIGABRT),
    ("ALRM", c::SIGALRM),
    ("HUP", c::SIGHUP),
    ("INT", c::SIGINT),
    ("IO", c::SIGIO),
    ("PIPE", c::SIGPIPE),
    ("QUIT", c::SIGQUIT),
    ("TERM", c::SIGTERM),
    ("TSTP", c::SIGTSTP),
    ("USR1", c::SIGUSR1),
    ("USR2", c::SIGUSR2),
];

/// A signal by name or number.
fn number(word: &str) -> Option<i32> {
    let named = NAMES.iter().find(|(name, _)| *name == word).map(|(_, number)| *number);
    let numbered = || parse_integer(word).and_then(|n| i32::try_from(n).ok()).filter(|n| (0..32).contains(n));
    named.or_else(numbered)
}

/// The signals of one script, and the thread that waits for them.
pub(super) struct Signals {
    numbers: Vec<i32>,
    waiter: Option<signal_hook::iterator::Handle>,
    claim: Option<Arc<Claim>>,
}

/// Signals that are a script's.
struct Claim {
    numbers: Vec<i32>,
    /// Whether the script serves the next signal; otherwise that has its usual effect.
    armed: AtomicBool,
    handle: Handle,
    /// Runs the script.
    run: Call,
}

impl Claim {
    /// Whether the script serves a signal that has come: it is the next one then.
    fn takes(&self, signal: i32) -> bool {
        self.numbers.contains(&signal) && self.armed.swap(false, Ordering::Relaxed)
    }

    fn serve(&self) {
        // Errors in the script were reported by the script.
        drop(self.handle.call(self.run.clone()));
    }
}

/// The claims of all scripts in this process.
static CLAIMS: Mutex<Vec<Weak<Claim>>> = Mutex::new(Vec::new());

/// The signals whose usual effect is the program's business, a bit each.
static PROGRAM: AtomicU64 = AtomicU64::new(0);

fn claims() -> MutexGuard<'static, Vec<Weak<Claim>>> {
    CLAIMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a signal that was left to the program served by the scripts that claim it. False if there are none, so that the program should.
pub fn serve_signal(signal: i32) -> bool {
    let taken: Vec<Arc<Claim>> =
        claims().iter().filter_map(Weak::upgrade).filter(|claim| claim.takes(signal)).collect();
    let served = !taken.is_empty();
    for claim in taken {
        // Not here, since a script may take its time while further signals come.
        let thread = std::thread::Builder::new().name("signal".to_owned()).spawn(move || claim.serve());
        drop(thread); // without a thread there is no serving either
    }
    served
}

/// Says that the program gets a signal, and calls [`serve_signal`] with it: who serves it is found out in one place, once.
pub fn leave_to_program(signal: i32) {
    PROGRAM.fetch_or(bit(signal), Ordering::Relaxed);
}

fn bit(signal: i32) -> u64 {
    u32::try_from(signal).ok().and_then(|signal| 1u64.checked_shl(signal)).unwrap_or(0)
}

impl Signals {
    pub(super) fn new(numbers: Vec<i32>) -> Signals {
        Signals { numbers, waiter: None, claim: None }
    }

    /// Reads a list of signals; it must not be empty.
    pub(super) fn parse(text: &str) -> Option<Vec<i32>> {
        let numbers: Option<Vec<i32>> =
            lang::conf::split_spaces(text).iter().map(|word| number(word)).collect();
        // Some cannot be waited for.
        numbers.filter(|numbers| !numbers.is_empty() && !numbers.iter().any(|n| c::FORBIDDEN.contains(n)))
    }

    /// Starts to wait: each signal becomes a call of the script's `run` handler.
    pub(super) fn arm(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        let mut signals = signal_hook::iterator::Signals::new(&self.numbers)
            .map_err(|error| format!("cannot wait for signals: {error}"))?;
        self.waiter = Some(signals.handle());
        let claim = Arc::new(Claim {
            numbers: self.numbers.clone(),
            armed: AtomicBool::new(true),
            handle: cx.handle(),
            run: Call::write(format!("{}.run", cx.name()), ""),
        });
        claims().retain(|claim| claim.strong_count() > 0);
        claims().push(Arc::downgrade(&claim));
        self.claim = Some(claim.clone());
        let wait = move || {
            for signal in
                signals.forever().filter(|signal| PROGRAM.load(Ordering::Relaxed) & bit(*signal) == 0)
            {
                if claim.takes(signal) {
                    claim.serve();
                } else {
                    // Nothing to be done if even that fails.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
            }
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
        thread.map(drop).map_err(|error| format!("cannot wait for signals: {error}").into())
    }

    /// The script has run; whether it serves further signals.
    pub(super) fn served(&mut self, again: bool) {
        if let Some(claim) = &self.claim {
            claim.armed.store(again, Ordering::Relaxed);
        }
    }

    /// Ends the thread.
    pub(super) fn disarm(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.armed.store(false, Ordering::Relaxed);
        }
        if let Some(waiter) = self.waiter.take() {
            waiter.close();
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.disarm();
    }
}

/// `SIGNAL PID...`: sends a signal to processes.
pub(super) fn kill(mut text: &str) -> Result<String, String> {
    let signal = number(lang::conf::pop_space(&mut text)).filter(|n| *n > 0);
    let signal = signal.and_then(rustix::process::Signal::from_named_raw).ok_or("bad SIGNO")?;
    while !text.is_empty() {
        let pid = parse_integer(lang::conf::pop_space(&mut text)).and_then(|n| i32::try_from(n).ok());
        let pid = pid.and_then(rustix::process::Pid::from_raw).ok_or("bad PID")?;
        rustix::process::kill_process(pid, signal).map_err(|error| {
            let error = device::plain(&error.into());
            format!("kill({}, {}): {error}", pid.as_raw_nonzero(), signal.as_raw())
        })?;
    }
    Ok(String::new())
}
