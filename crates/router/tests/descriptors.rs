//! Elements that wait for descriptors: a worker sleeps until one is ready, and sees it while others keep it busy.

use clique_router as router;
use router::{
    Activity, Call, Class, Classes, Clock, Config, ConfigError, Cx, Element, Handlers, Interest, Log,
    Options, Resources, Router,
};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::Arc;

type Made = Result<Box<dyn Element>, ConfigError>;

/// Says what comes out of a pipe, and stops the driver at its end.
struct Reads(Arc<OwnedFd>, u64);

fn reads(config: &mut Config<'_>) -> Made {
    let fd = config.resource::<Arc<OwnedFd>>().ok_or("no pipe")?;
    Ok(Box::new(Reads(fd.clone(), 0)))
}

impl Element for Reads {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule_when(&self.0, Interest::Readable);
        cx.tasks().schedule_when(&self.0, Interest::Readable); // saying it twice changes nothing
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.1 += 1;
        let mut bytes = [0; 16];
        match rustix::io::read(&*self.0, &mut bytes) {
            Ok(n @ 1..) => {
                cx.print(&String::from_utf8_lossy(&bytes[..n]));
                cx.tasks().schedule_when(&self.0, Interest::Readable);
            }
            _ => cx.info().please_stop(),
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("runs", |e: &mut Reads, _| e.1);
    }
}

/// Is always busy.
struct Busy;

impl Element for Busy {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.tasks().schedule();
    }
}

/// Says by how many nanoseconds the kernel may end its worker's sleep late, and stops the driver.
struct Slack;

impl Element for Slack {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.tasks().schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.print(&format!("{:?}", rustix::thread::current_timer_slack()));
        cx.info().please_stop();
    }
}

static CLASSES: &[Class] = &[
    Class::new("Reads", reads).ports("0/0").activity(Activity::Always),
    Class::new("Slack", |_| Ok(Box::new(Slack))).ports("0/0").activity(Activity::Always),
    Class::new("Busy", |_| Ok(Box::new(Busy))).ports("0/0").activity(Activity::Always),
];

fn build(config: &str, clock: Clock, fd: OwnedFd) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    let known = Classes::new(CLASSES);
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let mut resources = Resources::default();
    resources.insert(Arc::new(fd));
    let options = Options { clock, log: Log::Memory(Default::default()), resources, ..Options::default() };
    let built = router::build(layout, config.to_owned(), &known, options);
    built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e))).0
}

/// The element wakes for each word and for the end, and a handler call wakes the sleeper in between without running it.
#[test]
fn words_from_a_pipe() {
    for (config, clock) in [
        ("r :: Reads", Clock::real()),
        ("r :: Reads; Busy", Clock::real()),
        ("r :: Reads", Clock::simulated()),
        ("r :: Reads; Busy", Clock::simulated()),
    ] {
        let (output, mut input) = std::io::pipe().expect("a pipe");
        let mut router = build(config, clock, output.into());
        let handle = router.handle();
        let writer = std::thread::spawn(move || {
            for (word, runs) in [("one", "1"), ("two", "2"), ("three", "3")] {
                input.write_all(word.as_bytes()).expect("the router reads");
                while handle.call(Call::read("r.runs", "")).as_deref() != Ok(runs) {}
            }
        });
        router.run();
        writer.join().expect("the calls were answered");
        assert_eq!(router.info().log.text(), "one\ntwo\nthree\n", "{config}");
    }
}

/// A worker that waits for a descriptor uses no processor.
#[test]
fn waiting_is_asleep() {
    let cpu = || {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        t.tv_sec as u128 * 1_000_000_000 + t.tv_nsec as u128
    };
    let (output, input) = std::io::pipe().expect("a pipe");
    let mut router = build("Reads", Clock::real(), output.into());
    let before = cpu();
    let closer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(input);
    });
    router.run();
    closer.join().expect("it only sleeps");
    assert!(cpu() - before < 50_000_000, "a waiting router was busy for {} ns of 100 ms", cpu() - before);
}

/// Workers' timers are not put off to suit others', and the thread that ran a worker is as it was before.
#[test]
fn sleep_ends_on_time() {
    let slack = || rustix::thread::current_timer_slack().expect("the kernel says");
    let before = slack();
    assert!(before > 1, "the test would show nothing");
    let (output, _input) = std::io::pipe().expect("a pipe");
    let mut router = build("Slack", Clock::real(), output.into());
    router.run();
    assert_eq!((router.info().log.text().as_str(), slack()), ("Ok(1)\n", before));
}
