//! Running a router until it stops by itself or a signal stops it.

use crate::stops::Stops;
use crate::swap::Swaps;
use router::Router;
use std::panic::{AssertUnwindSafe, catch_unwind};
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

/// A worker has panicked; the panic's message is on the standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs a router, and those that take its place, until it stops by itself or a signal stops it.
///
/// # Errors
/// That it came to its end because a worker panicked. It is to be finished, and nothing else can be asked of it.
pub(crate) fn run(router: &mut Router, swaps: &Swaps, stops: &Stops) -> Result<Took, Panicked> {
    let is_controlled = router.info().nodes.iter().any(|node| node.class.name == "ControlSocket");
    stops.lead_to(swaps.current(), is_controlled);
    let (start, before) = (Instant::now(), processor_time());
    let turns = || {
        loop {
            router.run();
            if !swaps.swap(router) {
                break;
            }
        }
    };
    // What a panic leaves half done is not used again.
    catch_unwind(AssertUnwindSafe(turns)).map_err(|_| Panicked)?;
    let (elapsed, after) = (start.elapsed(), processor_time());
    Ok(Took { elapsed, user: after.0.saturating_sub(before.0), system: after.1.saturating_sub(before.1) })
}

/// Processor time of all threads of this process so far, user and system, from `/proc/self/stat` (proc(5)); zero where
/// there is no such file.
fn processor_time() -> (Duration, Duration) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The command's name, in parentheses, may contain anything.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    let second = ticks_per_second(&std::fs::read("/proc/self/auxv").unwrap_or_default());
    // Fields 14 and 15 of the file; the list starts with field 3.
    (Duration::from_secs_f64(ticks(11) / second), Duration::from_secs_f64(ticks(12) / second))
}

/// Ticks of the clock in which processes are accounted, from an auxiliary vector (getauxval(3)): pairs of a kind and a value. 100, which
/// Linux has nearly everywhere, where it does not say.
fn ticks_per_second(auxv: &[u8]) -> f64 {
    // rustix would tell, but it also looks where the vector says that the vDSO is, and valgrind has that unmapped.
    const AT_CLKTCK: usize = 17;
    let (words, _) = auxv.as_chunks::<{ size_of::<usize>() }>();
    let (pairs, _) = words.as_chunks::<2>();
    let mut pairs = pairs.iter().map(|pair| pair.map(usize::from_ne_bytes));
    pairs.find(|&[kind, ticks]| kind == AT_CLKTCK && ticks > 0).map_or(100.0, |[_, ticks]| ticks as f64)
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

    struct Bomb;

    impl router::Element for Bomb {
        fn initialize(&mut self, cx: &mut router::Cx<'_>) -> Result<(), router::ConfigError> {
            cx.tasks().schedule();
            Ok(())
        }

        fn run_task(&mut self, _cx: &mut router::Cx<'_>) {
            panic!("as it was told");
        }
    }

    static CLASSES: &[router::Class] =
        &[router::Class::new("Bomb", |_| Ok(Box::new(Bomb))).ports("0/0").activity(router::Activity::Always)];

    /// The program hears of it, and goes on to its end.
    #[test]
    fn a_worker_that_panics_ends_the_run() {
        let classes = router::Classes::new(CLASSES);
        let layout = router::layout(lang::parse("Bomb", "config", &[]).graph, &classes, 1).unwrap();
        let options = router::Options::default();
        let (mut router, _) = router::build(layout, String::new(), &classes, options).unwrap();
        let stops = Stops::catch().unwrap();
        let swaps = Swaps::new(router.handle());
        assert_eq!(run(&mut router, &swaps, &stops).err(), Some(Panicked));
        router.finish();
    }

    /// As this machine says, as another vector says, and where none does.
    #[test]
    fn ticks() {
        let here = std::fs::read("/proc/self/auxv").unwrap();
        assert_eq!(ticks_per_second(&here), rustix::param::clock_ticks_per_second() as f64);
        let vector = [6_usize, 4096, 17, 250, 0, 0].map(usize::to_ne_bytes).concat();
        assert_eq!(ticks_per_second(&vector), 250.0);
        assert_eq!(ticks_per_second(&vector[..31]), 100.0);
        assert_eq!(ticks_per_second(&[]), 100.0);
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
