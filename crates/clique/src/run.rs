//! `clique run`: runs a configuration.

use crate::input::InputArgs;
use crate::job::{Chance, Door, Job, MetricsEndpoint, Outcome, Setup, WORKERS_MAX, simulated_clock, start_s};
use crate::reload::Keeper;
use crate::report::{Reporter, Style};
use crate::status::Status;
use crate::stops::Stops;
use crate::takeover::{self, Takeover};
use crate::upgrade::arrival;
use crate::upgrade::order::Origin;
use crate::upgrade::trial::Question;
use crate::{check, console, report};
use clap::ValueHint;
use click_tools::{Input, Parameter, Text};
use router::{Classes, Clock, DEFAULT_VECTOR, Level, Router};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Arguments of `clique run`.
#[derive(clap::Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    /// Run N workers, each on a thread of its own.
    #[arg(short = 'j', long, value_name = "N", default_value = "1",
          value_parser = clap::value_parser!(u16).range(1..=i64::from(WORKERS_MAX)))]
    threads: u16,

    /// Keep each of several workers on one processor.
    #[arg(short = 'a', long, value_name = "BOOL", default_value = "true", num_args = 0..=1,
          default_missing_value = "true", require_equals = true)]
    affinity: bool,

    /// Forward between this machine's own interfaces (those named, or all that are up and have an address), in the place
    /// of its kernel, which keeps addresses and routes. What is changed is put back at the end, or, if the program was killed, at the
    /// next start. With '-q -o -' only print the configuration.
    #[arg(long, value_name = "INTERFACE,...", num_args = 0..=1, require_equals = true, value_delimiter = ',',
          conflicts_with_all = ["words", "expression", "file"])]
    from_host: Option<Vec<String>>,

    /// After the run, read this handler and print its value. ELEMENT may be a pattern or a class; the option can be
    /// given several times.
    #[arg(short = 'h', long = "handler", value_name = "ELEMENT.HANDLER")]
    handlers: Vec<String>,

    /// Exit with the value of this handler, a number or a boolean.
    #[arg(short = 'x', long, value_name = "ELEMENT.HANDLER")]
    exit_handler: Option<String>,

    /// Let programs on this machine call handlers through TCP port PORT; see 'clique ctl' and 'clique elements
    /// ControlSocket'. The option can be given several times.
    #[arg(short = 'p', long = "port", value_name = "PORT")]
    ports: Vec<String>,

    /// Let programs on this machine call handlers through the UNIX-domain socket FILE. The option can be given several
    /// times.
    #[arg(short = 'u', long = "unix-socket", value_name = "FILE", value_hint = ValueHint::FilePath)]
    unix_sockets: Vec<String>,

    /// Do without the socket in $XDG_RUNTIME_DIR/clique, or for root without that variable in /run/clique, at which the user's own 'clique ctl', 'clique top'
    /// and 'clique reload' find the router.
    #[arg(long)]
    no_socket: bool,

    /// Tell metrics by HTTP, at /metrics, for Prometheus and the like: on a TCP port of this machine, of another address (0.0.0.0: all), or
    /// on the UNIX-domain socket FILE, whose name has a '/' in it. The option can be given several times.
    #[arg(long, value_name = "[ADDRESS:]PORT|FILE", value_hint = ValueHint::FilePath)]
    metrics: Vec<MetricsEndpoint>,

    /// Show the router on a page, and to programs (/api/v1/openapi.json): on a TCP port of this machine, of another address, or on the UNIX-domain socket
    /// FILE, whose name has a '/' in it. The option can be given several times.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "[ADDRESS:]PORT|FILE", value_hint = ValueHint::FilePath)]
    http: Vec<http_api::Listen>,

    /// Let those who send the first line of FILE (`Authorization: Bearer`) write handlers by --http, and replace the configuration.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "http")]
    http_token: Option<std::path::PathBuf>,

    /// Offer the handler 'hotconfig': what is written to it replaces the configuration while the router runs.
    #[arg(short = 'R', long)]
    allow_reconfigure: bool,

    /// Write the flat configuration to FILE ('-': standard output).
    #[arg(short = 'o', long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<String>,

    /// Set the router up, but do not run it.
    #[arg(short = 'q', long)]
    quit: bool,

    /// Print how long the run took.
    #[arg(short = 't', long)]
    time: bool,

    /// Do not print warnings.
    #[arg(short = 'w', long)]
    no_warnings: bool,

    /// Write messages as lines of text with time and level (in the journal with its priorities instead), or as objects of JSON, one a line, with
    /// time, level and element.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", hide_default_value = true)]
    log_format: console::LogFormat,

    /// Write only messages that matter as much as this, or more. What elements print on purpose is always written.
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "debug", hide_default_value = true)]
    log_level: console::LogLevel,

    /// Simulate time, which starts at START seconds and jumps ahead whenever there is nothing to do.
    #[arg(long, visible_alias = "simulation-time", value_name = "START", num_args = 0..=1,
          default_missing_value = "1000000000", require_equals = true, value_parser = start_s)]
    simtime: Option<f64>,

    /// Handle up to N packets at a time; with 1, effects come in exactly Click's order.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_VECTOR as u8,
          value_parser = clap::value_parser!(u8).range(1..=packet::BATCH_MAX as i64))]
    vector: u8,

    /// Draw all random numbers from this seed [default: none, they cannot be foretold; 0 in simulated time].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Let at most so much memory wait until no worker holds it any more, of replaced routes, next hops, neighbours and the like.
    /// Beyond that, changes wait or are refused. K, M and G stand for powers of 1024.
    #[arg(long, value_name = "BYTES", default_value = "64M", value_parser = bytes)]
    rcu_limit: usize,

    /// Print diagnostics, handler values and statistics as one JSON object.
    #[arg(long)]
    json: bool,

    /// Print help.
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

/// Reads a number of bytes: `65536`, `64K`, `64M`, `1G`.
fn bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.to_ascii_uppercase().as_str() {
        upper if upper.ends_with('K') => (&text[..text.len() - 1], 10),
        upper if upper.ends_with('M') => (&text[..text.len() - 1], 20),
        upper if upper.ends_with('G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| "a number of bytes expected, such as 64M")?;
    let bytes = number.checked_mul(1 << shift).ok_or("too much")?;
    if bytes < LEAST_RCU_LIMIT { Err("at least 64K expected".to_owned()) } else { Ok(bytes) }
}

/// With less, single changes are refused when others wait.
const LEAST_RCU_LIMIT: usize = 64 << 10;

/// Runs `clique run`.
pub(crate) fn run(args: Args, known: &Classes) -> ExitCode {
    console::log_as(args.log_format, args.log_level);
    // What is taken over has to be given back, whenever a signal comes.
    let stops = match args.from_host.as_ref().map(|_| Stops::catch()).transpose() {
        Ok(stops) => stops,
        Err(error) => {
            console::show(&format!("clique run: signals cannot be caught: {}\n", console::reason(&error)));
            return Status::Failure.into();
        }
    };
    let (input, params, takeover) = match meant(&args) {
        Ok(found) => found,
        Err(message) => {
            console::show(&format!("clique run: {message}\n"));
            return Status::Usage.into();
        }
    };
    if let (Some(stops), Some(takeover)) = (&stops, &takeover) {
        stops.before_death(takeover.give_back());
        console::tell(&format!("clique run: {}\n", takeover.summary()));
    }
    if args.json && args.output.as_deref() == Some("-") {
        console::show("clique run: with --json the flat configuration has to go to a file\n");
        return Status::Usage.into();
    }
    rcu::Domain::global().set_limit_bytes(args.rcu_limit);
    let real = || arrival::pending().map_or_else(Clock::real, |arrival| arrival.clock());
    let clock = args.simtime.map_or_else(real, simulated_clock);
    let seed = args.seed.or_else(|| clock.is_simulated().then_some(0));
    let setup = Setup {
        workers: args.threads.into(),
        vector: args.vector.into(),
        clock,
        chance: Chance::new(seed, arrival::pending().map(|arrival| arrival.common_seed())),
        pin: (args.affinity && args.threads > 1).then_some(0),
        in_clicks_words: false,
    };
    let ports = args.ports.into_iter().map(Door::Port);
    let job = Job {
        input,
        setup,
        doors: ports
            .chain(args.unix_sockets.into_iter().map(Door::File))
            .chain(args.metrics.into_iter().map(Door::Metrics))
            .collect(),
        #[cfg(feature = "http")]
        pages: crate::http::Places { listen: args.http, token: args.http_token },
        reconfigure: args.allow_reconfigure,
        keeper: Keeper::new(),
        own_socket: !args.no_socket && !args.quit && args.simtime.is_none(),
        taken: takeover.as_ref().map(|takeover| takeover.interfaces().to_vec()),
        ports: elements::netdevice::DpdkPorts::default(),
        params,
        clickpath: args.input.clickpath(),
        output: args.output,
        origin: Origin::of_this().filter(|_| args.from_host.is_none() && args.simtime.is_none()),
        quit: args.quit,
        warn_empty: !args.no_warnings && !args.json,
        handlers: args.handlers,
        exit_handler: args.exit_handler,
    };
    let style = if args.json { Style::Json } else { Style::Excerpts };
    let mut reporter = Reporter::new(style, !args.no_warnings);
    let Ok(mut prepared) = job.prepare(stops, &mut reporter, known) else {
        if args.json {
            report::print_json(&json!({ "diagnostics": reporter.json() }));
        }
        return Status::Configuration.into();
    };
    let outcome = job.run(&mut prepared, known);
    // While signals are still caught: the second of two that ask for one stop may come now.
    drop(takeover);
    let printed = if args.json {
        report::print_json(&statistics(&prepared.router, &outcome, &reporter))
    } else {
        print_text(&outcome, args.time)
    };
    exit_code(&outcome, printed)
}

/// Whether a router with these arguments could run a configuration, as far as nothing is opened for it.
///
/// # Errors
/// What is wrong, in lines.
pub(crate) fn try_out(args: &Args, question: &Question, known: &Classes) -> Result<(), String> {
    let text = Text { name: question.name.clone(), text: question.text.clone() };
    let mut reporter = Reporter::new(Style::Json, true);
    let (path, workers) = (args.input.clickpath(), usize::from(args.threads));
    match check::graph(&text, &question.parameters, &path, workers, &mut reporter, known) {
        Some(_) => Ok(()),
        None => Err(reporter.refusal().lines),
    }
}

/// The configuration and its parameters; with `--from-host` the machine's interfaces are taken over, unless the router is not
/// to run.
fn meant(args: &Args) -> Result<(Input, Vec<Parameter>, Option<Takeover>), String> {
    let Some(names) = &args.from_host else {
        let (input, params) = args.input.resolve()?;
        return Ok((input, params, None));
    };
    let interfaces = takeover::find(names)?;
    let input = Input::Expression(takeover::configuration(&interfaces));
    let say = |message: &str| console::say(Level::Warning, &format!("clique run: {message}\n"));
    let left = if args.quit { None } else { takeover::left_to_kernel(&interfaces)? };
    let taken = if args.quit { None } else { Some(Takeover::of(&interfaces, say)?) };
    left.inspect(|warning| say(warning));
    Ok((input, Vec::new(), taken))
}

/// Prints values, and what went wrong.
fn print_text(outcome: &Outcome, time: bool) -> Status {
    let mut text = if time { outcome.took.line() } else { String::new() };
    text.extend(outcome.readings.iter().map(|reading| reading.text()));
    let failed = outcome.exit.as_ref().and_then(|exit| exit.as_ref().err());
    for message in outcome.errors.iter().chain(failed) {
        console::show(&format!("{message}\n"));
    }
    console::write_result(None, &text)
}

fn exit_code(outcome: &Outcome, printed: Status) -> ExitCode {
    match &outcome.exit {
        _ if outcome.panicked => Status::Fault.into(),
        _ if outcome.unstarted => Status::Configuration.into(),
        Some(Err(_)) => Status::Failure.into(),
        _ if printed != Status::Fine || !outcome.errors.is_empty() => Status::Failure.into(),
        Some(Ok(value)) => ExitCode::from((value & 0xff) as u8), // as every process: the low byte
        None => Status::Fine.into(),
    }
}

/// The report of `--json`.
fn statistics(router: &Router, outcome: &Outcome, reporter: &Reporter) -> Value {
    let info = router.info();
    let drops: Vec<Value> = (router.drops().into_iter())
        .map(|(element, reason, packets)| {
            json!({ "element": info.nodes[element].name, "reason": reason, "packets": packets })
        })
        .collect();
    let failed = outcome.exit.as_ref().and_then(|exit| exit.as_ref().err());
    json!({
        "diagnostics": reporter.json(),
        "errors": outcome.errors.iter().chain(failed).collect::<Vec<_>>(),
        "handlers": outcome.readings.iter()
            .map(|reading| json!({ "name": reading.name, "value": reading.value }))
            .collect::<Vec<_>>(),
        "elements": info.nodes.len(),
        "workers": router.workers(),
        "vector": info.vector,
        "seed": info.given_seed(),
        "elapsed_s": outcome.took.elapsed.as_secs_f64(),
        "user_s": outcome.took.user.as_secs_f64(),
        "system_s": outcome.took.system.as_secs_f64(),
        "dispatches": router.dispatches(),
        "drops": drops,
    })
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn numbers_of_bytes_are_read() {
        assert_eq!((bytes("65536"), bytes("64k")), (Ok(65_536), Ok(65_536)));
        assert_eq!((bytes("64M"), bytes("1G")), (Ok(64 << 20), Ok(1 << 30)));
        for wrong in [
            "",
            "M",
            "64KB",
            "-1M",
            "1.5G",
            "1023",
            "99999999999999999999",
            "99999999999999999G",
            "64\u{212a}",
        ] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
