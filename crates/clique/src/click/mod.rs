//! The program as Click's user-level driver: its options, its messages, its exit status.
//!
//! Packets are handled one at a time here, so that effects come in Click's order.

mod dpdk;
mod options;

use crate::clp::{Item, Items};
use crate::console;
use crate::input::{self, Input, Parameter};
use crate::job::{Door, Job, Outcome, Setup, Stage, WORKERS_MAX, simulated_clock, start_s};
use crate::report::{Reporter, Style};
use elements::netdevice::DpdkPorts;
use options::{Id, OPTIONS};
use router::{Classes, Clock};
use std::ffi::OsString;
use std::process::ExitCode;

/// The exit status of Click for whatever goes wrong.
const FAILURE: u8 = 1;

/// Seconds since the epoch at which simulated time starts unless said otherwise.
const SIMULATION_START_S: f64 = 1e9;

const SHORT_USAGE: &str = "Usage: click [OPTION]... [ROUTERFILE]\nTry 'click --help' for more information.\n";

const HELP: &str = "\
Usage: click [OPTION]... [ROUTERFILE] [PARAMETER=VALUE]...

Reads the router configuration in ROUTERFILE, or standard input, and runs it until
it stops or is interrupted.

  -f, --file FILE               Read the configuration from FILE.
  -e, --expression EXPR         Take EXPR itself as the configuration.
  -j, --threads N               Run N threads (default 1).
  -a, --affinity[=N]            Keep each thread on one processor, the first on
                                processor N (default 0).
  -h, --handler ELEMENT.H       After the run, print the value of handler H of
                                ELEMENT, which may be a pattern or a class.
  -x, --exit-handler ELEMENT.H  Exit with the value of a handler.
  -p, --port PORT               Let others call handlers through TCP port PORT of
                                this machine (127.0.0.1); PORT+: or a later one.
  -u, --unix-socket FILE        Let others call handlers through a UNIX socket.
      --socket FD               Let the other end of the connection with this file
                                descriptor call handlers.
  -R, --allow-reconfigure       Offer the handler 'hotconfig', which replaces the
                                configuration.
  -o, --output FILE             Write the flat configuration to FILE.
  -q, --quit                    Do not run the configuration.
  -t, --time                    Print how long the run took.
  -w, --no-warnings             Do not warn of a configuration without elements.
      --simtime[=START]         Simulate time, starting at START seconds.
  -C, --clickpath PATH          Search PATH for libraries, not $CLICKPATH.
      --dpdk ARGUMENT... --     Take what FastClick hands to DPDK: as many threads as
                                it names cores (-l, -c) run; ports of FromDPDKDevice
                                are the devices that it names (-a, -w, --vdev with
                                iface=); the rest is ignored. With -c, -l or -n,
                                '--dpdk' may be left out.
      --help                    Print this help.
  -v, --version                 Print the version.
";

/// What the command line asks for.
struct Request {
    input: Option<Input>,
    params: Vec<Parameter>,
    doors: Vec<Door>,
    reconfigure: bool,
    clickpath: String,
    threads: usize,
    affinity: Option<usize>,
    start_s: Option<f64>,
    handlers: Vec<String>,
    exit_handler: Option<String>,
    output: Option<String>,
    quit: bool,
    time: bool,
    warnings: bool,
}

/// Runs the driver with these arguments, without the program's name.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>, known: &Classes) -> ExitCode {
    let (arguments, dpdk) = dpdk::part(arguments);
    let threads = dpdk.as_ref().and_then(|dpdk| dpdk.cores).unwrap_or(1);
    if dpdk.is_some() {
        console::complain(
            "click: arguments for DPDK are ignored, but for the number of cores and the devices\n",
        );
    }
    let ports = DpdkPorts(dpdk.map(|dpdk| dpdk.devices).unwrap_or_default());
    match Request::read(Items::new("click", OPTIONS, arguments), threads.min(WORKERS_MAX.into())) {
        Ok(request) => request.run(ports, known),
        Err(End::Printed(text)) => {
            let _ = console::print(&text);
            ExitCode::SUCCESS
        }
        Err(End::Bad(message)) => {
            console::complain(&format!("{message}\n{SHORT_USAGE}"));
            ExitCode::from(FAILURE)
        }
    }
}

/// Why nothing is run.
enum End {
    /// Only a text was asked for.
    Printed(String),
    /// The command line is wrong.
    Bad(String),
}

/// Sets what may be set once.
fn once<T>(place: &mut Option<T>, value: T, what: &str) -> Result<(), End> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(End::Bad(format!("{what} specified twice"))),
    }
}

impl Request {
    /// What the command line says; so many threads run unless it says how many.
    fn read(items: Items<Id>, threads: usize) -> Result<Request, End> {
        let mut request = Request {
            input: None,
            params: Vec::new(),
            doors: Vec::new(),
            reconfigure: false,
            clickpath: input::default_clickpath(),
            threads,
            affinity: None,
            start_s: None,
            handlers: Vec::new(),
            exit_handler: None,
            output: None,
            quit: false,
            time: false,
            warnings: true,
        };
        for item in items {
            match item.map_err(|message| End::Bad(format!("click: {message}")))? {
                Item::Word(word) => request.word(word)?,
                Item::Option { id, negated, value } => {
                    request.option(id, negated, value.unwrap_or_default())?;
                }
            }
        }
        Ok(request)
    }

    fn set_input(&mut self, input: Input) -> Result<(), End> {
        once(&mut self.input, input, "router configuration")
    }

    fn word(&mut self, word: String) -> Result<(), End> {
        let Some((name, value)) = input::parameter(&word) else { return self.set_input(Input::named(word)) };
        if self.params.iter().any(|(known, _)| *known == name) {
            // As in Click, this is said at once, and the first value counts.
            console::complain(&format!("parameter '{name}' multiply defined\n"));
        } else {
            self.params.push((name, value));
        }
        Ok(())
    }

    fn option(&mut self, id: Id, negated: bool, value: String) -> Result<(), End> {
        match id {
            Id::File => self.set_input(Input::named(value))?,
            Id::Expression => self.set_input(Input::Expression(value))?,
            Id::Output => once(&mut self.output, value, "output file")?,
            Id::ExitHandler => once(&mut self.exit_handler, value, "--exit-handler")?,
            Id::Handler => self.handlers.push(value),
            Id::Clickpath => self.clickpath = value,
            Id::Quit => self.quit = true,
            Id::Time => self.time = true,
            Id::Affinity if negated => self.affinity = None,
            // It was checked to be a number, if there is one.
            Id::Affinity => {
                let first = router::parse_integer(&value).and_then(|first| usize::try_from(first).ok());
                self.affinity = Some(first.unwrap_or(0));
            }
            Id::Warnings => self.warnings = !negated,
            Id::NoWarnings => self.warnings = false,
            // It was checked to be a number; a negative one means one thread, as in Click.
            Id::Threads => {
                let threads = router::parse_integer(&value).unwrap_or(1).max(1);
                if threads > i128::from(WORKERS_MAX) {
                    return Err(End::Bad(format!("click: there can be {WORKERS_MAX} threads at most")));
                }
                self.threads = usize::try_from(threads).unwrap_or(1);
            }
            Id::SimulatedTime if value.is_empty() => self.start_s = Some(SIMULATION_START_S),
            Id::SimulatedTime => {
                let start =
                    start_s(&value).map_err(|error| End::Bad(format!("click: '--simtime': {error}")))?;
                self.start_s = Some(start);
            }
            Id::Help => return Err(End::Printed(HELP.to_owned())),
            Id::Version => {
                let version = env!("CARGO_PKG_VERSION");
                return Err(End::Printed(format!("click (Clique {version}, compatible with Click) 2.1\n")));
            }
            Id::Port => self.doors.push(Door::Port(value)),
            Id::UnixSocket => self.doors.push(Door::File(value)),
            Id::Socket => self.doors.push(Door::Connection(value)),
            Id::Reconfigure => self.reconfigure = !negated,
        }
        Ok(())
    }

    fn run(self, ports: DpdkPorts, known: &Classes) -> ExitCode {
        let setup = Setup {
            workers: self.threads,
            vector: 1,
            clock: self.start_s.map_or_else(Clock::real, simulated_clock),
            seed: fastrand::u64(..),
            pin: self.affinity,
        };
        // They are numbered by kind.
        let mut doors = self.doors;
        doors.sort_by_key(|door| match door {
            Door::Port(_) => 0,
            Door::File(_) => 1,
            Door::Connection(_) | Door::Metrics(_) => 2,
        });
        let job = Job {
            input: self.input.unwrap_or(Input::Stdin),
            setup,
            doors,
            reconfigure: self.reconfigure,
            taken: None,
            ports,
            params: self.params,
            clickpath: self.clickpath,
            output: self.output,
            quit: self.quit,
            warn_empty: self.warnings,
            handlers: self.handlers,
            exit_handler: self.exit_handler,
        };
        let mut reporter = Reporter::new(Style::Click, true);
        match job.prepare(&mut reporter, known) {
            Ok(mut router) => finish(&job.run(&mut router, known), self.time),
            Err(stage) => {
                if stage == Stage::Router {
                    console::complain("Router could not be initialized!\n");
                }
                ExitCode::from(FAILURE)
            }
        }
    }
}

/// Prints what came of a run; the exit status.
fn finish(outcome: &Outcome, time: bool) -> ExitCode {
    let mut text = if time { outcome.took.line() } else { String::new() };
    text.extend(outcome.readings.iter().map(|reading| reading.text()));
    // First what is wrong: where both go to one file or pipe, Click's standard output comes later, since it is buffered.
    let failed = outcome.exit.as_ref().and_then(|exit| exit.as_ref().err());
    for message in outcome.errors.iter().chain(failed) {
        console::complain(&format!("{message}\n"));
    }
    let _ = console::print(&text);
    match &outcome.exit {
        Some(Ok(value)) => ExitCode::from((value & 0xff) as u8),
        Some(Err(_)) => ExitCode::from(u8::MAX), // Click's -1
        None if outcome.errors.is_empty() => ExitCode::SUCCESS,
        None => ExitCode::from(FAILURE),
    }
}
