//! The program as Click's user-level driver, and as the host of Click's tools.
//!
//! `click_tools` reads the command lines and has the tools; here is what they need of this program.

use crate::job::{Chance, Door, Job, Outcome, Setup, Stage, WORKERS_MAX, simulated_clock, start_s};
use crate::reload::Keeper;
use crate::report::{Reporter, Style};
use crate::status::Status;
use crate::{check, console, input, library};
use click_tools::archive::Member;
use click_tools::driver::{self, Bounds, End, Request};
use click_tools::{Host, Input, Text, tools};
use elements::netdevice::DpdkPorts;
use lang::{Diagnostic, Graph};
use router::{Classes, Clock};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// The exit status of Click for whatever goes wrong.
const FAILURE: u8 = 1;

/// Runs one of Click's programs, the driver or a tool, if this is the name of one.
pub(crate) fn run_as(
    name: &OsStr,
    arguments: impl Iterator<Item = OsString>,
    known: &Classes,
) -> Option<ExitCode> {
    if Path::new(name).file_name().is_some_and(|name| name == "click") {
        return Some(run(arguments, known));
    }
    tools::find(name).map(|tool| tools::run(tool, arguments, &ThisProgram(known)))
}

/// This program, with its element classes.
struct ThisProgram<'a>(&'a Classes);

impl Host for ThisProgram<'_> {
    fn classes(&self) -> &Classes {
        self.0
    }

    fn read(&self, input: &Input) -> Result<(Text, Vec<Member>), String> {
        input::read_with_archive(input)
    }

    fn library(&self, path: &str, name: &str, from: &str) -> Option<(String, String)> {
        library::find(path, name, from)
    }

    fn check(&self, graph: Graph, text: &str) -> Vec<Diagnostic> {
        check::place(graph, &[], text, 1, self.0).1
    }

    fn complain(&self, text: &str) {
        console::complain(text);
    }

    fn write(&self, file: Option<&str>, bytes: &[u8]) -> bool {
        console::write_bytes(file, bytes) == Status::Fine
    }
}

/// Runs the driver with these arguments, without the program's name.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>, known: &Classes) -> ExitCode {
    let bounds = Bounds { threads: WORKERS_MAX, start_s };
    match driver::read(arguments, bounds, &console::complain) {
        Ok(request) => run_request(request, known),
        Err(End::Printed(text)) => {
            let _ = console::print(&text);
            ExitCode::SUCCESS
        }
        Err(End::Bad(message)) => {
            console::complain(&message);
            ExitCode::from(FAILURE)
        }
    }
}

/// Runs what a command line asks for.
fn run_request(request: Request, known: &Classes) -> ExitCode {
    let time = request.time;
    let job = job(request);
    match job.prepare(None, &mut Reporter::new(Style::Click, true), known) {
        Ok(mut prepared) => finish(&job.run(&mut prepared, known), time),
        Err(stage) => {
            if stage == Stage::Router {
                console::complain("Router could not be initialized!\n");
            }
            ExitCode::from(FAILURE)
        }
    }
}

/// The job that a command line asks for. Packets are handled one at a time, so that effects come in Click's order.
fn job(request: Request) -> Job {
    let setup = Setup {
        workers: request.threads,
        vector: 1,
        clock: request.start_s.map_or_else(Clock::real, simulated_clock),
        chance: Chance::new(None, None),
        pin: request.affinity,
        in_clicks_words: true,
    };
    // They are numbered by kind.
    let ports = request.ports.into_iter().map(Door::Port);
    let unix_sockets = request.unix_sockets.into_iter().map(Door::File);
    let connections = request.connections.into_iter().map(Door::Connection);
    Job {
        #[cfg(feature = "http")]
        pages: crate::http::Places::default(),
        input: request.input,
        setup,
        doors: ports.chain(unix_sockets).chain(connections).collect(),
        reconfigure: request.reconfigure,
        keeper: Keeper::new(),
        own_socket: false,
        taken: None,
        ports: DpdkPorts(request.dpdk_ports),
        params: request.params,
        clickpath: request.clickpath,
        output: request.output,
        origin: None,
        quit: request.quit,
        warn_empty: request.warnings,
        handlers: request.handlers,
        exit_handler: request.exit_handler,
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
        _ if outcome.panicked => Status::Fault.into(),
        Some(Ok(value)) => ExitCode::from((value & 0xff) as u8),
        Some(Err(_)) => ExitCode::from(u8::MAX), // Click's -1
        None if outcome.errors.is_empty() => ExitCode::SUCCESS,
        None => ExitCode::from(FAILURE),
    }
}
