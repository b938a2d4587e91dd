//! Routers that run while a test does something.

use router::{Call, Classes, Handle, Log, Options};
use std::time::{Duration, Instant};

/// Runs a router while something else happens, then stops it.
pub(crate) fn with(config: &str, known: &Classes, act: impl FnOnce(&Handle)) {
    let parsed = lang::parse(config, "config", &[]);
    let layout =
        router::layout(parsed.graph, known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let options = Options { log: Log::Memory(Default::default()), ..Options::default() };
    let built = router::build(layout, config.to_owned(), known, options);
    let (mut router, _) = built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let handle = router.handle();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            router.run();
            router.finish();
        });
        let acted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| act(&handle)));
        handle.stop();
        running.join().expect("the router ends");
        acted.expect("all is as it should be");
    });
}

pub(crate) fn read(handle: &Handle, path: &str) -> String {
    handle.call(Call::read(path, "")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Longer than anything takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until a handler says something.
pub(crate) fn until(handle: &Handle, path: &str, done: impl Fn(&str) -> bool) -> String {
    let start = Instant::now();
    loop {
        let text = read(handle, path);
        if done(&text) {
            return text;
        }
        assert!(start.elapsed() < PATIENCE, "{path} still says:\n{text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until something is so.
pub(crate) fn wait(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < PATIENCE, "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
