//! Running small configurations in tests.

use router::{Clock, Resources, Router};

/// Builds a router from a configuration, with simulated time and its messages kept.
pub(crate) fn build(config: &str, workers: usize, vector: usize) -> Result<Router, String> {
    build_with(config, workers, vector, Resources::default())
}

/// Builds a router as [`build`] does, with things from outside.
pub(crate) fn build_with(
    config: &str,
    workers: usize,
    vector: usize,
    resources: Resources,
) -> Result<Router, String> {
    build_at(config, workers, vector, Clock::simulated(), resources)
}

/// The same, with a clock: with a real one, workers are threads.
pub(crate) fn build_at(
    config: &str,
    workers: usize,
    vector: usize,
    clock: Clock,
    resources: Resources,
) -> Result<Router, String> {
    crate::basic::trial::build(config, workers, vector, clock, resources)
}

/// Runs a configuration with batches of 1 and of 32 packets, checks that both print the same, and returns what elements
/// printed (their standard error). The configuration must stop by itself.
pub(crate) fn run(config: &str) -> String {
    let [one, many] = [1, 32].map(|vector| {
        let mut router = build(config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
        router.run();
        router.finish();
        router.info().log.text()
    });
    assert_eq!(one, many, "the vector size changes the output");
    one
}

/// Runs a configuration as [`run`] does, then reads handlers.
pub(crate) fn run_and_read(config: &str, handlers: &[&str]) -> Vec<String> {
    let [one, many] = [1, 32].map(|vector| {
        let mut router = build(config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
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
pub(crate) fn errors(config: &str) -> String {
    match build(config, 1, 1) {
        Ok(_) => panic!("no error in: {config}"),
        Err(errors) => errors,
    }
}
