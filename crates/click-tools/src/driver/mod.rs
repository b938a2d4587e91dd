//! The command line of Click's user-level driver: what it asks for, or what there is to say instead.

mod dpdk;
mod options;

use crate::clp::{Item, Items};
use crate::input::{self, Input, Parameter};
use options::{Id, OPTIONS};
use std::ffi::OsString;

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
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The configuration.
    pub input: Input,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// TCP ports through which others may call handlers.
    pub ports: Vec<String>,
    /// UNIX sockets for the same.
    pub unix_sockets: Vec<String>,
    /// Descriptors of connections for the same.
    pub connections: Vec<String>,
    /// Whether others may replace the configuration.
    pub reconfigure: bool,
    /// Where required libraries are searched for.
    pub clickpath: String,
    /// How many threads run.
    pub threads: usize,
    /// The processor of the first thread, if each is to stay on one.
    pub affinity: Option<usize>,
    /// Seconds since the epoch at which simulated time starts, if time is to be simulated.
    pub start_s: Option<f64>,
    /// Handlers to read after the run.
    pub handlers: Vec<String>,
    /// The handler that has the exit status.
    pub exit_handler: Option<String>,
    /// The file that gets the flat configuration.
    pub output: Option<String>,
    /// Whether the configuration is not run.
    pub quit: bool,
    /// Whether to say how long the run took.
    pub time: bool,
    /// Whether to warn of a configuration without elements.
    pub warnings: bool,
    /// The interfaces that FromDPDKDevice calls by number.
    pub dpdk_ports: Vec<String>,
}

/// What the program that runs configurations can do.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Threads, at most.
    pub threads: u16,
    /// Reads the number of seconds at which simulated time is to start, or says what is expected instead.
    pub start_s: fn(&str) -> Result<f64, String>,
}

/// Why nothing is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Only a text was asked for.
    Printed(String),
    /// The command line is wrong: a message for standard error.
    Bad(String),
}

/// What a command line asks for, without the program's name; `complain` gets what is odd about it.
///
/// # Errors
/// That nothing is to be run.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    bounds: Bounds,
    complain: &dyn Fn(&str),
) -> Result<Request, End> {
    let (arguments, dpdk) = dpdk::part(arguments);
    let mut reader = Reader::new(bounds, complain);
    if let Some(dpdk) = dpdk {
        complain("click: arguments for DPDK are ignored, but for the number of cores and the devices\n");
        reader.request.threads = dpdk.cores.unwrap_or(1).min(bounds.threads.into());
        reader.request.dpdk_ports = dpdk.devices;
    }
    match reader.read(Items::new("click", OPTIONS, arguments)) {
        Ok(()) => Ok(Request { input: reader.input.unwrap_or(Input::Stdin), ..reader.request }),
        Err(End::Bad(message)) => Err(End::Bad(format!("{message}\n{SHORT_USAGE}"))),
        Err(end) => Err(end),
    }
}

/// Sets what may be set once.
fn once<T>(place: &mut Option<T>, value: T, what: &str) -> Result<(), End> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(End::Bad(format!("{what} specified twice"))),
    }
}

/// A command line that is being read.
struct Reader<'a> {
    /// The configuration, if one was named.
    input: Option<Input>,
    /// What has been asked for so far, apart from that.
    request: Request,
    bounds: Bounds,
    complain: &'a dyn Fn(&str),
}

impl<'a> Reader<'a> {
    fn new(bounds: Bounds, complain: &'a dyn Fn(&str)) -> Reader<'a> {
        let request = Request {
            input: Input::Stdin,
            params: Vec::new(),
            ports: Vec::new(),
            unix_sockets: Vec::new(),
            connections: Vec::new(),
            reconfigure: false,
            clickpath: input::default_clickpath(),
            threads: 1,
            affinity: None,
            start_s: None,
            handlers: Vec::new(),
            exit_handler: None,
            output: None,
            quit: false,
            time: false,
            warnings: true,
            dpdk_ports: Vec::new(),
        };
        Reader { input: None, request, bounds, complain }
    }

    fn read(&mut self, items: Items<Id>) -> Result<(), End> {
        for item in items {
            match item.map_err(|message| End::Bad(format!("click: {message}")))? {
                Item::Word(word) => self.word(word)?,
                Item::Option { id, negated, value } => self.option(id, negated, value.unwrap_or_default())?,
            }
        }
        Ok(())
    }

    fn set_input(&mut self, input: Input) -> Result<(), End> {
        once(&mut self.input, input, "router configuration")
    }

    fn word(&mut self, word: String) -> Result<(), End> {
        let Some((name, value)) = input::parameter(&word) else { return self.set_input(Input::named(word)) };
        if self.request.params.iter().any(|(known, _)| *known == name) {
            // As in Click, this is said at once, and the first value counts.
            (self.complain)(&format!("parameter '{name}' multiply defined\n"));
        } else {
            self.request.params.push((name, value));
        }
        Ok(())
    }

    fn option(&mut self, id: Id, negated: bool, value: String) -> Result<(), End> {
        let request = &mut self.request;
        match id {
            Id::File => self.set_input(Input::named(value))?,
            Id::Expression => self.set_input(Input::Expression(value))?,
            Id::Output => once(&mut request.output, value, "output file")?,
            Id::ExitHandler => once(&mut request.exit_handler, value, "--exit-handler")?,
            Id::Handler => request.handlers.push(value),
            Id::Clickpath => request.clickpath = value,
            Id::Quit => request.quit = true,
            Id::Time => request.time = true,
            Id::Affinity if negated => request.affinity = None,
            // It was checked to be a number, if there is one.
            Id::Affinity => {
                let first = router::parse_integer(&value).and_then(|first| usize::try_from(first).ok());
                request.affinity = Some(first.unwrap_or(0));
            }
            Id::Warnings => request.warnings = !negated,
            Id::NoWarnings => request.warnings = false,
            Id::Threads => request.threads = threads(&value, self.bounds.threads)?,
            Id::SimulatedTime if value.is_empty() => request.start_s = Some(SIMULATION_START_S),
            Id::SimulatedTime => {
                let start = (self.bounds.start_s)(&value);
                let start = start.map_err(|error| End::Bad(format!("click: '--simtime': {error}")))?;
                request.start_s = Some(start);
            }
            Id::Help => return Err(End::Printed(HELP.to_owned())),
            Id::Version => {
                let version = env!("CARGO_PKG_VERSION");
                return Err(End::Printed(format!("click (Clique {version}, compatible with Click) 2.1\n")));
            }
            Id::Port => request.ports.push(value),
            Id::UnixSocket => request.unix_sockets.push(value),
            Id::Socket => request.connections.push(value),
            Id::Reconfigure => request.reconfigure = !negated,
        }
        Ok(())
    }
}

/// A number of threads, which was checked to be a number; a negative one means one thread, as in Click.
fn threads(value: &str, most: u16) -> Result<usize, End> {
    let threads = router::parse_integer(value).unwrap_or(1).max(1);
    if threads > i128::from(most) {
        return Err(End::Bad(format!("click: there can be {most} threads at most")));
    }
    Ok(usize::try_from(threads).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// What a line asks for, and what was said.
    fn read_line(line: &str) -> (Result<Request, End>, String) {
        let said = RefCell::new(String::new());
        let bounds = Bounds {
            threads: 8,
            start_s: |text| text.parse().map_err(|_| "a number is expected".to_owned()),
        };
        let words = line.split_whitespace().map(OsString::from);
        let result = read(words, bounds, &|text| said.borrow_mut().push_str(text));
        (result, said.into_inner())
    }

    fn request(line: &str) -> Request {
        read_line(line).0.unwrap()
    }

    fn message(line: &str) -> String {
        match read_line(line).0 {
            Err(End::Bad(message)) => message.strip_suffix(SHORT_USAGE).unwrap().to_owned(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn sockets_are_kept_by_kind() {
        let found = request("-u a -p 80 --socket 5 -p 81 -u b");
        assert_eq!(found.ports, ["80", "81"]);
        assert_eq!(found.unix_sockets, ["a", "b"]);
        assert_eq!(found.connections, ["5"]);
    }

    #[test]
    fn the_last_of_an_option_and_its_negation_counts() {
        assert!(request("-R").reconfigure && !request("-R --no-allow-reconfigure").reconfigure);
        assert_eq!(request("--affinity=3").affinity, Some(3));
        assert_eq!(request("--affinity --no-affinity").affinity, None);
        assert!(request("-w --warnings").warnings && !request("--no-warnings").warnings);
    }

    #[test]
    fn what_may_be_said_once() {
        assert_eq!(message("a b"), "router configuration specified twice\n");
        assert_eq!(message("-o a -o b"), "output file specified twice\n");
        assert_eq!(message("-x a -x b"), "--exit-handler specified twice\n");
        let (found, said) = read_line("A=1 A=2 x.click");
        assert_eq!(found.unwrap().params, [("A".to_owned(), "1".to_owned())]);
        assert_eq!(said, "parameter 'A' multiply defined\n");
    }

    #[test]
    fn threads_have_a_bound() {
        assert_eq!((request("x").threads, request("-j 8").threads, request("-j -2").threads), (1, 8, 1));
        assert_eq!(message("-j 9"), "click: there can be 8 threads at most\n");
    }

    #[test]
    fn simulated_time_may_have_a_start() {
        assert_eq!((request("x").start_s, request("--simtime").start_s), (None, Some(SIMULATION_START_S)));
        assert_eq!(request("--simtime=5.5").start_s, Some(5.5));
        let bounds = Bounds { threads: 1, start_s: |_| Err("no time".to_owned()) };
        let refused = read(["--simtime=5".into()], bounds, &|_| ()).unwrap_err();
        assert_eq!(refused, End::Bad(format!("click: '--simtime': no time\n{SHORT_USAGE}")));
    }

    /// As many threads run as DPDK would have cores, unless the driver's own options say otherwise.
    #[test]
    fn what_dpdk_is_told() {
        let (found, said) = read_line("--dpdk -l 0-3 -a 51:00.1 -- x.click");
        let found = found.unwrap();
        assert_eq!((found.threads, found.dpdk_ports), (4, vec!["51:00.1".to_owned()]));
        assert!(said.starts_with("click: arguments for DPDK are ignored"), "{said}");
        assert_eq!(request("--dpdk -l 0-3 -- -j 2 x.click").threads, 2);
        assert_eq!(request("--dpdk -l 0-99 -- x.click").threads, 8);
    }
}
