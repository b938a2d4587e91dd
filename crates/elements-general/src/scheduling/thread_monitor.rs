//! Prints which tasks keep workers busy.
//!
//! ```click
//! ThreadMonitor([INTERVAL, THRESH])
//! ```
//!
//! Every INTERVAL milliseconds, prints a line for each worker that was busy in that time: the share of the time that
//! it was busy and, for its tasks, the busiest first, the share of the time that they took, including everything they
//! triggered, how often they ran, and how long a run took. For this the clock is read after each run of a task.
//!
//! Click counts cycles; here nanoseconds are counted. `clique top` shows the same and more live, at no cost.
//!
//! Ports: none. Workers: replicated; one on each.
//!
//! # Arguments
//! - `INTERVAL` (integer, default 1000): milliseconds between reports.
//! - `THRESH` (integer, default 1000): tasks whose runs take fewer nanoseconds than this on average are not listed.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! src :: InfiniteSource -> Discard;
//! ThreadMonitor(2000, 0)
//! // ThreadMonitor@3: worker 0 is 99% busy: src 99% (1523094 runs of 1300 ns)
//! ```
//!
//! # See also
//! StaticThreadSched

use router::{Activity, Class, Config, ConfigError, Cx, Element, TaskAccount};
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ThreadMonitor", create)
    .ports("0/0")
    .activity(Activity::PerWorker)
    .doc(router::manual!("thread_monitor.rs"));

const TIMER: u32 = 0;

struct ThreadMonitor {
    interval: Duration,
    least_ns: u64,
    /// When the last line was due, and how things were then.
    then_ns: i64,
    busy_ns: u64,
    tasks: Vec<TaskAccount>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut interval, mut least) = (1000u32, 1000u32);
    config.args().positional("INTERVAL", &mut interval).positional("THRESH", &mut least).finish()?;
    if interval == 0 {
        return Err("INTERVAL must be at least 1".into());
    }
    Ok(Box::new(ThreadMonitor {
        interval: Duration::from_millis(interval.into()),
        least_ns: least.into(),
        then_ns: 0,
        busy_ns: 0,
        tasks: Vec::new(),
    }))
}

impl ThreadMonitor {
    /// What tasks have done since the last line: those that count, the busiest first.
    fn busiest(&mut self, cx: &mut Cx<'_>) -> Vec<TaskAccount> {
        let now: Vec<TaskAccount> = cx.tasks().accounts().collect();
        let since = |(i, task): (usize, &TaskAccount)| {
            let before = self.tasks.get(i).copied().unwrap_or_default();
            TaskAccount { runs: task.runs - before.runs, busy_ns: task.busy_ns - before.busy_ns, ..*task }
        };
        let mut tasks: Vec<TaskAccount> = now.iter().enumerate().map(since).collect();
        tasks.retain(|task| task.runs > 0 && task.busy_ns >= self.least_ns.saturating_mul(task.runs));
        tasks.sort_by_key(|task| std::cmp::Reverse(task.busy_ns));
        self.tasks = now;
        tasks
    }

    fn print(&mut self, cx: &mut Cx<'_>) {
        let tasks = self.busiest(cx);
        let elapsed_ns = (cx.now_ns() - self.then_ns).max(1);
        let share = |ns: u64| format!("{:.0}%", ns as f64 / elapsed_ns as f64 * 100.0);
        let busy_ns = cx.tasks().account().busy_ns;
        if !tasks.is_empty() {
            let task = |task: &TaskAccount| {
                let name = cx.info().nodes.get(task.element).map_or("", |node| &node.name);
                let (share, each) = (share(task.busy_ns), task.busy_ns / task.runs);
                format!("{name} {share} ({} runs of {each} ns)", task.runs)
            };
            let tasks: Vec<String> = tasks.iter().map(task).collect();
            let (worker, busy) = (cx.worker(), share(busy_ns - self.busy_ns));
            cx.print(&format!("{}: worker {worker} is {busy} busy: {}", cx.name(), tasks.join(", ")));
        }
        (self.then_ns, self.busy_ns) = (cx.now_ns(), busy_ns);
    }
}

impl Element for ThreadMonitor {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().time_each();
        self.then_ns = cx.now_ns();
        cx.timers().after(TIMER, self.interval);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.print(cx);
        cx.timers().after(TIMER, self.interval);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, errors};
    use elements_testing::run_to_end;
    use router::{Clock, Resources};

    fn log(config: &str) -> String {
        let mut router = build_at(config, 2, 32, Clock::real(), Resources::default()).expect("a router");
        run_to_end(&mut router);
        router.finish();
        router.info().log.text()
    }

    /// Tasks that take time are named, on the worker where they run; those that take little are not.
    #[test]
    fn names_busy_tasks() {
        let config = |least: u32| {
            format!(
                "StaticThreadSched(a 0, b 1); a :: InfiniteSource -> Discard; b :: InfiniteSource -> Discard;
                 m :: ThreadMonitor(20, {least}); DriverManager(wait 300ms)"
            )
        };
        let text = log(&config(0));
        for (worker, task) in [(0, "a"), (1, "b")] {
            let begins = format!("m: worker {worker} is ");
            let line =
                text.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("{text}"));
            let (_, tasks) = line.split_once("% busy: ").unwrap_or_default();
            assert!(tasks.starts_with(&format!("{task} ")) && tasks.ends_with(" ns)"), "{line}");
        }
        assert_eq!(log(&config(1_000_000_000)), "");
    }

    #[test]
    fn an_interval_of_zero_is_refused() {
        assert!(errors("ThreadMonitor(0)").contains("INTERVAL must be at least 1"));
    }
}
