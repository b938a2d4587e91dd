//! The router's side: a thread that replaces the configuration, remembers those that ran, and goes back to one when another is not confirmed.
//!
//! The timer and the old configuration are the router's, so that a client whose terminal is lost, or whose network the new configuration has cut
//! off, need not be there.

use super::diff;
use super::history::{By, Entry, History};
use super::request::{Answer, Difference, Load, Request, Upgraded};
use crate::console;
use crate::load;
use crate::report::Refusal;
use crate::swap::{Current, FAULT, Orders, Proposal, Requests};
use crate::upgrade::order::{Order, Origin};
use crate::upgrade::trial::{self, Question};
use crate::upgrade::{FORM, Keepsake, arrival};
use click_tools::{Parameter, Text};
use control::{ReloadService, Reloads};
use router::{Classes, Level, Surveyor};
use serde_json::Value;
use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long workers may take to say what state there is.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a client may be told to have for its confirmation, at most.
pub(super) const CONFIRM_MAX_S: u64 = 24 * 3600;

const NO_UPGRADE: &str =
    "no program takes over from a router of 'clique click', with --from-host, or in simulated time";
const STRANGER: &str =
    "another program takes over only if the router's own user says so, or root, through a UNIX-domain socket";

/// Whether the other end of a connection is a process of this process's user, or of root.
fn is_of_this_user(connection: &OwnedFd) -> bool {
    // Of a TCP connection there is no such thing.
    rustix::net::sockopt::socket_peercred(connection)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid() || peer.uid.is_root())
}

/// Where requests go; there before the router is.
#[derive(Clone)]
pub(crate) struct Keeper {
    sender: Arc<Mutex<Sender<Message>>>,
    receiver: Arc<Mutex<Option<Receiver<Message>>>>,
}

/// What the thread hears.
enum Message {
    /// A request of a client, its connection, and where the answer goes.
    Ask(String, Option<OwnedFd>, Sender<String>),
    /// The handler `hotconfig` has put a configuration in its place.
    Loaded(Text, Vec<Parameter>),
}

/// A configuration that was parsed and checked for a dry run.
pub(crate) struct Checked {
    pub(crate) graph: lang::Graph,
    pub(crate) warnings: Vec<String>,
}

/// Checks a proposal without opening anything.
pub(crate) type Check = Box<dyn Fn(&Proposal) -> Result<Checked, Refusal> + Send>;

/// What the thread needs.
pub(crate) struct Start {
    pub(crate) requests: Requests,
    pub(crate) current: Current,
    pub(crate) check: Check,
    /// Their classes say which arguments are keys.
    pub(crate) known: Classes,
    /// Where libraries are searched for.
    pub(crate) clickpath: String,
    /// The configuration that runs.
    pub(crate) text: Text,
    pub(crate) parameters: Vec<Parameter>,
    /// How the program was started, if another one may take its place, and where that is said.
    pub(crate) origin: Option<Origin>,
    pub(crate) swaps: Orders,
    /// Why the configuration is not to be replaced, if so.
    pub(crate) fixed: Option<&'static str>,
}

struct State {
    start: Start,
    history: History,
    trial: Option<Trial>,
}

/// A configuration that waits to be confirmed.
struct Trial {
    until: Instant,
    /// Where to go back to.
    before: u64,
}

impl Keeper {
    pub(crate) fn new() -> Keeper {
        let (sender, receiver) = mpsc::channel();
        Keeper { sender: Arc::new(Mutex::new(sender)), receiver: Arc::new(Mutex::new(Some(receiver))) }
    }

    /// For control sockets.
    pub(crate) fn service(&self) -> ReloadService {
        ReloadService(Arc::new(self.clone()))
    }

    /// Notes that the handler `hotconfig` has put a configuration in its place.
    pub(crate) fn loaded(&self, text: Text, parameters: Vec<Parameter>) {
        self.send(Message::Loaded(text, parameters));
    }

    fn ask(&self, request: &str, client: Option<OwnedFd>) -> String {
        let (reply, answer) = mpsc::channel();
        self.send(Message::Ask(request.to_owned(), client, reply));
        answer.recv().unwrap_or_else(|_| written(&refused("the router has stopped")))
    }

    fn send(&self, message: Message) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(message); // the thread has gone only with the router
    }

    /// Begins to carry out requests.
    ///
    /// # Errors
    /// That there is no thread to do so.
    pub(crate) fn start(&self, start: Start) -> io::Result<()> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(receiver) = receiver else { return Ok(()) };
        let mut state = State::new(start);
        let serve = move || {
            loop {
                let message = match &state.trial {
                    None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(trial) => {
                        receiver.recv_timeout(trial.until.saturating_duration_since(Instant::now()))
                    }
                };
                match message {
                    Ok(Message::Ask(request, client, reply)) => {
                        // A fault of the program in what is checked must not end what takes back what is not confirmed.
                        let answer = catch_unwind(AssertUnwindSafe(|| state.answer(&request, client)));
                        drop(reply.send(answer.unwrap_or_else(|_| written(&refused(FAULT)))));
                    }
                    Ok(Message::Loaded(text, parameters)) => {
                        state.history.add(By::Hotconfig, text.name, text.text, parameters);
                    }
                    Err(RecvTimeoutError::Timeout) => state.give_up(),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        std::thread::Builder::new().name("reload".to_owned()).spawn(serve).map(drop)
    }
}

impl Reloads for Keeper {
    fn serve(&self, request: &str) -> String {
        self.ask(request, None)
    }

    fn serve_client(&self, request: &str, connection: OwnedFd) -> String {
        self.ask(request, Some(connection))
    }
}

/// An answer as it is sent.
fn written(answer: &Answer) -> String {
    // Nothing in an answer can fail to be written.
    serde_json::to_string(answer).unwrap_or_default()
}

fn refused(message: impl Into<String>) -> Answer {
    Answer::Refused { message: message.into(), diagnostics: Value::Array(Vec::new()) }
}

fn refusal(refusal: Refusal, color: bool) -> Answer {
    let message = if color { refusal.colored } else { refusal.plain };
    Answer::Refused { message, diagnostics: refusal.diagnostics }
}

impl State {
    /// What has run so far: also in the process whose place this one takes.
    fn new(start: Start) -> State {
        let Some(arrival) = arrival::pending() else {
            let mut history = History::of_service();
            let Text { name, text } = start.text.clone();
            history.add(By::Start, name, text, start.parameters.clone());
            return State { start, history, trial: None };
        };
        let Keepsake { entries, running, trial, .. } = arrival.image.header.keepsake.clone();
        let trial = trial.map(|(left_ms, before)| Trial {
            until: Instant::now() + Duration::from_millis(left_ms),
            before,
        });
        let mut history = History::inherited(entries, running);
        history.keep_for_trial(trial.as_ref().map(|trial| trial.before));
        State { start, history, trial }
    }

    fn answer(&mut self, request: &str, client: Option<OwnedFd>) -> String {
        let answer = match serde_json::from_str(request) {
            Ok(Request::Load(load)) => self.load(load),
            Ok(Request::Confirm) => self.confirm(),
            Ok(Request::RollBack { number }) => self.roll_back(number),
            Ok(Request::Upgrade { program, dry_run }) => {
                self.upgrade(program, dry_run, client).unwrap_or_else(refused)
            }
            Ok(Request::History { number: None }) => Answer::History {
                configurations: self.history.list(),
                confirm_within_s: self.trial.as_ref().map(|trial| {
                    trial.until.saturating_duration_since(Instant::now()).as_secs_f64().ceil() as u64
                }),
            },
            Ok(Request::History { number: Some(number) }) => match self.history.find(number) {
                Some(Entry { name, text, parameters, .. }) => Answer::Text {
                    number,
                    name: name.clone(),
                    text: text.clone(),
                    parameters: parameters.clone(),
                },
                None => refused(format!("no configuration {number} is kept")),
            },
            Err(error) => refused(format!("unknown request: {error}")),
        };
        written(&answer)
    }

    fn load(&mut self, load: Load) -> Answer {
        let given: Vec<String> = load.parameters.iter().map(|(name, _)| name.clone()).collect();
        let proposal =
            Proposal::new(Text { name: load.name, text: load.text }, self.parameters(load.parameters));
        if load.confirm_s.is_some_and(|seconds| seconds > CONFIRM_MAX_S) {
            return refused(format!("a confirmation is waited for {CONFIRM_MAX_S} seconds at most"));
        }
        let mut checked = match (self.start.check)(&proposal) {
            Ok(checked) => checked,
            Err(why) => {
                if !load.dry_run {
                    self.tell_refusal(&why.lines);
                }
                return refusal(why, load.color);
            }
        };
        // Misspelt, probably: as `clique run` has it. A text that requires others may use it there.
        let text = &proposal.text.text;
        let is_used = |name: &str| text.contains("require(") || load::uses(text, name);
        let unused = given.iter().filter(|name| !is_used(name));
        let unused: Vec<String> =
            unused.map(|name| format!("warning: the configuration has no parameter '${name}'")).collect();
        checked.warnings.extend(unused.iter().cloned());
        // A file that was cut short, for instance: it is no configuration of a router that is to go on.
        if checked.graph.elements.is_empty() {
            let why = format!("{}: the configuration has no elements", proposal.text.name);
            if !load.dry_run {
                self.tell_refusal(&why);
            }
            return refused(why);
        }
        let difference = self.difference(&checked.graph);
        if load.dry_run {
            let (clickpath, parameters) = (self.start.clickpath.clone(), proposal.parameters);
            return Answer::Planned { difference, warnings: checked.warnings, parameters, clickpath };
        }
        if let Some(why) = self.obstacle(&proposal, load.confirm_s) {
            self.tell_refusal(&why);
            return refused(why);
        }
        match self.start.requests.replace(proposal.clone()) {
            Err(why) => refusal(why, load.color),
            Ok(mut warnings) => {
                warnings.splice(0..0, unused);
                let before = self.history.running().map(|entry| entry.number);
                let Text { name, text } = proposal.text;
                console::tell(&format!("clique run: {name} runs, by 'clique reload'\n"));
                self.history.keep_for_trial(before.filter(|_| load.confirm_s.is_some()));
                let number = self.history.add(By::Reload, name, text, proposal.parameters);
                self.trial = before.zip(load.confirm_s).map(|(before, seconds)| Trial {
                    until: Instant::now() + Duration::from_secs(seconds),
                    before,
                });
                Answer::Loaded { number, difference, warnings, confirm_s: load.confirm_s }
            }
        }
    }

    /// Tells those who watch the router that a configuration is refused before it is built.
    fn tell_refusal(&self, why: &str) {
        console::say(
            Level::Warning,
            &format!("clique run: a configuration is refused: {}\n", why.trim_end()),
        );
        self.start.current.handle().info().refuse_swap(why);
    }

    /// The parameters of the configuration that runs, with others in the place of namesakes.
    fn parameters(&self, new: Vec<Parameter>) -> Vec<Parameter> {
        let mut parameters = self.start.parameters.clone();
        parameters.retain(|(name, _)| new.iter().all(|(other, _)| other != name));
        parameters.extend(new);
        parameters
    }

    /// Why this configuration cannot be loaded now, if so.
    fn obstacle(&self, proposal: &Proposal, confirm_s: Option<u64>) -> Option<String> {
        let why = match (&self.trial, self.start.fixed) {
            (_, Some(why)) => why,
            (Some(_), None) => {
                "a configuration waits to be confirmed: 'clique confirm' keeps it, 'clique rollback' does not"
            }
            // Files that a text requires are read anew each time: what they were is not kept.
            (None, None)
                if confirm_s.is_some() && self.history.runs(&proposal.text, &proposal.parameters) =>
            {
                "this text runs already, with these parameters: there is nothing to go back to if it is not confirmed"
            }
            (None, None) => return None,
        };
        Some(why.to_owned())
    }

    /// What a configuration has that the running one has not, and what of its state would be lost.
    fn difference(&self, graph: &lang::Graph) -> Difference {
        let handle = self.start.current.handle();
        let mut difference = diff::difference(&handle.info().graph, graph, &self.start.known);
        if let Ok(survey) = Surveyor::new(handle.clone()).survey(PATIENCE) {
            difference.add_lost(&handle, &survey);
        }
        difference
    }

    /// Has another program take the place of this one. Returns only if it does not, or if it was only to be tried.
    fn upgrade(
        &self,
        program: Option<PathBuf>,
        dry_run: bool,
        client: Option<OwnedFd>,
    ) -> Result<Answer, String> {
        let origin = self.start.origin.clone().ok_or(NO_UPGRADE)?;
        let client = client.filter(is_of_this_user).ok_or(STRANGER)?;
        let running = self.history.running().ok_or("no configuration runs")?.clone();
        let Entry { name, text, parameters, .. } = running;
        let question =
            Question { form: FORM, name: name.clone(), text: text.clone(), parameters: parameters.clone() };
        let program = program.unwrap_or_else(|| origin.program.clone());
        let program = trial::attempt(&program, &origin.arguments, &question)?;
        if dry_run {
            let (from, to) = (env!("CARGO_PKG_VERSION").to_owned(), program.version);
            return Ok(Answer::Upgraded(Upgraded { from, to, dry_run, ..Upgraded::default() }));
        }
        let (entries, running) = self.history.left();
        let left_ms =
            |trial: &Trial| trial.until.saturating_duration_since(Instant::now()).as_millis() as u64;
        let trial = self.trial.as_ref().map(|trial| (left_ms(trial), trial.before));
        let keepsake = Keepsake { name, text, parameters, entries, running, trial };
        let (refuse, refusal) = mpsc::channel();
        self.start.swaps.give(Order { program, origin, keepsake, client: Some(client), refuse });
        Err(refusal.recv().unwrap_or_else(|_| "the router has stopped".to_owned()))
    }

    fn confirm(&mut self) -> Answer {
        self.history.keep_for_trial(None);
        match (self.trial.take(), self.history.running()) {
            (Some(_), Some(entry)) => Answer::Confirmed { number: entry.number },
            _ => refused("no configuration waits to be confirmed"),
        }
    }

    fn roll_back(&mut self, number: Option<u64>) -> Answer {
        if let Some(why) = self.start.fixed {
            return refused(why);
        }
        let target = match (number, &self.trial) {
            (Some(number), _) => self.history.find(number),
            (None, Some(trial)) => self.history.find(trial.before),
            (None, None) => self.history.before(),
        };
        let Some(target) = target.cloned() else {
            return refused(match number {
                Some(number) => format!("no configuration {number} is kept"),
                None => "no configuration is kept that ran before this one".to_owned(),
            });
        };
        let from = self.history.running().map_or(0, |entry| entry.number);
        match self.run_again(&target) {
            Ok(warnings) => {
                console::tell(&format!("clique run: {} runs again, by 'clique rollback'\n", target.name));
                Answer::RolledBack { from, number: target.number, warnings }
            }
            Err(why) => refusal(why, false),
        }
    }

    fn run_again(&mut self, entry: &Entry) -> Result<Vec<String>, Refusal> {
        let text = Text { name: entry.name.clone(), text: entry.text.clone() };
        let warnings = self.start.requests.replace(Proposal::new(text, entry.parameters.clone()))?;
        self.trial = None;
        self.history.keep_for_trial(None);
        self.history.run(entry.number);
        Ok(warnings)
    }

    /// Nothing was confirmed in time.
    fn give_up(&mut self) {
        let Some(Trial { before, .. }) = self.trial.take() else { return };
        let number = self.history.running().map_or(0, |entry| entry.number);
        let say = |level, message: &str| console::say(level, &format!("clique run: {message}\n"));
        let back = match self.history.find(before).cloned() {
            Some(entry) => self.run_again(&entry).map_err(|why| why.plain),
            None => Err("it is not kept any more".to_owned()),
        };
        match back {
            Ok(_) => {
                self.history.note(number, "not confirmed");
                let message =
                    format!("configuration {number} was not confirmed in time: {before} runs again");
                say(Level::Warning, &message);
            }
            Err(why) => {
                self.history.note(number, "not confirmed, but the one before cannot run again");
                let message = format!(
                    "configuration {number} was not confirmed in time, and {before} cannot run again:"
                );
                say(Level::Error, &format!("{message}\n{}", why.trim_end()));
            }
        }
    }
}
