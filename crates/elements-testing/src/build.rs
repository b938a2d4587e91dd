//! Routers in tests.

use router::{Classes, Clock, Log, Options, Resources, Router};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longer than any router in a test runs.
const LONGEST: Duration = Duration::from_secs(120);

/// Builds a router, with its messages kept. With a real clock, workers are threads.
///
/// # Errors
/// What is wrong, as Click prints it.
pub fn build_at(
    library: &Classes,
    config: &str,
    workers: usize,
    vector: usize,
    clock: Clock,
    resources: Resources,
) -> Result<Router, String> {
    let parsed = lang::parse(config, "config", &[]);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let layout = router::layout(parsed.graph, library, workers).map_err(|e| lang::render_click(&e))?;
    let log = Log::Memory(Default::default());
    let options = Options { workers, vector, clock, log, resources, counted: true, ..Options::default() };
    let (router, found) =
        router::build(layout, config.to_owned(), library, options).map_err(|e| lang::render_click(&e))?;
    let said: Vec<_> = found.into_iter().filter(|said| said.is_message()).collect();
    router.info().log.print(&lang::render_click(&said));
    Ok(router)
}

fn build(library: &Classes, config: &str, vector: usize) -> Result<Router, String> {
    build_at(library, config, 1, vector, Clock::simulated(), Resources::default())
}

/// Runs a router until its driver stops. A router that never stops fails the test instead of holding it up; so does an element that loses
/// or doubles packets, or does not say how many it holds, if the router counts them.
///
/// # Panics
/// When the router still runs after two minutes, or packets are not all accounted for.
#[track_caller]
pub fn run_to_end(router: &mut Router) {
    run_within(router, LONGEST);
    assert_balanced(router);
}

/// Checks that all packets are accounted for, if the router counts them.
///
/// # Panics
/// When they are not: names the elements.
#[track_caller]
pub fn assert_balanced(router: &Router) {
    let balance = router.balance();
    if let (false, Err(found)) = (balance.elements.is_empty(), balance.check()) {
        let lines: String = found.iter().map(|imbalance| format!("{imbalance}\n")).collect();
        panic!("packets are not all accounted for:\n{lines}");
    }
}

#[track_caller]
fn run_within(router: &mut Router, longest: Duration) {
    let (handle, (running, ended)) = (router.handle(), mpsc::channel::<()>());
    let watcher = thread::spawn(move || {
        let late = ended.recv_timeout(longest) == Err(mpsc::RecvTimeoutError::Timeout);
        if late {
            handle.interrupt(); // a script may keep the driver from stopping, but not from this
        }
        late
    });
    router.run();
    drop(running);
    let late = watcher.join().expect("the watcher only waits");
    assert!(!late, "the router still runs after {longest:?}; it printed:\n{}", router.info().log.text());
}

/// Runs a configuration with batches of 1 and of 32 packets, checks that both print the same, and returns what elements
/// printed (their standard error). The configuration must stop by itself.
pub fn run(library: &Classes, config: &str) -> String {
    let [one, many] = [1, 32].map(|vector| {
        let mut router = build(library, config, vector).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        router.finish();
        router.info().log.text()
    });
    assert_eq!(one, many, "the vector size changes the output");
    one
}

/// Runs a configuration as [`run`] does, then reads handlers.
pub fn run_and_read(library: &Classes, config: &str, handlers: &[&str]) -> Vec<String> {
    let [one, many] = [1, 32].map(|vector| {
        let mut router = build(library, config, vector).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let read = |path: &&str| {
            router.call(router::Call::read(*path, "")).unwrap_or_else(|error| format!("error: {error}"))
        };
        handlers.iter().map(read).collect::<Vec<_>>()
    });
    assert_eq!(one, many, "the vector size changes what handlers say");
    one
}

/// The errors of a configuration that must not build, as Click prints them.
pub fn errors(library: &Classes, config: &str) -> String {
    match build(library, config, 1) {
        Ok(_) => panic!("no error in: {config}"),
        Err(errors) => errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing of this router would ever stop it.
    #[test]
    #[should_panic(expected = "the router still runs after 200ms")]
    fn a_router_that_never_stops_fails_the_test() {
        let library = crate::library(&[crate::FAMILIES], &[]);
        let mut router = build(&library, "t :: TimerTest(SCHEDULED true)", 1).expect("a router");
        run_within(&mut router, Duration::from_millis(200));
    }
}
