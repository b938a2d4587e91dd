//! What a survey finds out about workers and elements.

use clique_router as router;
use router::{
    Activity, Class, Classes, Clock, Config, ConfigError, Cx, Element, HandlerError, Handlers, Log, Merge,
    Metric, Options, Resources, Router, Surveyor, metric,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// Plenty on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

static COUNTED: Metric = Metric::counter("clique_test_total", "Something.");

/// An element on every worker: counts 10 more for each worker, and drops as many.
struct Sums(u64);

fn sums(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Sums(10 + config.worker() as u64)))
}

impl Element for Sums {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.count_drops("no reason", self.0);
        cx.tasks().schedule();
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut Sums, _| e.0).merged(Merge::Sum).measures(&COUNTED);
        h.read("other", |e: &mut Sums, _| e.0);
        h.metric(&metric::DEVICE, |_: &mut Sums, cx| format!("of worker {}", cx.worker()));
    }
}

/// Keeps its worker, while it is told to.
struct Sticks(Arc<StickFlags>);

#[derive(Default)]
struct StickFlags {
    to_stick: AtomicBool,
    sticks: AtomicBool,
}

fn sticks(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Sticks(config.resource::<Arc<StickFlags>>().ok_or("no word")?.clone())))
}

impl Element for Sticks {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let began = Instant::now();
        while self.0.to_stick.load(Ordering::Relaxed) && began.elapsed() < PATIENCE {
            self.0.sticks.store(true, Ordering::Relaxed);
            std::thread::yield_now();
        }
        cx.tasks().schedule();
    }
}

static CLASSES: &[Class] = &[
    Class::new("Sums", sums).ports("0/0").activity(Activity::PerWorker),
    Class::new("Sticks", sticks).ports("0/0").activity(Activity::Always),
];

fn build(config: &str, workers: usize, stuck: &Arc<StickFlags>) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    let known = Classes::new(CLASSES);
    let layout = router::layout(parsed.graph, &known, workers).expect("a layout");
    let mut resources = Resources::default();
    resources.insert(stuck.clone());
    let options = Options {
        workers,
        clock: Clock::real(),
        log: Log::Memory(Default::default()),
        resources,
        ..Options::default()
    };
    router::build(layout, config.to_owned(), &known, options).expect("a router").0
}

/// Runs a router on a thread of its own while `act` asks about it.
fn with(mut router: Router, act: impl FnOnce(&mut Surveyor)) {
    let handle = router.handle();
    std::thread::scope(|scope| {
        let running = scope.spawn(move || router.run());
        let mut surveyor = Surveyor::new(handle.clone());
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&mut surveyor)));
        handle.stop();
        running.join().expect("the router ends");
        acted.expect("the surveyor is content");
        assert_eq!(surveyor.survey(PATIENCE).err(), Some(HandlerError::stopped()));
    });
}

/// Values of all workers are merged as handlers say, those of a hundred elements just as those of one, and only what measures
/// something is read.
#[test]
fn all_elements_on_all_workers() {
    for elements in [1, 100] {
        let config = "Sums; ".repeat(elements);
        with(build(&config, 3, &Arc::default()), |surveyor| {
            let survey = surveyor.survey(PATIENCE).expect("it runs");
            assert_eq!(survey.workers.len(), 3);
            for worker in &survey.workers {
                let worker = worker.as_ref().expect("it answers");
                assert_eq!(worker.tasks, elements);
                assert!(worker.account.turns > 0 || worker.account.sleeps == 0);
            }
            let of = |name: &str| {
                let these = survey.readings.iter().filter(|reading| reading.metric.name == name);
                these.map(|reading| (reading.element, reading.value.as_str())).collect::<Vec<_>>()
            };
            let each = |value| (0..elements).map(|element| (element, value)).collect::<Vec<_>>();
            assert_eq!(of("clique_test_total"), each("33"));
            assert_eq!(of("clique_device_info"), each("of worker 0"));
            assert_eq!(survey.readings.len(), 2 * elements);
            let drops: Vec<_> = (0..elements).map(|element| (element, "no reason", 33)).collect();
            assert_eq!(survey.drops, drops);
            assert_eq!(survey.runs.len(), 3 * elements);
        });
    }
}

/// A worker that does not answer is left out after a while, and is asked nothing more until it has answered; the others are
/// not kept waiting by it.
#[test]
fn stuck_workers() {
    let stuck = Arc::new(StickFlags::default());
    stuck.to_stick.store(true, Ordering::Relaxed);
    // The first worker is stuck.
    with(build("s :: Sticks; Sums", 2, &stuck), |surveyor| {
        while !stuck.sticks.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        for _ in 0..3 {
            let began = Instant::now();
            let survey = surveyor.survey(Duration::from_millis(300)).expect("it runs");
            assert!(survey.workers[0].is_none() && survey.workers[1].is_some());
            assert!(began.elapsed() >= Duration::from_millis(300) && began.elapsed() < PATIENCE);
        }
        stuck.to_stick.store(false, Ordering::Relaxed);
        let survey = surveyor.survey(PATIENCE).expect("it runs");
        assert!(survey.workers.iter().all(Option::is_some));
        let counted = survey.readings.iter().find(|reading| reading.metric.name == "clique_test_total");
        assert_eq!(counted.map(|reading| reading.value.as_str()), Some("21"));
    });
}

/// The time of a worker that sleeps is sleep.
#[test]
fn sleep_is_accounted_for() {
    with(build("Sums", 1, &Arc::default()), |surveyor| {
        let start = Instant::now();
        loop {
            let survey = surveyor.survey(PATIENCE).expect("it runs");
            let account = survey.workers[0].clone().expect("it answers").account;
            if account.asleep_ns > 20_000_000 {
                assert!(account.sleeps > 0);
                assert_eq!((account.dispatches, account.busy_ns), (0, 0));
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{account:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    });
}

/// Many may ask at the same time.
#[test]
fn several_surveyors() {
    let router = build("Sums; Sums", 2, &Arc::default());
    let handle = router.handle();
    with(router, |_| {
        let together = Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut surveyor = Surveyor::new(handle.clone());
                    together.wait();
                    for _ in 0..50 {
                        let survey = surveyor.survey(PATIENCE).expect("it runs");
                        assert_eq!(survey.drops, [(0, "no reason", 21), (1, "no reason", 21)]);
                    }
                });
            }
        });
    });
}
