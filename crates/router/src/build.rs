//! From a configuration graph to a router that is ready to run.

use crate::account::Account;
use crate::class::{Class, Classes};
use crate::clock::Clock;
use crate::config::{Config, ConfigError, Resources};
use crate::current::Current;
use crate::cx::{self, Core, Exits, Link, NOWHERE, Wanted};
use crate::element::{Element, Queues};
use crate::handler::Handlers;
use crate::info::{Info, Log, Node, Port, Swaps};
use crate::mailbox::Mailbox;
use crate::names::Names;
use crate::plan::{Plan, plan};
use crate::router::Router;
use crate::sched::Scheduler;
use crate::timers::Timers;
use crate::worker::{Slot, Worker};
use crate::{DEFAULT_VECTOR, ports};
use lang::{Context, Diagnostic, Graph};
use std::any::{Any, TypeId};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, OnceLock};

/// How a router is to run.
pub struct Options {
    /// Number of workers; there are at least as many as the layout uses.
    pub workers: usize,
    /// Packets in a batch, at most; 1 makes the order of effects exactly Click's.
    pub vector: usize,
    /// The time.
    pub clock: Clock,
    /// The seed of all randomness.
    pub seed: u64,
    /// Where messages of elements go.
    pub log: Log,
    /// If each worker is to stay on one processor: how many processors to leave out before that of the first worker.
    pub pin: Option<usize>,
    /// What elements may use.
    pub resources: Resources,
    /// Whether there is the handler `hotconfig`, which whoever runs the router answers: see [`Router::allow_reconfigure`].
    pub reconfigurable: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            workers: 1,
            vector: DEFAULT_VECTOR,
            clock: Clock::real(),
            seed: 0,
            log: Log::Stderr,
            pin: None,
            resources: Resources::default(),
            reconfigurable: false,
        }
    }
}

/// A configuration whose classes, ports and placement are settled: everything but the elements themselves.
pub struct Layout {
    /// The graph.
    pub graph: Graph,
    /// Class of each element.
    pub classes: Vec<&'static Class>,
    /// Inputs and outputs of each element.
    pub ports: Vec<[Vec<Port>; 2]>,
    /// Which worker runs what.
    pub plan: Plan,
    /// What is odd about all that; [`configure`] and [`check`] return it with their own warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Settles classes, ports, processing and placement.
///
/// # Errors
/// Everything that is wrong.
pub fn layout(graph: Graph, known: &Classes, workers: usize) -> Result<Layout, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let mut classes = Vec::with_capacity(graph.elements.len());
    for element in &graph.elements {
        match known.get(&element.class) {
            Some(class) => classes.push(class),
            None => {
                let mut error = Diagnostic::error(format!("unknown element class '{}'", element.class))
                    .at(element.landmark.clone(), element.span);
                if let Some(similar) = lang::similar(&element.class, known.names()) {
                    error = error.help(format!("did you mean '{similar}'?"));
                }
                errors.push(error);
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut all_ports = ports::connect(&graph, &classes, &mut errors);
    if errors.is_empty() {
        ports::resolve(&graph, &classes, &mut all_ports, &mut errors);
    }
    if errors.is_empty() {
        ports::check(&graph, &all_ports, &mut errors);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (workers, mut warnings) = (workers.max(1), Vec::new());
    let pins = pins(&graph, &classes, workers, &mut warnings);
    let plan = plan(&classes, &all_ports, &pins, workers);
    Ok(Layout { graph, classes, ports: all_ports, plan, warnings })
}

/// The pins that information elements ask for. Who is to run on a worker that does not exist runs on the first one.
fn pins(
    graph: &Graph,
    classes: &[&'static Class],
    workers: usize,
    warnings: &mut Vec<Diagnostic>,
) -> BTreeMap<usize, usize> {
    let mut pins = BTreeMap::new();
    for (element, class) in graph.elements.iter().zip(classes) {
        let Some(read) = class.pins else { continue };
        let here = |said: Diagnostic| {
            let landmark = element.landmark.clone();
            said.at(landmark.clone(), element.span).within(Context::configuring(
                &element.name,
                &element.class,
                landmark,
            ))
        };
        // Malformed arguments are reported when the element itself is configured.
        for (name, worker) in read(&element.config).unwrap_or_default() {
            let pinned = named(graph, &name, &element.name);
            if pinned.is_empty() {
                // Click complains, too, and goes on.
                warnings.push(here(Diagnostic::warning(format!("'{name}' does not name an element"))));
                continue;
            }
            if worker >= workers {
                let message = format!("thread preference {worker} out of range");
                warnings.push(here(Diagnostic::warning(message)));
            }
            let worker = if worker < workers { worker } else { 0 };
            pins.extend(pinned.into_iter().map(|element| (element, worker)));
        }
    }
    pins
}

/// The element with a name, seen from another one; or all elements of a compound with that name beside it.
fn named(graph: &Graph, name: &str, from: &str) -> Vec<usize> {
    if let Some(element) = graph.find_in(name, from) {
        return vec![element];
    }
    let context = from.rfind('/').map_or("", |slash| &from[..=slash]);
    let prefix = format!("{context}{name}/");
    let elements = graph.elements.iter().enumerate();
    elements.filter(|(_, element)| element.name.starts_with(&prefix)).map(|(index, _)| index).collect()
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
    router: Router,
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
    let order = order(&layout.classes);
    let mut found = std::mem::take(&mut layout.warnings);
    let (info, resources, pin) = info(layout, source, known, options);
    let info = Arc::new(info);
    let Some((elements, shared)) = create(&info, &order, &resources, &mut found) else {
        return Err(found);
    };
    let _ = info.handlers.set(collect_handlers(&elements));
    let _ = info.shared.set(shared);
    let workers = elements.into_iter().enumerate().map(|(w, elements)| worker(&info, w, elements)).collect();
    Ok((Configured { router: Router::new(info, workers, pin), order }, found))
}

impl Configured {
    /// The second half: initialises every element.
    ///
    /// # Errors
    /// What is wrong with the first one that fails.
    pub fn initialize(mut self) -> Result<Router, Vec<Diagnostic>> {
        initialize(&mut self.router, &self.order)?;
        self.router.workers.iter_mut().for_each(listen);
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
    let order = order(&layout.classes);
    let mut warnings = std::mem::take(&mut layout.warnings);
    let (info, resources, _) = info(layout, source, known, options);
    let Some((instances, _)) = create(&info, &order, &resources, &mut warnings) else {
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

/// Elements in order of configuration.
fn order(classes: &[&'static Class]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_key(|&element| classes[element].phase); // stable
    order
}

/// The information that all workers share, and the options that it does not keep.
fn info(
    layout: Layout,
    source: String,
    known: &Classes,
    options: Options,
) -> (Info, Resources, Option<usize>) {
    let nodes: Vec<Node> = (layout.graph.elements.iter())
        .zip(&layout.classes)
        .zip(layout.ports)
        .zip(layout.plan.workers)
        .zip(layout.plan.homes)
        .map(|((((element, class), [inputs, outputs]), workers), home)| Node {
            name: element.name.clone(),
            class,
            config: element.config.clone(),
            landmark: element.landmark.clone(),
            span: element.span,
            inputs,
            outputs,
            workers,
            home,
        })
        .collect();
    let by_name = nodes.iter().enumerate().map(|(i, node)| (node.name.clone(), i)).collect();
    let placed = nodes.iter().flat_map(|node| node.workers.last()).max();
    let workers = options.workers.max(placed.map_or(1, |last| last + 1));
    let info = Info {
        has_task: nodes.iter().map(|_| AtomicBool::new(false)).collect(),
        initialized: AtomicBool::new(false),
        nodes,
        graph: layout.graph,
        source,
        class_names: known.names().collect(),
        interfaces: known.interfaces,
        vector: options.vector.clamp(1, packet::BATCH_MAX),
        seed: options.seed,
        clock: options.clock,
        log: options.log,
        events: crate::events::Events::default(),
        by_name,
        handlers: OnceLock::new(),
        shared: OnceLock::new(),
        names: OnceLock::new(),
        current: Current::default(),
        mailboxes: (0..workers).map(|_| Arc::new(Mailbox::default())).collect(),
        run_count: AtomicI64::new(1),
        grants: AtomicU64::new(0),
        halted: AtomicBool::new(false),
        swapping: AtomicBool::new(false),
        swaps: Swaps::default(),
        reconfigurable: options.reconfigurable,
        reconfigure: OnceLock::new(),
        driver_manager: OnceLock::new(),
    };
    (info, options.resources, options.pin)
}

type Instances = Vec<Vec<Option<Box<dyn Element>>>>;
type SharedParts = HashMap<(usize, TypeId), Arc<dyn Any + Send + Sync>>;

fn diagnose(info: &Info, element: usize, context: Context, error: ConfigError) -> Vec<Diagnostic> {
    let node = &info.nodes[element];
    let at = |message: String| {
        let (said, expected) = crate::args::split_expected(&message);
        let error = Diagnostic::error(said).at(node.landmark.clone(), node.span).within(context.clone());
        Diagnostic { expected, ..error }
    };
    error.messages.into_iter().map(at).collect()
}

/// Makes all instances, or none if an element is refused; adds what elements say, and what is said of them, to what was found before.
fn create(
    info: &Info,
    order: &[usize],
    resources: &Resources,
    found: &mut Vec<Diagnostic>,
) -> Option<(Instances, SharedParts)> {
    let mut instances: Instances =
        info.mailboxes.iter().map(|_| info.nodes.iter().map(|_| None).collect()).collect();
    let (mut shared, mut names, mut refused) = (HashMap::new(), Names::default(), false);
    for &element in order {
        let node = &info.nodes[element];
        let context = || Context::configuring(&node.name, node.class.name, node.landmark.clone());
        let (mut said, mut errors) = (Vec::new(), Vec::new());
        for &worker in &node.workers {
            let mut config = Config {
                info,
                element,
                worker,
                shared: &mut shared,
                names: &mut names,
                resources,
                said: &mut said,
                text: None,
            };
            match (node.class.create)(&mut config) {
                Ok(instance) => instances[worker][element] = Some(instance),
                Err(error) => {
                    errors = diagnose(info, element, context(), error);
                    refused = true;
                    break; // the other workers' instances would fail alike
                }
            }
        }
        let here = |said: Diagnostic| said.at(node.landmark.clone(), node.span).within(context());
        found.extend(said.into_iter().map(here).chain(errors));
    }
    let _ = info.names.set(names);
    (!refused).then_some((instances, shared))
}

/// Makes an instance of an element with other arguments: one of a [`Class::live`] class.
///
/// # Errors
/// What is wrong with the arguments. What is odd about them is added to `said`.
pub(crate) fn again(
    info: &Info,
    element: usize,
    worker: usize,
    text: &str,
    said: &mut Vec<Diagnostic>,
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut shared, mut names) = (HashMap::new(), info.names().clone());
    let mut config = Config {
        info,
        element,
        worker,
        shared: &mut shared,
        names: &mut names,
        resources: &Resources::default(),
        said,
        text: Some(text),
    };
    (info.nodes[element].class.create)(&mut config)
}

/// Every element's handlers, as its first instance declares them.
fn collect_handlers(instances: &Instances) -> Vec<Handlers> {
    let elements = instances.first().map_or(0, Vec::len);
    (0..elements)
        .map(|element| {
            let mut handlers = Handlers::default();
            if let Some(instance) = instances.iter().find_map(|worker| worker[element].as_ref()) {
                instance.handlers(&mut handlers);
            }
            handlers
        })
        .collect()
}

/// Where ports of one kind lead, and where each element's start.
fn links<'a>(lists: impl Iterator<Item = &'a Vec<Port>>, single: bool) -> (Vec<Link>, Vec<u32>) {
    let (mut links, mut first) = (Vec::new(), vec![0]);
    for ports in lists {
        links.extend(ports.iter().map(|port| match port.peers.first() {
            // A pull output or push input may have many peers, but nothing is ever sent that way.
            Some(&(element, at)) if port.push == single => Link { element: element as u32, port: at as u16 },
            _ => Link { element: NOWHERE, port: 0 },
        }));
        first.push(links.len() as u32);
    }
    (links, first)
}

fn worker(info: &Arc<Info>, worker: usize, elements: Vec<Option<Box<dyn Element>>>) -> Worker {
    let (outputs, first_output) = links(info.nodes.iter().map(|node| &node.outputs), true);
    let slots = (elements.into_iter().zip(exits(&outputs, &first_output)))
        .map(|(instance, exits)| Slot { instance, exits })
        .collect();
    let (inputs, first_input) = links(info.nodes.iter().map(|node| &node.inputs), false);
    let count = info.nodes.len();
    let core = Core {
        info: info.clone(),
        worker,
        pool: packet::Pool::new(),
        rng: fastrand::Rng::with_seed(info.seed ^ (worker as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        clock: info.clock.clone(),
        now_ns: info.clock.now_ns(),
        tasks_per_look: 1,
        times_tasks: false,
        here: 0,
        list: Vec::with_capacity(256),
        first: None,
        base: 0,
        exits: Exits::NONE,
        upstream: vec![Vec::new(); inputs.len()],
        downstream: vec![Vec::new(); outputs.len()],
        rooms: vec![None; count],
        outputs,
        first_output,
        inputs,
        first_input,
        scheduler: Scheduler::default(),
        tasks: vec![None; count],
        timers: Timers::default(),
        awaited: Vec::new(),
        signals: Vec::new(),
        provides: vec![None; count],
        wanted: Vec::new(),
        drops: vec![Vec::new(); count],
        lots: Vec::new(),
        lot_of: [cx::NO_LOT; cx::LOTS],
        next_call: 0,
        status: Cell::new(None),
        warnings: None,
        began: false,
        asked: None,
        asks: 0,
        account: Account::default(),
    };
    Worker::new(core, slots, rcu::Domain::global().register(&format!("worker {worker}")))
}

/// Each element's part of all outputs; `first[e]` is where that of element `e` begins.
fn exits(outputs: &[Link], first: &[u32]) -> impl Iterator<Item = Exits> {
    first.windows(2).map(|pair| {
        let (start, count) = (pair[0], pair[1] - pair[0]);
        let first = outputs.get(start as usize).filter(|_| count > 0);
        Exits { first: first.copied().unwrap_or(Exits::NONE.first), start, count }
    })
}

/// Initialises all elements, in order of configuration, up to the first one that fails.
fn initialize(router: &mut Router, order: &[usize]) -> Result<(), Vec<Diagnostic>> {
    for &element in order {
        let info = router.info.clone();
        let node = &info.nodes[element];
        for &worker in &node.workers {
            let result = router.workers[worker].with(element, |instance, cx| instance.initialize(cx));
            if let Some(Err(error)) = result {
                let context = Context::initializing(&node.name, node.class.name, node.landmark.clone());
                return Err(diagnose(&info, element, context, error));
            }
        }
    }
    Ok(())
}

/// Connects those that listen at pull inputs with the signals upstream.
fn listen(worker: &mut Worker) {
    let core = &mut worker.core;
    for (element, wanted) in std::mem::take(&mut core.wanted) {
        let signals = match wanted {
            Wanted::Input(port) | Wanted::Relay(port) => upstream_signals(core, element, port),
            Wanted::Output(port) | Wanted::Room(port) => downstream_rooms(core, element, port),
        };
        for &signal in &signals {
            let signal = &mut core.signals[signal as usize];
            match (wanted, core.provides[element as usize]) {
                (Wanted::Relay(_), Some(own)) => signal.relays.push(own),
                (Wanted::Relay(_), None) | (Wanted::Room(_), _) => {}
                _ => signal.listeners.push(element),
            }
        }
        let place = match wanted {
            Wanted::Input(port) | Wanted::Relay(port) => {
                core.upstream.get_mut(core.first_input[element as usize] as usize + port as usize)
            }
            Wanted::Output(port) | Wanted::Room(port) => {
                core.downstream.get_mut(core.first_output[element as usize] as usize + port as usize)
            }
        };
        if let Some(place) = place {
            *place = signals;
        }
    }
}

/// The signals that say, together, whether a pull input can yield packets; none if something upstream never says.
fn upstream_signals(core: &Core, element: u32, port: u16) -> Vec<u32> {
    let before = |link: Link| {
        let node = &core.info.nodes[link.element as usize];
        let inputs = node.inputs.iter().enumerate();
        inputs
            .filter(|&(input, pull)| !pull.push && ports::flows(node.class, input, link.port as usize))
            .map(|(input, _)| core.uplink(link.element, input as u16))
            .collect()
    };
    nearest(core.uplink(element, port), &core.provides, before)
}

/// The signals that say, together, whether there is room downstream of a push output; none if something there never says.
fn downstream_rooms(core: &Core, element: u32, port: u16) -> Vec<u32> {
    let link = |element: u32, port: usize| core.outputs[core.first_output[element as usize] as usize + port];
    let behind = |to: Link| {
        let node = &core.info.nodes[to.element as usize];
        let outputs = node.outputs.iter().enumerate();
        outputs
            .filter(|&(output, push)| push.push && ports::flows(node.class, to.port as usize, output))
            .map(|(output, _)| link(to.element, output))
            .collect()
    };
    nearest(link(element, port as usize), &core.rooms, behind)
}

/// The signals of the elements nearest to a link that have one, looking further from link to link; none if a way ends before.
fn nearest(from: Link, signal_of: &[Option<u32>], further: impl Fn(Link) -> Vec<Link>) -> Vec<u32> {
    let (mut signals, mut open, mut seen) = (Vec::new(), vec![from], Vec::new());
    while let Some(link) = open.pop() {
        if link.element == NOWHERE || seen.contains(&(link.element, link.port)) {
            continue;
        }
        seen.push((link.element, link.port));
        if let Some(signal) = signal_of[link.element as usize] {
            signals.push(signal);
            continue;
        }
        let next = further(link);
        if next.is_empty() {
            return Vec::new();
        }
        open.extend(next);
    }
    signals
}
