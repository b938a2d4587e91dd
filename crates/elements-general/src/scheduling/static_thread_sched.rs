//! Pins elements' tasks to workers.
//!
//! ```click
//! StaticThreadSched(ELEMENT WORKER, ...)
//! ```
//!
//! Each argument names an element and the number of the worker that runs its task. Everything the element reaches,
//! pushing downstream and pulling upstream as far as the next queue, runs there too. If the element or the worker
//! does not exist, a warning is printed, and the element runs on worker 0; -1 means no preference. In FastClick's
//! form `NODE/WORKER`, the memory node is ignored.
//!
//! Ports: none.
//!
//! # Arguments
//! - `ELEMENT WORKER`, any number of times: an element's name and a worker's number. The name of a compound element
//!   stands for all elements inside it.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! s :: InfiniteSource -> Queue -> u :: Unqueue -> Discard;
//! StaticThreadSched(s 0, u 1);
//! ```
//!
//! # See also
//! Queue

use router::{Class, Config, ConfigError, Element, Pin};

/// The class.
pub(crate) const CLASS: Class = Class::new("StaticThreadSched", create)
    .ports("0/0")
    .pins(pins)
    .doc(router::manual!("static_thread_sched.rs"));

struct StaticThreadSched;

impl Element for StaticThreadSched {}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    for preference in read(config.text())?.into_iter().map(|(_, preference)| preference) {
        if preference < -1 {
            config.warn(format!("thread preference {preference} out of range"));
        }
    }
    Ok(Box::new(StaticThreadSched))
}

/// The worker's number where a node of memory is named, too.
fn on_node(worker: &str) -> &str {
    match worker.split_once('/') {
        Some((node, worker)) if router::parse_integer(node).is_some() => worker,
        _ => worker,
    }
}

/// Reads the arguments: elements' names, and the workers that they prefer.
fn read(text: &str) -> Result<Vec<(String, i128)>, ConfigError> {
    let (mut preferences, mut error) = (Vec::new(), ConfigError::default());
    for arg in lang::conf::split_args(text) {
        match lang::conf::split_spaces(&arg).as_slice() {
            [] => {}
            [_] => error.messages.push("THREAD: required argument missing".to_owned()),
            [element, worker] => match router::parse_integer(on_node(worker)) {
                Some(worker) => preferences.push((element.clone(), worker)),
                None => error.messages.push("THREAD: invalid number".to_owned()),
            },
            _ => error.messages.push("too many arguments".to_owned()),
        }
    }
    if error.messages.is_empty() { Ok(preferences) } else { Err(error) }
}

/// The arguments that say a worker; negative ones stand for no preference.
fn pins(text: &str) -> Result<Vec<Pin>, ConfigError> {
    let pin = |(element, worker)| Some((element, usize::try_from(worker).ok()?));
    Ok(read(text)?.into_iter().filter_map(pin).collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};

    #[test]
    fn pins_move_tasks() {
        let config =
            "s :: InfiniteSource -> Queue -> u :: Unqueue -> d :: Discard; StaticThreadSched(u 0/1, s -1);";
        let router = build(config, 2, 1).unwrap_or_else(|errors| panic!("{errors}"));
        let worker_of = |name: &str| {
            let info = router.info();
            info.find(name, None).map(|element| info.nodes[element].workers.clone()).unwrap_or_default()
        };
        assert_eq!((worker_of("s"), worker_of("u"), worker_of("d")), (vec![0], vec![1], vec![1]));
    }

    /// A compound's name stands for what is inside of it, from inside of another compound, too.
    #[test]
    fn a_compound_stands_for_the_elements_inside() {
        let config = "elementclass S { s :: InfiniteSource -> output } elementclass T { a :: S -> d :: Discard; StaticThreadSched(a 1) }
                      t :: T; b :: S -> e :: Discard; c :: S -> f :: Discard; StaticThreadSched(b 1);";
        let router = build(config, 2, 1).unwrap_or_else(|errors| panic!("{errors}"));
        let worker_of = |name: &str| {
            let info = router.info();
            info.find(name, None).map(|element| info.nodes[element].workers.clone()).unwrap_or_default()
        };
        let workers = ["t/a/s", "t/d", "b/s", "e", "c/s", "f"].map(worker_of);
        assert_eq!(workers, [vec![1], vec![1], vec![1], vec![1], vec![0], vec![0]]);
    }

    /// A worker that does not exist is warned of; the first one does its work.
    #[test]
    fn missing_workers() {
        let config = "Idle -> Queue -> u :: Unqueue -> Discard; StaticThreadSched(u 2, nobody 1, u -2);";
        let known = crate::testing::library();
        let graph = lang::parse(config, "config", &[]).graph;
        let layout =
            router::layout(graph, &known, 2).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
        let log = router::Log::Memory(Default::default());
        let options = router::Options { workers: 2, log, ..Default::default() };
        let (router, warnings) = router::build(layout, config.to_owned(), &known, options)
            .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
        let said = lang::render_click(&warnings);
        assert!(said.contains("thread preference 2 out of range"), "{said}");
        assert!(said.contains("thread preference -2 out of range"), "{said}");
        assert!(said.contains("'nobody' does not name an element"), "{said}");
        let u = router.info().find("u", None).expect("an element");
        assert_eq!(router.info().nodes[u].workers, [0]);
    }

    #[test]
    fn bad_pins() {
        let said = errors("StaticThreadSched(s one, s, s 1 2)");
        for message in ["THREAD: invalid number", "THREAD: required argument missing", "too many arguments"] {
            assert!(said.contains(message), "{said}");
        }
    }
}
