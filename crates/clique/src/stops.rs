//! The signals that stop a router.

use crate::console;
use crate::swap::Current;
use elements::script;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Catches the signals that stop a router, for as long as it lives. SIGINT, SIGTERM and SIGHUP stop it in order, once, unless a script
/// serves them; one that comes more than a second later ends the program at once. A program that nohup(1) has started goes on without its terminal. So does a
/// router with a control socket when its standard output has no reader any more; others stop when they next write.
///
/// It is there before the router's elements are: two that both wait for one signal, this and a script's own thread, must agree on who
/// serves it from the first one on. A signal that comes while the router is built stops it as soon as it stands.
pub(crate) struct Stops {
    target: Arc<Mutex<Target>>,
    over: Arc<AtomicBool>,
    handle: Handle,
    thread: Option<JoinHandle<Signals>>,
}

/// Signals no further apart ask for one stop: timeout(1) and terminals send one to a process, and another to its group.
const SAME_STOP: Duration = Duration::from_secs(1);

/// What is to stop.
#[derive(Default)]
struct Target {
    router: Option<Current>,
    /// When a signal came for it.
    stopping: Option<Instant>,
    /// Whether its standard output may go unread.
    is_controlled: bool,
    /// What is done before a signal ends the program at once.
    before_death: Option<Box<dyn FnOnce() + Send>>,
}

impl Target {
    /// A signal has come, and no script serves it.
    fn stop(&mut self, signal: i32) {
        if signal == SIGPIPE && (self.stopping.is_some() || self.is_controlled || !console::is_unread()) {
            return;
        }
        match self.stopping {
            Some(first) if first.elapsed() <= SAME_STOP => return,
            Some(_) => {
                if let Some(last_act) = self.before_death.take() {
                    last_act();
                }
                // Nothing to be done if even that fails.
                drop(signal_hook::low_level::emulate_default_handler(signal));
            }
            None => self.stopping = Some(Instant::now()),
        }
        // Not one stop but all that a script may wait for, as in Click: it sees each of them and comes to its end.
        if let Some(router) = &self.router {
            router.stop_for_good();
        }
    }
}

fn lock(target: &Mutex<Target>) -> MutexGuard<'_, Target> {
    target.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stops {
    /// Begins to catch signals.
    ///
    /// # Errors
    /// That they cannot be caught.
    pub(crate) fn catch() -> io::Result<Stops> {
        let mut ends = vec![SIGINT, SIGTERM];
        ends.extend(Some(SIGHUP).filter(|hup| !is_ignored(*hup)));
        // What is registered first acts first: a signal is never lost.
        let mut signals = Signals::new(&ends)?;
        let over = Arc::new(AtomicBool::new(false));
        for &signal in &ends {
            signal_hook::flag::register_conditional_default(signal, over.clone())?;
        }
        signals.add_signal(SIGPIPE)?;
        ends.push(SIGPIPE);
        ends.iter().for_each(|&signal| script::leave_to_program(signal));
        let (handle, target) = (signals.handle(), Arc::<Mutex<Target>>::default());
        let heard = target.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            signals.forever().for_each(|signal| {
                let heard = heard.clone();
                script::serve_signal(signal, move || lock(&heard).stop(signal));
            });
            signals
        })?;
        Ok(Stops { target, over, handle, thread: Some(thread) })
    }

    /// Has this done before a further signal ends the program at once.
    pub(crate) fn before_death(&self, act: impl FnOnce() + Send + 'static) {
        lock(&self.target).before_death = Some(Box::new(act));
    }

    /// From now on a signal stops this router; so does one that has come before.
    pub(crate) fn lead_to(&self, router: Current, is_controlled: bool) {
        let mut target = lock(&self.target);
        if target.stopping.is_some() {
            router.stop_for_good();
        }
        (target.router, target.is_controlled) = (Some(router), is_controlled);
    }
}

impl Drop for Stops {
    /// A signal has its usual effect again.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.handle.close();
        // The thread has nothing that could fail. It gives back what signals are read from: closing writes to that, and if it were
        // gone, each SIGPIPE would make the next one.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Whether the program was started with a signal ignored, from `/proc/self/status` (proc(5)).
fn is_ignored(signal: i32) -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set >> (signal - 1) & 1 == 1)
}
