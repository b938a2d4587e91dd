//! Running a router until it stops by itself or a signal stops it.

use crate::console;
use crate::swap::Swaps;
use elements::script;
use router::Router;
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Took {
    /// Time that passed.
    pub(crate) elapsed: Duration,
    /// Processor time of the program's own code.
    pub(crate) user: Duration,
    /// Processor time of the kernel on behalf of the program.
    pub(crate) system: Duration,
}

/// Runs a router, and those that take its place. SIGINT, SIGTERM and SIGHUP stop it in order, once, unless a script serves them; a
/// second one ends the program at once, as does one that comes after the run. A program that nohup(1) has started goes on without its
/// terminal. So does a router with a control socket when its standard output has no reader any more; others stop when they next write.
///
/// # Errors
/// That the signals cannot be caught; the router did not run then.
pub(crate) fn run(router: &mut Router, swaps: &Swaps) -> io::Result<Took> {
    let mut ends = vec![SIGINT, SIGTERM];
    ends.extend(Some(SIGHUP).filter(|hup| !is_ignored(*hup)));
    // What is registered first acts first: a signal is never lost.
    let mut signals = Signals::new(&ends)?;
    let over = Arc::new(AtomicBool::new(false));
    for &signal in &ends {
        signal_hook::flag::register_conditional_default(signal, over.clone())?;
        script::leave_to_program(signal);
    }
    if !router.info().nodes.iter().any(|node| node.class.name == "ControlSocket") {
        signals.add_signal(SIGPIPE)?;
        script::leave_to_program(SIGPIPE);
    }
    let listener = signals.handle();
    let current = swaps.current();
    let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut stopping = false;
        for signal in signals.forever().filter(|signal| !script::serve_signal(*signal)) {
            if signal == SIGPIPE && (stopping || !console::is_unread()) {
                continue;
            }
            if stopping {
                // Nothing to be done if even that fails.
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
            stopping = true;
            // Not one stop but all that a script may wait for, as in Click: it sees each of them and comes to its end.
            current.stop_for_good();
        }
        signals
    })?;
    let (start, before) = (Instant::now(), processor_time());
    loop {
        router.run();
        if !swaps.swap(router) {
            break;
        }
    }
    let (elapsed, after) = (start.elapsed(), processor_time());
    over.store(true, Ordering::Relaxed);
    listener.close();
    // The thread has nothing that could fail. It gives back what signals are read from: closing writes to that, and if it were gone,
    // each SIGPIPE would make the next one.
    drop(thread.join());
    Ok(Took { elapsed, user: after.0.saturating_sub(before.0), system: after.1.saturating_sub(before.1) })
}

/// Whether the program was started with a signal ignored, from `/proc/self/status` (proc(5)).
fn is_ignored(signal: i32) -> bool {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set >> (signal - 1) & 1 == 1)
}

/// Processor time of all threads of this process so far, user and system, from `/proc/self/stat` (proc(5)); zero where
/// there is no such file.
fn processor_time() -> (Duration, Duration) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name, in parentheses, may contain anything.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    let second = rustix::param::clock_ticks_per_second().max(1) as f64;
    // Fields 14 and 15 of the file; the list starts with field 3.
    (Duration::from_secs_f64(ticks(11) / second), Duration::from_secs_f64(ticks(12) / second))
}

impl Took {
    /// The line that Click's `-t` prints.
    pub(crate) fn line(&self) -> String {
        let hundredths = (self.elapsed.as_millis() + 5) / 10;
        format!(
            "{:.3}u {:.3}s {}:{:02}.{:02}\n",
            self.user.as_secs_f64(),
            self.system.as_secs_f64(),
            hundredths / 6000,
            hundredths / 100 % 60,
            hundredths % 100
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hundredths_carry_over_into_seconds_and_minutes() {
        let took = |ms: u64| Took {
            elapsed: Duration::from_millis(ms),
            user: Duration::from_millis(1230),
            system: Duration::from_millis(10),
        };
        assert_eq!(took(59_994).line(), "1.230u 0.010s 0:59.99\n");
        assert_eq!(took(59_996).line(), "1.230u 0.010s 1:00.00\n");
        assert_eq!(took(754_321).line(), "1.230u 0.010s 12:34.32\n");
    }

    #[test]
    fn processor_time_passes() {
        let before = processor_time();
        let start = Instant::now();
        // Several ticks of work, also while other programs need the processor.
        while processor_time() == before {
            assert!(start.elapsed() < Duration::from_secs(60), "no processor time was counted");
            std::hint::black_box((0..100_000).sum::<u64>());
        }
    }
}
