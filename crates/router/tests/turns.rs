//! Turns end between two elements when a grace period waits for them.

use clique_router as router;
use packet::Batch;
use router::{
    Answer, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers, Log, Options, Outcome,
    Router, Step,
};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Steps that were made: each takes two milliseconds, until the test is over.
#[derive(Default)]
struct Steps {
    made: AtomicU64,
    over: AtomicBool,
}

impl Steps {
    fn step(&self) {
        if !self.over.load(SeqCst) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.made.fetch_add(1, SeqCst);
    }
}

/// Packets take a step each time they come by, and so does each read of its handler `step`. Its handler `walk` reads that a
/// great many times.
struct Slow(Arc<Steps>);

/// A turn of so many steps would take eight seconds.
const WALK: u64 = 4000;

fn slow(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Slow(config.resource::<Arc<Steps>>().cloned().unwrap_or_default())))
}

impl Element for Slow {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.0.step();
        cx.emit(0, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        for byte in 0..2 {
            let packet = cx.pool().packet(&[byte]).expect("memory");
            cx.emit_packet(0, packet);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("step", |slow: &mut Slow, _| {
            slow.0.step();
            1
        });
        h.read_outcome("start", |_: &mut Slow, cx, _| {
            cx.tasks().schedule();
            Outcome::Done(Ok(String::new()))
        });
        h.read_outcome("walk", |_: &mut Slow, _, _| Outcome::Start(Box::new(0u64)));
    }

    fn resume(&mut self, _cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, _: Answer) -> Step {
        let done = state.downcast_mut::<u64>().expect("made by `walk`");
        *done += 1;
        if *done > WALK { Step::Done(Ok(String::new())) } else { Step::Call(Call::read("s.step", "")) }
    }
}

/// Its task sends a packet that goes round five times, a millisecond each. Its timer, which is always due, notes how many tasks went by since
/// the last time, and so for forty of them.
struct Heavy {
    between: Arc<Mutex<Vec<u32>>>,
    tasks: u32,
    tasks_left: u32,
}

fn heavy(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    let between = config.resource::<Arc<Mutex<Vec<u32>>>>().cloned().unwrap_or_default();
    Ok(Box::new(Heavy { between, tasks: 0, tasks_left: 40 }))
}

impl Element for Heavy {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        cx.timers().after(0, Duration::ZERO);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        std::thread::sleep(Duration::from_millis(1));
        while let Some(mut packet) = batch.pop() {
            if packet.data()[0] > 0 {
                packet.data_mut()[0] -= 1;
                cx.emit_packet(0, packet);
            }
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.tasks += 1;
        self.tasks_left -= 1;
        match self.tasks_left {
            0 => cx.info().please_stop(),
            _ => cx.tasks().schedule(),
        }
        let packet = cx.pool().packet(&[5]).expect("memory");
        cx.emit_packet(0, packet);
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.timers().after(0, Duration::ZERO);
        match std::mem::take(&mut self.tasks) {
            0 => {}
            tasks => self.between.lock().expect("no panic").push(tasks),
        }
    }
}

static CLASSES: &[Class] = &[Class::new("Slow", slow).ports("1/1"), Class::new("Heavy", heavy).ports("1/1")];

fn build(config: &str, resource: impl Any + Send + Sync) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    let classes = Classes::new(CLASSES);
    let mut options =
        Options { clock: Clock::real(), log: Log::Memory(Default::default()), ..Options::default() };
    options.resources.insert(resource);
    let layout = router::layout(parsed.graph, &classes, 1).expect("a layout");
    router::build(layout, config.to_owned(), &classes, options).expect("a router").0
}

/// What keeps the worker busy, and a grace period that begins meanwhile: it is over a few steps later.
fn a_grace_period_during(handler: &'static str) {
    let steps = Arc::<Steps>::default();
    let mut router = build("s :: Slow; s -> s", steps.clone());
    let handle = router.handle();
    let watch = {
        let handle = handle.clone();
        std::thread::spawn(move || {
            let busy = std::thread::spawn(move || handle.call(Call::read(handler, "")));
            while steps.made.load(SeqCst) < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            let before = steps.made.load(SeqCst);
            rcu::Domain::global().synchronize();
            let during = steps.made.load(SeqCst) - before;
            steps.over.store(true, SeqCst);
            (during, busy)
        })
    };
    let stopper = std::thread::spawn(move || {
        let (during, busy) = watch.join().expect("no panic");
        handle.stop(); // the computation is not awaited: its worker halts
        drop(busy.join());
        during
    });
    router.run();
    let during = stopper.join().expect("no panic");
    assert!(during < 200, "{during} steps of {handler}, each of them between elements");
}

#[test]
fn a_grace_period_does_not_wait_for_a_long_computation() {
    a_grace_period_during("s.walk");
}

#[test]
fn a_grace_period_does_not_wait_for_a_loop_in_the_graph() {
    a_grace_period_during("s.start");
}

/// Grace periods that follow upon each other cut every turn short, in the middle of what a task has begun. Timers run all the same.
#[test]
fn timers_do_not_wait_for_turns_that_are_not_cut_short() {
    let between = Arc::<Mutex<Vec<u32>>>::default();
    let mut router = build("h :: Heavy; h -> h", between.clone());
    let over = Arc::<AtomicBool>::default();
    let updates = {
        let over = over.clone();
        std::thread::spawn(move || {
            while !over.load(SeqCst) {
                rcu::Domain::global().synchronize();
            }
        })
    };
    router.run();
    over.store(true, SeqCst);
    updates.join().expect("no panic");
    let between = between.lock().expect("no panic");
    assert!(
        between.len() > 10 && between.iter().all(|tasks| *tasks <= 2),
        "tasks between timers: {between:?}"
    );
}
