//! Signals that scripts serve.

use router::{Call, ConfigError, Cx, Handle, parse_integer};
use signal_hook::consts as c;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

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

/// The signals of one script.
pub(super) struct Signals {
    numbers: Vec<i32>,
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

    /// Runs the script, up to where it waits or ends.
    fn serve(&self) {
        // Errors in the script were reported by the script.
        drop(self.handle.call(self.run.clone()));
    }
}

/// The claims of all scripts in this process, in the order in which they were made.
static CLAIMS: Mutex<Vec<Weak<Claim>>> = Mutex::new(Vec::new());

/// The signals whose usual effect is the program's business, a bit each.
static PROGRAM: AtomicU64 = AtomicU64::new(0);

/// What a signal does that no script serves.
type Usual = Box<dyn FnOnce() + Send>;

/// Signals that have come, and that no script has begun to serve, in order. A signal is there once, as often as it came: pending signals
/// merge, as the kernel's do.
static PENDING: Mutex<VecDeque<(i32, Usual)>> = Mutex::new(VecDeque::new());
static CAME: Condvar = Condvar::new();

/// What adds signals to those that are waited for; none if the thread that serves them, or the one that waits, cannot be had.
static WAITER: OnceLock<Option<signal_hook::iterator::Handle>> = OnceLock::new();

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a signal that has come served by the scripts that claim it, one after the other in the order of their elements; if none is ready
/// to, it has its usual effect. That is found out when scripts have served what came before.
pub fn serve_signal(signal: i32, usual: impl FnOnce() + Send + 'static) {
    let claims = |claim: &Weak<Claim>| claim.upgrade().is_some_and(|claim| claim.numbers.contains(&signal));
    if !lock(&CLAIMS).iter().any(claims) {
        return usual();
    }
    let mut pending = lock(&PENDING);
    if !pending.iter().any(|(known, _)| *known == signal) {
        pending.push_back((signal, Box::new(usual)));
        CAME.notify_one();
    }
}

/// Serves what comes, for ever. One thread does, so that a signal that comes while a script runs finds it ready again, or not, as it has
/// ended; those that wait for signals go on meanwhile.
fn serve_all() {
    loop {
        let mut pending = CAME
            .wait_while(lock(&PENDING), |pending| pending.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        let Some((signal, usual)) = pending.pop_front() else { continue };
        drop(pending);
        let taken: Vec<Arc<Claim>> =
            lock(&CLAIMS).iter().filter_map(Weak::upgrade).filter(|claim| claim.takes(signal)).collect();
        if taken.is_empty() {
            usual();
        }
        taken.iter().for_each(|claim| claim.serve());
    }
}

/// Says that the program gets a signal, and calls [`serve_signal`] with it: who serves it is found out in one place, once.
pub fn leave_to_program(signal: i32) {
    PROGRAM.fetch_or(bit(signal), Ordering::Relaxed);
}

fn bit(signal: i32) -> u64 {
    u32::try_from(signal).ok().and_then(|signal| 1u64.checked_shl(signal)).unwrap_or(0)
}

/// Starts the thread that waits for signals of scripts, and the one that serves them.
fn start() -> Option<signal_hook::iterator::Handle> {
    let mut signals = signal_hook::iterator::Signals::new::<[i32; 0], i32>([]).ok()?;
    let waiter = signals.handle();
    let wait = move || {
        for signal in signals.forever().filter(|signal| PROGRAM.load(Ordering::Relaxed) & bit(*signal) == 0) {
            // Nothing to be done if even that fails.
            serve_signal(signal, move || drop(signal_hook::low_level::emulate_default_handler(signal)));
        }
    };
    std::thread::Builder::new().name("signal".to_owned()).spawn(serve_all).ok()?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).ok()?;
    Some(waiter)
}

impl Signals {
    pub(super) fn new(numbers: Vec<i32>) -> Signals {
        Signals { numbers, claim: None }
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
        let waiter = WAITER.get_or_init(start).as_ref().ok_or("cannot wait for signals: no thread")?;
        let claim = Arc::new(Claim {
            numbers: self.numbers.clone(),
            armed: AtomicBool::new(true),
            handle: cx.handle(),
            run: Call::write(format!("{}.run", cx.name()), ""),
        });
        lock(&CLAIMS).retain(|claim| claim.strong_count() > 0);
        lock(&CLAIMS).push(Arc::downgrade(&claim));
        self.claim = Some(claim);
        for &signal in &self.numbers {
            waiter.add_signal(signal).map_err(|error| format!("cannot wait for signals: {error}"))?;
        }
        Ok(())
    }

    /// The script has run; whether it serves further signals.
    pub(super) fn served(&mut self, again: bool) {
        if let Some(claim) = &self.claim {
            claim.armed.store(again, Ordering::Relaxed);
        }
    }

    /// No signal is the script's any more.
    pub(super) fn disarm(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.armed.store(false, Ordering::Relaxed);
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
