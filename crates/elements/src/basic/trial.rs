//! What self-tests have in common: elements that try a part of the program when the router starts.

use router::{Clock, Config, ConfigError, Cx, Element, Log, Options, Resources, Router};
use std::fmt::Debug;

/// Checks, and those that failed.
#[derive(Default)]
pub(crate) struct Trial {
    failures: Vec<String>,
}

impl Trial {
    /// Something holds.
    pub(crate) fn holds(&mut self, what: &str, so: bool) {
        if !so {
            self.failures.push(format!("test '{what}' failed"));
        }
    }

    /// Something is what it should be.
    pub(crate) fn same<T: PartialEq + Debug>(&mut self, what: &str, found: T, expected: T) {
        if found != expected {
            self.failures.push(format!("test '{what}' failed: {found:?}, not {expected:?}"));
        }
    }

    /// A router of its own that stops by itself, in simulated time: what elements say, and what handlers read afterwards. What follows
    /// a handler's name is its parameter.
    pub(crate) fn run(&mut self, config: &str, said: &str, handlers: &[(&str, &str)]) {
        let mut router = match build(config, 1, 1, Clock::simulated(), Resources::default()) {
            Ok(router) => router,
            Err(errors) => return self.same(config, errors.as_str(), ""),
        };
        router.run();
        for (path, expected) in handlers {
            let (handler, parameter) = path.split_once(' ').unwrap_or((path, ""));
            let found = router.call(router::Call::read(handler, parameter));
            let found = found.unwrap_or_else(|error| format!("error: {error}"));
            self.same(&format!("{path} of {config}"), found.trim_end(), expected);
        }
        router.finish();
        self.same(config, router.info().log.text().as_str(), said);
    }

    /// A configuration with an error that says this.
    pub(crate) fn refused(&mut self, config: &str, message: &str) {
        let errors = build(config, 1, 1, Clock::simulated(), Resources::default()).err().unwrap_or_default();
        self.holds(&format!("{config}: '{message}'"), errors.contains(message));
    }
}

/// Builds a router, or says what is wrong as Click prints it. What elements print is kept.
pub(crate) fn build(
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
    let known = crate::classes();
    let layout = router::layout(parsed.graph, &known, workers).map_err(|e| lang::render_click(&e))?;
    let log = Log::Memory(Default::default());
    let options = Options { workers, vector, clock, log, resources, ..Options::default() };
    let (router, found) =
        router::build(layout, config.to_owned(), &known, options).map_err(|e| lang::render_click(&e))?;
    let said: Vec<_> = found.into_iter().filter(|said| said.is_message()).collect();
    router.info().log.print(&lang::render_click(&said));
    Ok(router)
}

/// What an element tries.
pub(crate) type Tests = fn(&mut Trial, &mut Cx<'_>);

/// Tries something: an error if it fails, a message if not.
///
/// # Errors
/// What failed.
pub(crate) fn try_out(cx: &mut Cx<'_>, tests: Tests) -> Result<(), ConfigError> {
    let mut trial = Trial::default();
    tests(&mut trial, cx);
    if !trial.failures.is_empty() {
        return Err(trial.failures.join("\n").into());
    }
    cx.log("All tests pass!");
    Ok(())
}

/// An element without arguments that only tries something.
pub(crate) fn element(config: &mut Config<'_>, tests: Tests) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Tried(tests)))
}

struct Tried(Tests);

impl Element for Tried {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        try_out(cx, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each failure is told, with what was found.
    #[test]
    fn failures() {
        let mut trial = Trial::default();
        trial.same("one", 1, 1);
        trial.holds("two", true);
        assert!(trial.failures.is_empty());
        trial.same("three", 4, 3);
        trial.holds("four", false);
        assert_eq!(trial.failures, ["test 'three' failed: 4, not 3", "test 'four' failed"]);
    }

    /// Routers within a trial.
    #[test]
    fn routers() {
        let mut trial = Trial::default();
        let config = "InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard; Message(hello)";
        trial.run(
            config,
            "config:1: While configuring 'Message@4 :: Message':\n  hello\n",
            &[("c.count", "3")],
        );
        trial.refused("Nonsense", "Nonsense");
        assert!(trial.failures.is_empty(), "{:?}", trial.failures);
        trial.run(config, "goodbye\n", &[("c.count", "4"), ("c.county", "")]);
        trial.refused("Idle", "Nonsense");
        trial.run("Nonsense", "", &[]);
        assert_eq!(trial.failures.len(), 5, "{:?}", trial.failures);
    }

    /// A router does not start with a part that fails.
    #[test]
    fn refuses() {
        static FAILING: router::Class =
            router::Class::new("Failing", |config| element(config, |trial, _| trial.holds("it", false)))
                .ports("0/0");
        let known = router::Classes::new([&FAILING]);
        let layout = router::layout(lang::parse("f :: Failing", "config", &[]).graph, &known, 1).unwrap();
        let errors = router::build(layout, String::new(), &known, Options::default()).err().unwrap();
        assert!(
            lang::render_click(&errors).ends_with("  test 'it' failed\n"),
            "{}",
            lang::render_click(&errors)
        );
    }
}
