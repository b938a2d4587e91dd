//! One run of a configuration, from its text to its end: what `clique run` and the `click` driver have in common.

use crate::address;
use crate::check;
use crate::console::{self, reason};
use crate::drive::{self, Panicked, Took};
use crate::input;
use crate::load;
use crate::memory;
use crate::read::{self, Reading};
use crate::reload::{Checked, Keeper, Start};
use crate::report::{Refusal, Reporter, Style};
use crate::service;
use crate::stops::Stops;
use crate::swap::{Built, Proposal, Swaps};
use crate::takeover::{self, Interface};
use crate::upgrade::arrival;
use crate::upgrade::order::Origin;
use crate::watchdog::Watchdog;
use click_tools::{Input, Parameter, Text};
use elements::netdevice::DpdkPorts;
use lang::Diagnostic;
use router::{Call, Classes, Clock, Log, Options, Router, Secret};
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};

/// How a router is to run.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) workers: usize,
    pub(crate) vector: usize,
    pub(crate) clock: Clock,
    pub(crate) chance: Chance,
    /// See [`Options::pin`].
    pub(crate) pin: Option<usize>,
    /// Whether messages of elements are Click's, word for word.
    pub(crate) in_clicks_words: bool,
}

/// Where the random numbers of all routers of this process come from.
#[derive(Clone)]
pub(crate) struct Chance {
    seed: u64,
    secret: Option<Secret>,
    /// Routers that were built.
    generations: Arc<AtomicU64>,
}

impl Chance {
    /// With a seed the same numbers come in each run; otherwise they cannot be guessed, but that hashes go on with the key that a
    /// former process had.
    pub(crate) fn new(seed: Option<u64>, common: Option<u64>) -> Chance {
        let secret = if seed.is_some() { None } else { Some(Secret::from_system()) };
        let secret = secret.and_then(|secret| {
            let complain = |error| {
                console::complain(&format!("warning: strangers can guess keys: getrandom: {error}\n"))
            };
            let secret = secret.map_err(complain).ok()?;
            Some(common.map_or(secret.clone(), |common| secret.with_common(common)))
        });
        Chance { seed: seed.unwrap_or_else(|| fastrand::u64(..)), secret, generations: Arc::default() }
    }
}

/// A socket that the command line asks for, through which others may talk to the router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// A TCP port.
    Port(String),
    /// A UNIX-domain socket.
    File(String),
    /// A connection that the program was started with: its descriptor.
    Connection(String),
    /// One that tells metrics.
    Metrics(MetricsEndpoint),
}

/// Where metrics are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MetricsEndpoint {
    /// A TCP port, on this address or else on this machine's own.
    Tcp(Option<IpAddr>, String),
    /// A UNIX-domain socket.
    File(String),
}

impl FromStr for MetricsEndpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<MetricsEndpoint, String> {
        if text.contains('/') {
            return Ok(MetricsEndpoint::File(text.to_owned()));
        }
        let (address, port) =
            text.rsplit_once(':').map_or((None, text), |(address, port)| (Some(address), port));
        let bare =
            |address: &str| address.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        let number = port.strip_suffix('+').unwrap_or(port).parse::<u16>();
        match (address, address.and_then(bare), number) {
            (None, _, Ok(_)) => Ok(MetricsEndpoint::Tcp(None, port.to_owned())),
            (Some(_), Some(address), Ok(_)) => Ok(MetricsEndpoint::Tcp(Some(address), port.to_owned())),
            _ => {
                Err("a port, ADDRESS:PORT, or the name of a UNIX-domain socket with a '/' in it is expected"
                    .to_owned())
            }
        }
    }
}

/// What is to be run, and what else is to be done.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) input: Input,
    pub(crate) setup: Setup,
    pub(crate) doors: Vec<Door>,
    /// Where the page is.
    #[cfg(feature = "http")]
    pub(crate) pages: crate::http::Places,
    /// Whether the handler `hotconfig` may replace the configuration.
    pub(crate) reconfigure: bool,
    /// What replaces the configuration for clients, and remembers those that ran.
    pub(crate) keeper: Keeper,
    /// Whether there is a socket for the user's other programs.
    pub(crate) own_socket: bool,
    /// Interfaces whose addresses the configuration has to follow.
    pub(crate) taken: Option<Vec<Interface>>,
    /// The interfaces that elements call by numbers.
    pub(crate) ports: DpdkPorts,
    pub(crate) params: Vec<Parameter>,
    /// Where required libraries are searched for.
    pub(crate) clickpath: String,
    /// The file that gets the flat configuration.
    pub(crate) output: Option<String>,
    /// How the program was started, if another one may take its place.
    pub(crate) origin: Option<Origin>,
    /// Whether the router is only set up.
    pub(crate) quit: bool,
    /// Whether to warn of a configuration without elements, which does not run.
    pub(crate) warn_empty: bool,
    /// Handlers to read after the run.
    pub(crate) handlers: Vec<String>,
    /// The handler that has the exit status.
    pub(crate) exit_handler: Option<String>,
}

/// A router that is built.
pub(crate) struct Prepared {
    pub(crate) router: Router,
    stops: Stops,
    text: Text,
    /// What elements could not read of what another program has left.
    unread: Vec<String>,
}

/// Why there is no router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The text cannot be read or parsed.
    Text,
    /// The graph is no router: ports, placement, arguments.
    Router,
}

/// What came of a job.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) took: Took,
    pub(crate) readings: Vec<Reading>,
    /// What went wrong, in order.
    pub(crate) errors: Vec<String>,
    /// What the exit handler says: a number, or why there is none.
    pub(crate) exit: Option<Result<i32, String>>,
    /// Whether a worker panicked: then nothing was read.
    pub(crate) panicked: bool,
    /// Whether the router could not start: a place to listen is taken, for instance.
    pub(crate) unstarted: bool,
}

/// Why the configuration of a router that has taken interfaces over is not replaced by another one.
const FOLLOWS: &str =
    "the configuration is made from the machine's interfaces (--from-host), and follows them";

/// Workers, at most: as many as the kernel's sets of processors have places.
pub(crate) const WORKERS_MAX: u16 = 1024;

/// Seconds since the epoch at which simulated time may start, at most: nanoseconds fit 64 bits with centuries to spare.
const START_MAX_S: f64 = 4e9;

/// Reads the number of seconds since the epoch at which simulated time is to start.
///
/// # Errors
/// What is expected instead.
pub(crate) fn start_s(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(start) if (0.0..=START_MAX_S).contains(&start) => Ok(start),
        _ => Err(format!("a number of seconds between 0 and {START_MAX_S} is expected")),
    }
}

/// A clock that starts at a number of seconds since the epoch and stands still until it is told to jump.
pub(crate) fn simulated_clock(start_s: f64) -> Clock {
    Clock::Simulated(Arc::new(AtomicI64::new((start_s * 1e9) as i64)))
}

impl Job {
    /// Reads, parses and builds, and tells what is wrong. Signals that stop the router are caught once the text is read, unless they are
    /// caught already.
    ///
    /// # Errors
    /// How far it came.
    pub(crate) fn prepare(
        &self,
        caught: Option<Stops>,
        reporter: &mut Reporter,
        known: &Classes,
    ) -> Result<Prepared, Stage> {
        let arrival = arrival::pending();
        let left = arrival.as_ref().map(|arrival| &arrival.image.header.keepsake);
        let text = match left {
            Some(left) => Text { name: left.name.clone(), text: left.text.clone() },
            None => read(&self.input, reporter)?,
        };
        let params = left.map_or(&self.params, |left| &left.parameters);
        let stops = caught.map_or_else(Stops::catch, Ok).map_err(|error| {
            reporter.error(format!("signals cannot be caught: {}", reason(&error)));
            Stage::Router
        })?;
        let mut router = self.build(&text, params, reporter, known, false)?;
        let unread = arrival.map_or_else(Vec::new, |arrival| router.read_state(arrival.estate()));
        Ok(Prepared { router, stops, text, unread })
    }

    /// Parses and builds a text, perhaps one that is to replace the configuration of a router that runs.
    fn build(
        &self,
        text: &Text,
        params: &[Parameter],
        reporter: &mut Reporter,
        known: &Classes,
        replaces: bool,
    ) -> Result<Router, Stage> {
        let like_click = reporter.is_like_click();
        let mut parsed = load::parse(text, params, &self.clickpath, Some(known), like_click);
        reporter.sources(parsed.sources.clone());
        reporter.hide(&parsed.graph, known);
        for (number, door) in self.doors.iter().enumerate() {
            let place = if like_click { "click".to_owned() } else { door.option() };
            parsed.graph.push(door.element(number, place, replaces));
        }
        let mut options = Options {
            workers: self.setup.workers,
            vector: self.setup.vector,
            clock: self.setup.clock.clone(),
            seed: self.setup.chance.seed,
            secret: self.setup.chance.secret.clone(),
            generation: self.setup.chance.generations.fetch_add(1, Relaxed),
            pin: self.setup.pin,
            log: if self.setup.in_clicks_words { Log::Click } else { Log::Stderr },
            reconfigurable: self.reconfigure,
            ..Options::default()
        };
        if parsed.has_errors() {
            if like_click {
                reporter.take(parsed.diagnostics);
            } else {
                options.resources.insert(memory::interfaces(&parsed.graph, options.workers));
                self.provide(&mut options);
                reporter.take(load::all_errors(parsed, &text.text, known, options));
            }
            return Err(Stage::Text);
        }
        reporter.take(parsed.diagnostics);
        if !replaces && !like_click {
            reporter.take(load::unused_parameters(&self.params, &parsed.sources));
        }
        let interfaces = memory::interfaces(&parsed.graph, options.workers);
        reporter.take(memory::warning(&interfaces).into_iter().collect());
        options.resources.insert(interfaces);
        self.provide(&mut options);
        if let Some(arrival) = arrival::pending().filter(|_| !replaces) {
            options.resources.insert(arrival.estate().clone());
        }
        let tell = |found: Vec<Diagnostic>| {
            if replaces {
                reporter.say(&found);
            }
            reporter.take(found);
        };
        load::build(parsed.graph, &parsed.sources, text, known, options, like_click, tell).map_err(|errors| {
            reporter.take(errors);
            Stage::Router
        })
    }

    /// What elements may use of the program.
    fn provide(&self, options: &mut Options) {
        options.resources.insert(self.ports.clone());
        if self.reconfigure {
            options.resources.insert(self.keeper.service());
        }
    }

    /// Finds what is wrong with a configuration that is to replace the one that runs, as far as nothing is opened for it.
    ///
    /// # Errors
    /// What is wrong, and what is odd.
    fn check(&self, proposal: &Proposal, known: &Classes) -> Result<Checked, Refusal> {
        let mut reporter = Reporter::new(Style::Json, true);
        let graph = check::graph(
            &proposal.text,
            &proposal.parameters,
            &self.clickpath,
            self.setup.workers,
            &mut reporter,
            known,
        );
        match graph {
            Some(graph) => Ok(Checked { graph, warnings: reporter.warning_lines() }),
            None => Err(reporter.refusal()),
        }
    }

    /// Builds a router that is to replace one that runs.
    ///
    /// # Errors
    /// What is wrong, and what is odd.
    fn rebuild(&self, proposal: &Proposal, known: &Classes) -> Result<Built, Refusal> {
        let mut reporter = Reporter::new(Style::Json, true);
        let built = self.build(&proposal.text, &proposal.parameters, &mut reporter, known, true);
        let router = built.map_err(|_| reporter.refusal())?;
        let mut warnings = reporter.warning_lines();
        if router.info().nodes.len() == self.doors.len() {
            warnings.push("config: warning: configuration has no elements".to_owned());
        }
        Ok(Built { router, warnings })
    }

    /// Lets others replace the configuration, as far as that is asked for; whether there is who does.
    fn allow_swaps(
        &self,
        router: &Router,
        text: &Text,
        swaps: &Swaps,
        known: &Classes,
    ) -> Result<bool, String> {
        if self.own_socket
            && let Some(own) = address::listen(
                router.handle(),
                self.keeper.service(),
                arrival::pending().and_then(|arrival| arrival.listener()),
            )
        {
            swaps.lead(own);
        } else if !self.reconfigure && self.taken.is_none() {
            return Ok(false);
        }
        let (job, all) = (self.clone(), known.clone());
        let build = move |proposal: &Proposal| job.rebuild(proposal, &all);
        let allowed = swaps.allow(router, self.keeper.clone(), self.params.clone(), build);
        let requests = allowed.map_err(|error| reason(&error))?;
        let (job, known) = (self.clone(), known.clone());
        let start = Start {
            requests: requests.clone(),
            current: swaps.current(),
            known: known.clone(),
            check: Box::new(move |proposal| job.check(proposal, &known)),
            clickpath: self.clickpath.clone(),
            text: text.clone(),
            parameters: self.params.clone(),
            origin: self.origin.clone(),
            swaps: swaps.orders(),
            fixed: self.taken.as_ref().map(|_| FOLLOWS),
        };
        self.keeper.start(start).map_err(|error| reason(&error))?;
        let say = |message: &str| console::tell(&format!("clique run: {message}\n"));
        if let Some(taken) = &self.taken {
            takeover::follow(taken.clone(), move |text| requests.replace_made(text), say)?;
        }
        Ok(true)
    }

    /// Runs the router and does what else is asked for.
    pub(crate) fn run(&self, prepared: &mut Prepared, known: &Classes) -> Outcome {
        let Prepared { router, stops, text, unread } = prepared;
        let mut outcome = Outcome::default();
        if let Some(file) = &self.output
            && let Err(message) = write_flat(file, router)
        {
            outcome.errors.push(message);
        }
        if !self.quit && router.info().nodes.is_empty() {
            if self.warn_empty {
                let name = self.input.name();
                console::show(&format!("warning: {name}: configuration has no elements, exiting\n"));
            }
        } else if !self.quit {
            let swaps = Swaps::new(router.handle());
            let ready = self.allow_swaps(router, text, &swaps, known);
            #[cfg(feature = "http")]
            let ready = ready.and_then(|is_kept| {
                let reloads = is_kept.then(|| self.keeper.service());
                self.pages.start(&swaps.current(), reloads.as_ref())
            });
            let ran = ready.map(|_pages| {
                service::ready(self.setup.workers, router.info().nodes.len());
                let _watchdog = Watchdog::start(swaps.current());
                if let Some(arrival) = arrival::pending() {
                    arrival.forwards(std::mem::take(unread));
                }
                drive::run(router, &swaps, stops)
            });
            swaps.close();
            service::stopping();
            match ran {
                Ok(Ok(took)) => outcome.took = took,
                Ok(Err(Panicked)) => return broken(router, outcome),
                Err(error) => {
                    outcome.unstarted = true;
                    outcome.errors.push(format!("cannot start: {error}"));
                }
            }
        }
        for result in read::read_all(router, &self.handlers) {
            match result {
                Ok(reading) => outcome.readings.push(reading),
                Err(message) => outcome.errors.push(message),
            }
        }
        outcome.exit = self.exit_handler.as_ref().map(|handler| exit_value(router, handler));
        router.finish();
        outcome
    }
}

/// A worker has panicked. Elements complete their files as far as they still can; a service manager sees the status, and starts the
/// program again.
fn broken(router: &mut Router, outcome: Outcome) -> Outcome {
    if catch_unwind(AssertUnwindSafe(|| router.finish())).is_err() {
        console::complain("clique: not all elements could complete their files\n");
    }
    let mut outcome = Outcome { panicked: true, ..outcome };
    outcome.errors.push("a worker has panicked, which is a fault of the program".to_owned());
    outcome
}

impl Door {
    /// The option that asks for it.
    fn option(&self) -> String {
        match self {
            Door::Port(port) => format!("option '-p {port}'"),
            Door::File(file) => format!("option '-u {file}'"),
            Door::Connection(descriptor) => format!("option '--socket {descriptor}'"),
            Door::Metrics(MetricsEndpoint::Tcp(None, port)) => format!("option '--metrics {port}'"),
            Door::Metrics(MetricsEndpoint::Tcp(Some(IpAddr::V6(ip)), port)) => {
                format!("option '--metrics [{ip}]:{port}'")
            }
            Door::Metrics(MetricsEndpoint::Tcp(Some(ip), port)) => format!("option '--metrics {ip}:{port}'"),
            Door::Metrics(MetricsEndpoint::File(file)) => format!("option '--metrics {file}'"),
        }
    }

    /// The element that keeps the door, under the name that Click's driver gives it. What is wrong with it is wrong with what `said` it.
    fn element(&self, number: usize, said: String, replaces: bool) -> lang::Element {
        // The socket of the router that is replaced is still there.
        let again = if replaces { ", RETRIES 1, RETRY_WARNINGS false" } else { "" };
        let place = match self {
            // A port's number or name; anything else is quoted, so that it cannot be more than one argument.
            Door::Port(port) if port.bytes().all(|b| b.is_ascii_alphanumeric() || b"-+".contains(&b)) => {
                format!("TCP, {port}")
            }
            Door::Port(port) => format!("TCP, {}", lang::conf::quote(port)),
            Door::File(file) => format!("UNIX, {}", lang::conf::quote(file)),
            Door::Connection(descriptor) => format!("SOCKET, {descriptor}"),
            Door::Metrics(MetricsEndpoint::Tcp(None, port)) => format!("TCP, {port}"),
            Door::Metrics(MetricsEndpoint::Tcp(Some(address), port)) => {
                format!("TCP, {port}, ADDRESS {address}")
            }
            Door::Metrics(MetricsEndpoint::File(file)) => format!("UNIX, {}", lang::conf::quote(file)),
        };
        let metrics = matches!(self, Door::Metrics(_));
        lang::Element {
            name: match number {
                _ if metrics => format!("clique@@MetricsSocket@{number}"),
                0 => "click_driver@@ControlSocket".to_owned(),
                _ => format!("click_driver@@ControlSocket@{number}"),
            },
            class: if metrics { "MetricsSocket" } else { "ControlSocket" }.to_owned(),
            config: place + again,
            landmark: lang::Landmark { file: said.into(), line: 0 },
            // In none of the texts.
            span: lang::Span { source: u32::MAX, ..lang::Span::default() },
        }
    }
}

/// Reads a configuration's text, and tells why it cannot.
///
/// # Errors
/// That it cannot.
pub(crate) fn read(input: &Input, reporter: &mut Reporter) -> Result<Text, Stage> {
    input::read(input).map_err(|message| {
        reporter.error(message);
        Stage::Text
    })
}

fn write_flat(file: &str, router: &Router) -> Result<(), String> {
    let text = lang::flatten(&router.info().graph);
    let result =
        if file == "-" { console::print(&text) } else { std::fs::write(file, lang::bytes::of_text(&text)) };
    result.map_err(|error| format!("{file}: {}", reason(&error)))
}

/// The number that a handler says, or 0 for true and 1 for false. A parameter may follow the handler's name.
fn exit_value(router: &mut Router, handler: &str) -> Result<i32, String> {
    let (name, parameter) = handler.split_once(' ').unwrap_or((handler, ""));
    let value = router.call(Call::read(name, parameter.trim_start()))?;
    let value = value.trim();
    match value {
        "true" | "yes" | "t" | "y" => Ok(0),
        "false" | "no" | "f" | "n" => Ok(1),
        _ => router::parse_integer(value)
            .and_then(|value| i32::try_from(value).ok())
            .ok_or_else(|| "exit handler value should be integer".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_metrics() {
        let tcp = |address: &str, port: &str| Ok(MetricsEndpoint::Tcp(address.parse().ok(), port.to_owned()));
        for (text, place) in [
            ("9100", tcp("", "9100")),
            ("9100+", tcp("", "9100+")),
            ("0.0.0.0:0", tcp("0.0.0.0", "0")),
            ("[::1]:9100", tcp("::1", "9100")),
            ("./m", Ok(MetricsEndpoint::File("./m".to_owned()))),
        ] {
            assert_eq!(text.parse::<MetricsEndpoint>(), place, "{text}");
        }
        for text in ["", ":9100", "99999", "localhost:9100", "metrics", "1.2.3.4:", "9100:1.2.3.4"] {
            assert!(text.parse::<MetricsEndpoint>().is_err(), "{text}");
        }
    }
}
