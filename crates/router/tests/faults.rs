//! Workers that panic, and workers that are held up.

use clique_router as router;
use router::{
    Activity, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers, Log, Merge, Options,
    Router,
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
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        cx.log(&format!("{} ends", cx.worker()));
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("one", |_: &mut Bomb, _| 1).merged(Merge::Sum);
    }
}

static CLASSES: &[Class] = &[Class::new("Bomb", bomb).ports("0/0").activity(Activity::PerWorker)];

fn build(config: &str, clock: Clock, holds: Option<Arc<Hold>>) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    let classes = Classes::new(CLASSES);
    let mut options =
        Options { workers: 3, clock, log: Log::Memory(Default::default()), ..Options::default() };
    if let Some(holds) = holds {
        options.resources.insert(holds);
    }
    let layout = router::layout(parsed.graph, &classes, 3).expect("a layout");
    router::build(layout, config.to_owned(), &classes, options).expect("a router").0
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

/// A read of what several workers have is answered with what there is, whichever worker is held up.
#[test]
fn a_read_does_not_wait_for_a_worker_that_is_held_up() {
    for at in [0, 2] {
        let holds = Arc::<Hold>::default();
        let mut router = build(&format!("b :: Bomb({at})"), Clock::real(), Some(holds.clone()));
        let (handle, (sender, answer)) = (router.handle(), mpsc::channel());
        let asking = std::thread::spawn(move || {
            while !holds.begun.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let began = Instant::now();
            let response = handle.ask(Call::read("b.one", ""));
            let silent = handle.silent_workers(Duration::from_millis(200));
            sender.send((response, silent, began.elapsed())).expect("the test waits");
            holds.over.store(true, SeqCst);
            let after = handle.ask(Call::read("b.one", ""));
            let all = handle.silent_workers(Duration::from_secs(60));
            handle.stop();
            (after, all)
        });
        router.run();
        let (response, silent, took) = answer.recv().expect("an answer");
        assert_eq!(response.result.as_deref(), Ok("2"));
        assert_eq!(response.warnings, [format!("without worker {at}, which does not answer")]);
        assert_eq!(silent, Some(vec![at]));
        assert!(took < Duration::from_secs(60), "{took:?}");
        let (after, all) = asking.join().expect("answers");
        assert_eq!((after.result.as_deref(), after.warnings.len()), (Ok("3"), 0));
        assert_eq!(all, Some(Vec::new()));
    }
}
