//! The clique program: runs, checks and prints Click configurations.
//!
//! [`main_with`] is the whole program with element classes of one's own: a package of elements needs a `main` of one line.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     clique::main_with(&[])
//! }
//! ```
//!
//! Each subcommand is a module that takes its arguments and returns the exit status; this file combines them with the
//! element library and does nothing else. Called as `click`, the program takes the options of Click's user-level
//! driver, and called as `click-flatten` and the like, those of Click's tools. Unit tests are beside the code;
//! `tests/` runs the program as its users do.
//!
//! Exit status: 0 success, 1 wrong or unreadable configuration, 2 wrong command line, 3 failure while or after the
//! router ran, 4 a worker panicked.

#![forbid(unsafe_code)]

mod address;
mod advice;
mod check;
mod click;
mod cluster;
mod console;
mod ctl;
mod demo;
mod doctor;
mod drive;
mod glob;
#[cfg(feature = "http")]
mod http;
mod input;
mod job;
mod library;
mod load;
mod manual;
mod memory;
mod new;
mod observe;
mod offline;
#[cfg(feature = "pages")]
mod pages;
mod pinpoint;
mod print;
mod read;
mod reload;
mod remedies;
mod reply;
mod report;
mod routes;
mod run;
mod service;
mod status;
mod stops;
mod swap;
mod takeover;
mod top;
mod upgrade;
mod watchdog;

#[cfg(feature = "pages")]
use clap::CommandFactory;
use clap::{Parser, Subcommand};
use router::{Class, Classes};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs routers that are programmed in the Click language, on several cores.
#[derive(Parser, Debug)]
#[command(name = "clique", version, after_help = AFTER_HELP)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "Click's tools are there as well, 'clique click-flatten --help' for instance, or through links of \
    their names: click-flatten, click-check, click-pretty, click-undead, click-align,\n    click-xform, click-combine, click-uncombine, click2xml, xml2click, click-buildtool,\n    click-fastclassifier, click-devirtualize.\n\n\
    Exit status: 0 fine, 1 wrong or unreadable configuration, 2 wrong command line, 3 failure while or after the router ran, 4 a worker panicked.";

const EXIT_STATUS: &str = "Exit status: 0 fine, 1 wrong or unreadable configuration, 2 wrong command line, \
    3 failure while or after the router ran, 4 a worker panicked.";

const RELOAD_STATUS: &str = "Exit status: 0 the configuration runs (or would, with --dry-run), 1 it is wrong or cannot be read, or --shadow \
    has shown differences, or no packets came, and that was not accepted, 2 wrong command line, 3 any other failure, as elements that cannot run in shadow.\n\
    But for 0 nothing has changed.";

const UPGRADE_STATUS: &str = "Exit status: 0 the new program forwards (or could, with --dry-run), 2 wrong command line, 3 the one before goes on, and why was said.";

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a configuration until it stops or is interrupted.
    ///
    /// The configuration is a text in the Click language; a parameter KEY=VALUE replaces the value that the
    /// configuration defines for $KEY. SIGINT, SIGTERM and SIGHUP stop the router in order: handlers are read, files are
    /// completed. A further signal ends the program at once if it comes more than a second later.
    #[command(after_help = EXIT_STATUS)]
    Run(run::Args),
    /// Forward packets through the full Internet table, on all cores, while routes change.
    #[command(after_help = EXIT_STATUS)]
    Demo(demo::Args),
    /// Put another configuration in the place of the one that a running router has, while packets go on.
    ///
    /// Elements hand over their state to those of the same name and class. If anything is wrong with the configuration, it is said as
    /// 'clique check' says it, and nothing changes. A router with the option '-p' or '-u' takes this from there if it has '-R' as well.
    #[command(after_help = RELOAD_STATUS)]
    Reload(reload::Args),
    /// Keep the configuration that 'clique reload --confirm' has put on trial.
    Confirm(reload::ConfirmArgs),
    /// Go back to the configuration before, or to the one that has this number.
    Rollback(reload::NumberArgs),
    /// List the configurations that a running router has had, or print one.
    History(reload::NumberArgs),
    /// Have another version of the program take over a running router, with its sockets and its state.
    ///
    /// The process stays. PROGRAM is tried first; if it does not know the configuration, or cannot take over, nothing changes. While it
    /// begins packets wait. If it cannot begin after all, the program before goes on. Only the router's own user, or root, may ask for it, through
    /// a UNIX-domain socket.
    #[command(after_help = UPGRADE_STATUS)]
    Upgrade(reload::UpgradeArgs),
    /// Answer the router that wants this program to take over.
    #[command(name = upgrade::trial::SUBCOMMAND, hide = true, disable_help_flag = true)]
    Try {
        /// The command line of the router.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Read and write handlers of a running router.
    ///
    /// The only router of the user that runs is meant, or that of a unit, unless '-p' or '-u' says where another one listens. Without a
    /// command, lines with commands are read from standard input, at a terminal with history and completion.
    #[command(after_help = EXIT_STATUS)]
    Ctl(ctl::Args),
    /// Show what a running router does: workers, elements, queues, drops, interfaces, tables.
    ///
    /// The router is found as by 'clique ctl'. Rates are per second, from one reading to the
    /// next. A router that goes away is waited for.
    #[command(after_help = EXIT_STATUS)]
    Top(top::Args),
    /// Follow packets through a running router, element by element.
    ///
    /// Shows times, inputs, header fields that change, what decided in an element (a rule, a route, a neighbour, a flow), and why a packet
    /// was dropped; then the different ways and how many packets took each. Copies of a packet, and what elements make because of it, are
    /// followed, too. It ends after N packets, after some seconds, and with its reader; one trace runs at a time.
    #[command(after_help = EXIT_STATUS)]
    Trace(observe::trace::Args),
    /// Show what a running router drops: where, why, how often, and a packet as an example.
    #[command(after_help = EXIT_STATUS)]
    Drops(observe::drops::Args),
    /// Capture the packets of any edge of a running router.
    ///
    /// 'clique capture -u SOCKET q[0] -w - | tshark -r -' shows what leaves q. What the reader is too slow for is lost, and counted.
    #[command(after_help = EXIT_STATUS)]
    Capture(observe::capture::Args),
    /// Say what would become of a packet, by the tables as they are, and send nothing.
    ///
    /// Every element on the way is named with what it would do and why. Elements that keep that to themselves are named as such, and the
    /// explanation ends there.
    #[command(after_help = EXIT_STATUS)]
    Explain(observe::explain::Args),
    /// Show where a running router's time goes, element by element.
    ///
    /// One turn in a thousand of each worker is measured; batches and their sizes are those of these turns.
    #[command(after_help = EXIT_STATUS)]
    Runtime(observe::runtime::Args),
    /// Convert, compare and inspect files of routes.
    ///
    /// Files can be lists, the output of 'ip -j route' or 'ip route', or MRT files, plain or compressed by gzip, bzip2, xz or zstd.
    /// What cannot be read or used of a file is left out and reported, with its line or record.
    Routes(routes::Args),
    /// Say what is wrong with a configuration, and which worker would run what.
    ///
    /// All arguments of elements are checked, but no interface is opened and no file is written; 'clique run --quit' finds
    /// mistakes that show only then. Interfaces need not be here, unless '--here' says so. The table shows for each worker the
    /// elements that have an instance there, their inputs and outputs ('h' push, 'l' pull), and how elements of their class
    /// live on several workers.
    Check(check::Args),
    /// Write a configuration to begin with, for this machine's interfaces.
    ///
    /// It is one of the examples (conf/linux-router.click, nat.click, firewall.click) with the names and addresses of two interfaces: the one of the default route
    /// leads outside. What this machine does not tell is left as in the example and named in the first lines.
    New(new::Args),
    /// Say whether this machine and its interfaces are ready for a router, and what to do about it.
    ///
    /// Nothing is changed, and no interface is opened. Exit status 1 says that something is in the way (!!).
    Doctor(doctor::Args),
    /// Print a configuration without compound elements and variables.
    Flatten(print::Args),
    /// Print a configuration, formatted.
    Pretty(print::Args),
    /// Draw a configuration.
    Graph(print::GraphArgs),
    /// Many servers as one router: plan, simulate, run.
    #[command(after_help = EXIT_STATUS)]
    Cluster(cluster::Args),
    /// List the element classes, or print the manual of one.
    Elements(manual::Args),
    /// Behave as Click's user-level driver, as when called under the name 'click'.
    #[command(disable_help_flag = true)]
    Click {
        /// The driver's arguments; '--help' lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Print a manual page.
    #[cfg(feature = "pages")]
    Man(pages::ManArgs),
    /// Print a script that completes command lines.
    #[cfg(feature = "pages")]
    Completions(pages::CompletionsArgs),
}

/// All element classes of the program, with those of a package.
fn classes(package: &[&'static Class]) -> Classes {
    let own = elements::classes();
    let all = own.iter().chain(control::CLASSES.iter().copied()).chain(package.iter().copied());
    Classes::new(all).with_interfaces(elements::INTERFACES).with_filters(elements::FILTERS)
}

/// Runs the program with the process's arguments and with these classes beside its own; a class takes the place of one of the
/// same name. All subcommands know them: `run`, `check`, `ctl`, `elements` and the rest.
pub fn main_with(package: &[&'static Class]) -> ExitCode {
    upgrade::arrival::begin();
    if upgrade::arrival::pending().is_none() {
        return program(package);
    }
    let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| program(package)));
    // Only if it has not begun to forward.
    upgrade::arrival::fail("it has ended at once; the standard error says more");
    status.unwrap_or_else(|_| status::Status::Fault.into())
}

fn program(package: &[&'static Class]) -> ExitCode {
    let known = classes(package);
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // Click's programs are seen to before clap looks at what follows, lest it take a `--` that is meant for them.
    if let Some(status) = click::run_as(&name, arguments.by_ref(), &known) {
        return status;
    }
    let command = arguments.next().unwrap_or_default();
    if let Some(status) = click::run_as(&command, arguments, &known) {
        return status;
    }
    let parsed = Program::try_parse().unwrap_or_else(|error| {
        upgrade::arrival::fail(&error.to_string());
        error.exit()
    });
    match parsed.command {
        Command::Run(args) => run::run(args, &known),
        Command::Demo(args) => demo::run(&args, &known),
        Command::Reload(args) => reload::run(&args, &known).into(),
        Command::Confirm(args) => reload::confirm(&args).into(),
        Command::Rollback(args) => reload::roll_back(&args).into(),
        Command::History(args) => reload::history(&args).into(),
        Command::Upgrade(args) => reload::upgrade(&args).into(),
        Command::Try { arguments } => {
            upgrade::trial::answer(|question| try_out(&arguments, question, &known)).into()
        }
        Command::Ctl(args) => ctl::run(&args, &known).into(),
        Command::Top(args) => top::run(&args).into(),
        Command::Trace(args) => observe::trace::run(&args).into(),
        Command::Drops(args) => observe::drops::run(&args).into(),
        Command::Capture(args) => observe::capture::run(&args).into(),
        Command::Explain(args) => observe::explain::run(&args, &known).into(),
        Command::Runtime(args) => observe::runtime::run(&args).into(),
        Command::Routes(args) => routes::run(&args).into(),
        Command::Check(args) => check::run(&args, &known).into(),
        Command::New(args) => new::run(&args).into(),
        Command::Doctor(args) => doctor::run(&args).into(),
        Command::Flatten(args) => print::flatten(&args).into(),
        Command::Pretty(args) => print::pretty(&args).into(),
        Command::Graph(args) => print::graph(&args).into(),
        Command::Cluster(args) => cluster::run(&args, &known),
        Command::Elements(args) => manual::run(&args, &known).into(),
        Command::Click { arguments } => click::run(arguments, &known),
        #[cfg(feature = "pages")]
        Command::Man(args) => pages::man(&args, Program::command()).into(),
        #[cfg(feature = "pages")]
        Command::Completions(args) => pages::completions(&args, Program::command()).into(),
    }
}

/// Whether this program understands a router's command line and its configuration.
fn try_out(
    arguments: &[OsString],
    question: &upgrade::trial::Question,
    known: &Classes,
) -> Result<(), String> {
    let words = std::iter::once(OsString::from("clique")).chain(arguments.iter().cloned());
    match Program::try_parse_from(words).map_err(|error| error.to_string())?.command {
        Command::Run(args) => run::try_out(&args, question, known),
        _ => Err("only 'clique run' takes over from another program".to_owned()),
    }
}
