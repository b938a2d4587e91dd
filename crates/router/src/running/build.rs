//! From a layout to a router that is ready to run.

use crate::DEFAULT_VECTOR;
use crate::chance::secret::Secret;
use crate::configuration::layout::{unconnected_layout, wrong_layout};
use crate::configuration::plan::{Plan, RunOptions};
use crate::context::core::{Core, TAPS};
use crate::element::behaviour::{Element, Queues};
use crate::element::class::{Class, Classes, Layout};
use crate::element::config::Resources;
use crate::element::counted::counted;
use crate::running::instances::{Configuring, diagnose, handlers};
use crate::running::listen::listen;
use crate::running::router::Router;
use crate::shared::clock::Clock;
use crate::shared::info::Info;
use crate::shared::log::Log;
use crate::worker::instances::{Elements, Slot, Worker};
use lang::{Context, Diagnostic, Graph};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// How a router is to run.
pub struct Options {
    /// Number of workers; there are at least as many as the layout uses.
    pub workers: usize,
    /// Packets in a batch, at most; 1 makes the order of effects exactly Click's.
    pub vector: usize,
    /// The time.
    pub clock: Clock,
    /// The seed of all randomness, unless there is a secret: the same seed, the same run.
    pub seed: u64,
    /// Where randomness comes from instead, so that strangers can guess nothing. Programs that run for real give the same to each router
    /// that takes the place of another one.
    pub secret: Option<Secret>,
    /// How many routers with this seed have run before in whose place this one is put: their random numbers do not come again.
    pub generation: u64,
    /// Where messages of elements go.
    pub log: Log,
    /// If each worker is to stay on one processor: how many processors to leave out before that of the first worker.
    pub pin: Option<usize>,
    /// What elements may use.
    pub resources: Resources,
    /// Whether there is the handler `hotconfig`, which the program answers: see [`Router::allow_reconfigure`].
    pub reconfigurable: bool,
    /// Whether to count what each element does to the number of packets, for [`Router::balance`]. For tests: each call of an element
    /// takes longer then.
    pub counted: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            workers: 1,
            vector: DEFAULT_VECTOR,
            clock: Clock::real(),
            seed: 0,
            secret: None,
            generation: 0,
            log: Log::Stderr,
            pin: None,
            resources: Resources::default(),
            reconfigurable: false,
            counted: false,
        }
    }
}

/// Makes a router from a layout: configures and initialises every element.
///
/// # Errors
/// Everything that is wrong; nothing was started then. Warnings come with the router.
pub fn build(
    layout: Layout,
    source: String,
    known: &Classes,
    options: Options,
) -> Result<(Router, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (configured, mut found) = configure(layout, source, known, options)?;
    match configured.initialize() {
        Ok(router) => Ok((router, found)),
        Err(errors) => {
            found.extend(errors);
            Err(found)
        }
    }
}

/// A router whose elements are configured, but not initialised yet: what they say meanwhile comes after the warnings so far.
pub struct Configured {
    pub(crate) router: Router,
    order: Vec<usize>,
}

/// The first half of [`build`]: configures every element.
///
/// # Errors
/// Everything that is wrong so far. Warnings come with the router.
pub fn configure(
    mut layout: Layout,
    source: String,
    known: &Classes,
    options: Options,
) -> Result<(Configured, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (order, classes) = (order(&layout.classes), layout.classes.clone());
    let mut found = std::mem::take(&mut layout.warnings);
    let (plan, workers) = plan(layout, source, known, &options);
    let configuring = Configuring::new(&plan, &classes, workers, &options.resources);
    let Some((instances, mut made)) = configuring.all(&order, &mut found) else {
        return Err(found);
    };
    let functions;
    (made.handlers, functions) = handlers(&instances);
    let info = Arc::new(Info::new(plan, made, workers, options.clock, options.log));
    let elements = Arc::new(Elements { classes, functions });
    let worker = |(number, instances)| worker(&info, number, instances, &elements);
    let workers = instances.into_iter().enumerate().map(worker).collect();
    Ok((Configured { router: Router::new(info, workers, options.pin), order }, found))
}

impl Configured {
    /// The second half: initialises every element.
    ///
    /// # Errors
    /// What is wrong with the first one that fails.
    pub fn initialize(mut self) -> Result<Router, Vec<Diagnostic>> {
        // A caller that has a handle already waits for a router that will never run.
        initialize(&mut self.router, &self.order).inspect_err(|_| self.router.info.halt())?;
        self.router.workers.iter_mut().for_each(|worker| listen(&mut worker.core));
        self.router.info.initialized.store(true, Relaxed);
        Ok(self.router)
    }
}

/// What a check finds out about a configuration that could run.
#[derive(Debug, Default)]
pub struct Checked {
    /// What it does not fail for.
    pub warnings: Vec<Diagnostic>,
    /// The queues that instances serve: element, worker, queues.
    pub queues: Vec<(usize, usize, Queues)>,
}

/// Configures every element of a layout and initialises none: finds what is wrong with arguments, and opens nothing.
///
/// # Errors
/// Everything that is wrong.
pub fn check(
    mut layout: Layout,
    source: String,
    known: &Classes,
    options: Options,
) -> Result<Checked, Vec<Diagnostic>> {
    let (order, classes) = (order(&layout.classes), layout.classes.clone());
    let mut warnings = std::mem::take(&mut layout.warnings);
    let (plan, workers) = plan(layout, source, known, &options);
    let configuring = Configuring::new(&plan, &classes, workers, &options.resources);
    let Some((instances, _)) = configuring.all(&order, &mut warnings) else {
        return Err(warnings);
    };
    warnings.retain(|found| !found.is_message()); // those are for who runs it
    let mut queues = Vec::new();
    for (worker, elements) in instances.iter().enumerate() {
        let serves = |(element, instance): (usize, &Option<Box<dyn Element>>)| {
            Some((element, worker, instance.as_ref()?.queues()?))
        };
        queues.extend(elements.iter().enumerate().filter_map(serves));
    }
    Ok(Checked { warnings, queues })
}

/// What stands for a class that is unknown: any ports, and nothing flows from one to another.
static UNKNOWN: Class =
    Class::new("?", |_| Err("its class is unknown".into())).ports("-/-").processing("a/a").flow("x/y");

/// Everything that is wrong with a graph, also behind errors that end a [`layout`](crate::layout): unknown classes hide neither wrong
/// ports nor wrong arguments of others, nor do wrong ports hide arguments. Unknown classes themselves are not among it. Opens
/// nothing.
pub fn errors(graph: Graph, source: String, known: &Classes, options: Options) -> Vec<Diagnostic> {
    let class = |element: &lang::Element| known.get(&element.class).unwrap_or(&UNKNOWN);
    let classes = graph.elements.iter().map(class).collect();
    let (layout, mut found) = wrong_layout(graph, classes, options.workers);
    let classes = layout.classes.clone();
    let mut order = order(&classes);
    order.retain(|&element| !std::ptr::eq(classes[element], &UNKNOWN));
    let (plan, workers) = plan(layout, source, known, &options);
    let configuring = Configuring::new(&plan, &classes, workers, &options.resources);
    let _ = configuring.all(&order, &mut found); // it says what is wrong with each
    found.retain(Diagnostic::is_error);
    found
}

/// Ports that an element has, at most, whose connections are not known; and those of all elements together.
const PORTS: usize = 256;
const PORTS_OF_ALL: usize = 1 << 20;

/// What is wrong with the arguments in a graph from which statements are missing: what is wrong whatever the ports are, and whatever
/// elements, names and variables the missing statements bring. Opens nothing.
pub fn argument_errors(graph: &Graph, source: &str, known: &Classes, options: &Options) -> Vec<Diagnostic> {
    let many = PORTS.min(PORTS_OF_ALL / graph.elements.len().max(1));
    let arguments = |element: &lang::Element| lang::conf::split_args(&element.config).len().min(many);
    let with = |ports: &dyn Fn(&lang::Element) -> usize| {
        let class = |element: &lang::Element| known.get(&element.class).unwrap_or(&UNKNOWN);
        let layout = unconnected_layout(graph.clone(), graph.elements.iter().map(class).collect(), ports);
        let classes = layout.classes.clone();
        let mut order = order(&classes);
        let is_known = |&element: &usize| !std::ptr::eq(classes[element], &UNKNOWN);
        order.retain(|element| is_known(element) && !graph.elements[*element].config.contains('$'));
        let (plan, workers) = plan(layout, source.to_owned(), known, options);
        Configuring::new(&plan, &classes, workers, &options.resources).sure_errors(&order)
    };
    let first = with(&arguments);
    if first.is_empty() {
        return Vec::new();
    }
    // A port for each argument, one more, none, and more than any argument names.
    let others = [with(&|element| arguments(element) + 1), with(&|_| 0), with(&|_| many)];
    let tries = |element| {
        let all = std::iter::once(&first).chain(&others);
        all.map(|found| found.get(element).cloned().unwrap_or_default()).collect()
    };
    first.keys().flat_map(|element| whatever_the_ports(tries(element))).collect()
}

/// The errors that an element has with each number of ports that was tried. A number that is refused itself, so that what is said changes with it, does
/// not count.
fn whatever_the_ports(tries: Vec<Vec<Diagnostic>>) -> Vec<Diagnostic> {
    let form = |error: &Diagnostic| error.message.replace(|c: char| c.is_ascii_digit(), "");
    let changes = |error: &Diagnostic| {
        tries.iter().flatten().any(|other| form(other) == form(error) && other.message != error.message)
    };
    let mut counted = tries.iter().filter(|errors| !errors.iter().any(changes));
    let mut found = counted.next().cloned().unwrap_or_default();
    counted.for_each(|errors| found.retain(|error| errors.contains(error)));
    found
}

/// Elements in order of configuration.
fn order(classes: &[&'static Class]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&element| classes[element].phase); // stable
    order
}

/// The plan of a layout, and how many workers there are: as many as are wanted, or as it uses.
fn plan(layout: Layout, source: String, known: &Classes, options: &Options) -> (Plan, usize) {
    let Options { vector, seed, generation, reconfigurable, counted: counts, .. } = *options;
    let secret = options.secret.clone();
    let run = RunOptions { vector, seed, secret, generation, reconfigurable, counts };
    let plan = Plan::new(layout, source, known, run);
    let workers = options.workers.max(plan.workers());
    (plan, workers)
}

fn worker(
    info: &Arc<Info>,
    worker: usize,
    instances: Vec<Option<Box<dyn Element>>>,
    elements: &Arc<Elements>,
) -> Worker {
    let core = Core::new(info, worker);
    let slot = |(element, (instance, exits)): (usize, (Option<Box<dyn Element>>, _))| {
        let instance = instance.map(|instance| counted(instance, info.ledger(worker, element)));
        Slot { instance, exits }
    };
    let all = instances.into_iter().chain((0..TAPS).map(|_| None));
    let slots = all.zip(core.all_exits()).enumerate().map(slot).collect();
    let reader = rcu::Domain::global().register(&format!("worker {worker}"));
    Worker::new(core, slots, elements.clone(), reader)
}

/// Initialises all elements, in order of configuration. One that fails hides none that fails, too.
fn initialize(router: &mut Router, order: &[usize]) -> Result<(), Vec<Diagnostic>> {
    // An element may fail without a word.
    let (info, mut errors, mut failed) = (router.info.clone(), Vec::new(), false);
    for &element in order {
        let node = &info.nodes[element];
        for &worker in &node.workers {
            let result = router.workers[worker].with(element, |instance, cx| instance.initialize(cx));
            if let Some(Err(error)) = result {
                let context = Context::initializing(&node.name, node.class.name, node.landmark.clone());
                errors.extend(diagnose(node, &context, error));
                failed = true;
                break; // on the next worker it would say the same
            }
        }
    }
    if failed { Err(errors) } else { Ok(()) }
}
