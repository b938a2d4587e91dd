//! Routers in tests.

use router::{Classes, Clock, Log, Options, Resources, Router};

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
    let options = Options { workers, vector, clock, log, resources, ..Options::default() };
    let (router, found) =
        router::build(layout, config.to_owned(), library, options).map_err(|e| lang::render_click(&e))?;
    let said: Vec<_> = found.into_iter().filter(|said| said.is_message()).collect();
    router.info().log.print(&lang::render_click(&said));
    Ok(router)
}

fn build(library: &Classes, config: &str, vector: usize) -> Result<Router, String> {
    build_at(library, config, 1, vector, Clock::simulated(), Resources::default())
}

/// Runs a configuration with batches of 1 and of 32 packets, checks that both print the same, and returns what elements
/// printed (their standard error). The configuration must stop by itself.
pub fn run(library: &Classes, config: &str) -> String {
    let [one, many] = [1, 32].map(|vector| {
        let mut router = build(library, config, vector).unwrap_or_else(|errors| panic!("{errors}"));
        router.run();
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
        router.run();
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
