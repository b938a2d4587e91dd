//! Workers that panic, and workers that are held up.

use clique_router as router;
use router::{
    Activity, Answer, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers, Log, Merge,
    Options, Response, Router, Step, Vigil,
};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// What holds a worker up, and whether it does.
#[derive(Default)]
struct Hold {
    over: AtomicBool,
    begun: AtomicBool,
    /// Whether the worker runs meanwhile, or else waits.
    spins: bool,
}

/// Bomb(AT): its task runs for ever; on worker AT it panics, or holds the worker up until it is over.
struct Bomb {
    at: usize,
    holds: Option<Arc<Hold>>,
}

fn bomb(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut at = 0u32;
    config.args().positional("AT", &mut at).finish()?;
    Ok(Box::new(Bomb { at: at as usize, holds: config.resource::<Arc<Hold>>().cloned() }))
}

impl Element for Bomb {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.tasks().schedule();
        if cx.worker() != self.at {
            return;
        }
        let Some(holds) = &self.holds else { panic!("as it was told") };
        holds.begun.store(true, SeqCst);
        while !holds.over.load(SeqCst) {
            if !holds.spins {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        cx.print(&format!("{} ends", cx.worker()));
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("one", |_: &mut Bomb, _| 1).merged(Merge::Sum);
        h.read("boom", |e: &mut Bomb, _| -> usize { panic!("{} was asked for it", e.at) });
    }
}

/// Asker(PATH): reads a handler in a computation, once a worker is held up, and passes on what it gets.
struct Asker {
    path: String,
    holds: Arc<Hold>,
    told: mpsc::Sender<(Response, Duration)>,
}

/// Where an Asker passes it on to.
type Told = mpsc::Sender<(Response, Duration)>;

fn asker(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let holds = config.resource::<Arc<Hold>>().cloned().ok_or("no hold")?;
    let told = config.resource::<Told>().cloned().ok_or("no place for the answer")?;
    Ok(Box::new(Asker { path: config.text().to_owned(), holds, told }))
}

impl Element for Asker {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if self.holds.begun.load(SeqCst) {
            cx.handlers().start(Box::new(Instant::now()));
        } else {
            cx.tasks().schedule();
        }
    }

    fn resume(&mut self, _cx: &mut Cx<'_>, began: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        if let (Answer::Response(response), Some(began)) = (answer, began.downcast_ref::<Instant>()) {
            let _ = self.told.send((response, began.elapsed()));
            return Step::Done(Ok(String::new()));
        }
        Step::Call(Call::read(&*self.path, ""))
    }
}

/// Wrong(WHERE): cannot be configured, or not initialised.
struct Wrong(String);

fn wrong(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(Wrong(config.text().to_owned())))
}

impl Element for Wrong {
    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Err(self.0.as_str().into())
    }
}

static CLASSES: &[Class] = &[
    Class::new("Bomb", bomb).ports("0/0").activity(Activity::PerWorker),
    Class::new("Asker", asker).ports("0/0"),
    Class::new("Wrong", wrong).ports("0/0").activity(Activity::PerWorker),
];

fn build(config: &str, clock: Clock, holds: Option<Arc<Hold>>) -> Router {
    build_telling(config, clock, holds, None).expect("a router")
}

fn build_telling(
    config: &str,
    clock: Clock,
    holds: Option<Arc<Hold>>,
    told: Option<Told>,
) -> Result<Router, Vec<lang::Diagnostic>> {
    let parsed = lang::parse(config, "config", &[]);
    let classes = Classes::new(CLASSES);
    let mut options =
        Options { workers: 3, clock, log: Log::Memory(Default::default()), ..Options::default() };
    if let Some(holds) = holds {
        options.resources.insert(holds);
    }
    if let Some(told) = told {
        options.resources.insert(told);
    }
    let layout = router::layout(parsed.graph, &classes, 3).expect("a layout");
    Ok(router::build(layout, config.to_owned(), &classes, options)?.0)
}

fn panics(router: &mut Router) -> Option<Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| router.run())).err()
}

/// The others halt, callers hear that the router has stopped, and elements complete what they have, except for the one that panicked.
#[test]
fn a_panic_on_one_worker_ends_the_router() {
    for (clock, at) in [(Clock::simulated(), 1), (Clock::real(), 0), (Clock::real(), 2)] {
        let mut router = build(&format!("b :: Bomb({at})"), clock, None);
        let handle = router.handle();
        assert!(panics(&mut router).is_some());
        assert!(handle.call(Call::read("b.one", "")).is_err_and(|error| error.message.contains("stopped")));
        router.finish();
        let log = router.info().log.text();
        assert!(
            log.contains(&format!("worker {at} has panicked in 'b :: Bomb': the router stops\n")),
            "{log}"
        );
        let ended: Vec<bool> = (0..3).map(|worker| log.contains(&format!("{worker} ends"))).collect();
        assert_eq!(ended.iter().filter(|ended| **ended).count(), 2, "{log}");
        assert!(!ended[at]);
    }
}

/// A handler that panics while the router does not run is named, too.
#[test]
fn a_panic_of_a_handler_names_the_element() {
    let mut router = build("b :: Bomb(1)", Clock::simulated(), None);
    let called = catch_unwind(AssertUnwindSafe(|| router.call(Call::read("b.boom", ""))));
    assert!(called.is_err());
    let log = router.info().log.text();
    assert!(log.contains("worker 0 has panicked in 'b :: Bomb': the router stops\n"), "{log}");
}

/// The workers that are stuck, once they are as expected, or else after a minute.
fn stuck(vigil: &mut Vigil, within: Duration, expected: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let stuck = vigil.silent(within).expect("a router that runs").stuck;
        if expected(&stuck) || Instant::now() > until {
            return stuck;
        }
    }
}

/// A read of what several workers have is answered with what there is, whichever worker is held up.
#[test]
fn a_read_does_not_wait_for_a_worker_that_is_held_up() {
    for (at, spins) in [(0, false), (2, true)] {
        let holds = Arc::new(Hold { spins, ..Hold::default() });
        let mut router = build(&format!("b :: Bomb({at})"), Clock::real(), Some(holds.clone()));
        let (handle, (sender, answer)) = (router.handle(), mpsc::channel());
        let asking = std::thread::spawn(move || {
            let mut vigil = Vigil::new(handle.clone());
            while !holds.begun.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let began = Instant::now();
            let response = handle.ask(Call::read("b.one", ""));
            let silent = stuck(&mut vigil, Duration::from_millis(200), |stuck| !stuck.is_empty());
            sender.send((response, silent, began.elapsed())).expect("the test waits");
            holds.over.store(true, SeqCst);
            let after = handle.ask(Call::read("b.one", ""));
            let all = stuck(&mut vigil, Duration::from_secs(60), |stuck| stuck.is_empty());
            handle.stop();
            (after, all)
        });
        router.run();
        let (response, silent, took) = answer.recv().expect("an answer");
        assert_eq!(response.result.as_deref(), Ok("2"));
        assert_eq!(response.warnings, [format!("without worker {at}, which does not answer")]);
        assert_eq!(silent, [at]);
        assert!(took < Duration::from_secs(60), "{took:?}");
        let (after, all) = asking.join().expect("answers");
        assert_eq!((after.result.as_deref(), after.warnings.len()), (Ok("3"), 0));
        assert_eq!(all, [0usize; 0]);
    }
}

/// A computation's read, as scripts make them, does not wait for a worker that is held up either. Other work of its worker goes on then.
#[test]
fn a_computation_does_not_wait_for_a_worker_that_is_held_up() {
    let holds = Arc::<Hold>::default();
    let (sender, told) = mpsc::channel();
    let built =
        build_telling("b :: Bomb(2); a :: Asker(b.one)", Clock::real(), Some(holds.clone()), Some(sender));
    let mut router = built.expect("a router");
    let handle = router.handle();
    let waiting = std::thread::spawn(move || {
        let answer = told.recv_timeout(Duration::from_secs(60));
        holds.over.store(true, SeqCst);
        let after = handle.ask(Call::read("b.one", ""));
        handle.stop();
        (answer, after)
    });
    router.run();
    let (answer, after) = waiting.join().expect("answers");
    let (response, took) = answer.expect("an answer while the worker is held up");
    assert_eq!(response.result.as_deref(), Ok("2"));
    assert_eq!(response.warnings, ["without worker 2, which does not answer"]);
    assert!(took < Duration::from_secs(60), "{took:?}");
    assert_eq!(after.result.as_deref(), Ok("3"));
}

/// An element that cannot be initialised hides none that cannot be either; one on several workers is reported once.
#[test]
fn all_that_cannot_be_initialised_is_reported() {
    let config = "a :: Wrong(first); b :: Wrong(second); Bomb(9); c :: Wrong(third)";
    let errors = build_telling(config, Clock::real(), None, None).err().expect("errors");
    let said: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(said, ["first", "second", "third"]);
    // One that says nothing of its own has failed all the same.
    assert!(build_telling("a :: Wrong()", Clock::real(), None, None).is_err());
}
