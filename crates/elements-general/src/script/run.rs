//! Executing scripts.
//!
//! Whatever makes a script go (a timer, a packet, a handler call) becomes a [`Run`], the state of a control computation.
//! A run executes instructions up to the next one that blocks; at each handler call it is laid aside and goes on with the
//! answer. One run at a time works in the script's main frame; further ones, of scripts that call themselves or are called
//! from several sides at once, have frames of their own.

use super::element::{CallFrame, Kind, Script};
use super::program::{End, Goal, Insn, Value};
use super::request::{Request, emit, handler_call, print};
use super::text::{Expanded, Expansion, Text};
use device::files::Patient;
use router::{Access, Answer, Call, Cx, Info, Level, Response, Step, parse_boolean, parse_integer};
use std::time::Duration;

/// Jumps that a script may make without blocking, runs inside of runs included.
const JUMPS_MAX: u32 = 1000;
/// Runs of one script inside each other.
const FRAMES_MAX: usize = 200;
/// The frame of a run that works nowhere.
const NOWHERE: u64 = u64::MAX;
/// The key of the one timer.
pub(super) const TIMER: u32 = 0;

/// How a run ended.
enum Ended {
    Returned(String),
    Finished(End),
    Failed(String),
}

enum Phase {
    Begin,
    Next,
    /// A text is being expanded, which waits for a call.
    Expanding {
        insn: usize,
        expansion: Expansion,
        file: Option<Patient>,
    },
    /// The call that the instruction is about is being made; it has this name, and these words.
    Calling {
        insn: usize,
        name: String,
        call: String,
        file: Option<Patient>,
    },
}

/// One execution.
pub(super) struct Run {
    request: Request,
    phase: Phase,
    /// Where it works.
    frame: u64,
    /// The step count at which it blocks.
    limit: i64,
    ended: Option<Ended>,
    /// Whether the context of messages was printed.
    told: bool,
    /// Whether the current instruction has reported anything.
    failed: bool,
    reached_end: bool,
}

/// What comes after a part of an instruction.
enum Flow {
    Next,
    Call(Call),
    /// The run is over: it blocks, or has come to the end.
    Over,
}

impl Run {
    pub(super) fn new(request: Request) -> Run {
        Run {
            request,
            phase: Phase::Begin,
            frame: 0,
            limit: 0,
            ended: None,
            told: false,
            failed: false,
            reached_end: false,
        }
    }

    /// Whether the script has come to an `end`.
    pub(super) fn has_reached_end(&self) -> bool {
        self.reached_end
    }

    fn is_router(&self) -> bool {
        matches!(self.request, Request::Step { router: true, .. })
    }
}

/// The status of a failed write that says none, as of Click's handlers: that of what reports an error, EINVAL, but a
/// script's own where one has run.
fn failure(info: &Info, handler: &str) -> i64 {
    let (element, name) = handler.split_once('.').unwrap_or((handler, ""));
    let is_script =
        info.find(element, None).is_some_and(|element| info.nodes[element].class.name == "Script");
    if is_script && !matches!(name, "step" | "goto" | "set") { -1 } else { -22 }
}

/// The text that an instruction expands.
fn text_of(insn: &Insn) -> Option<&Text> {
    match insn {
        Insn::Wait(text) | Insn::Goto { condition: text, .. } => Some(text),
        Insn::Print { value, .. } | Insn::Set { value, .. } | Insn::Init { value, .. } => Some(&value.text),
        Insn::Read(value) | Insn::Write(value) | Insn::Return(value) | Insn::Error(value) => {
            Some(&value.text)
        }
        Insn::Initial | Insn::Pause(_) | Insn::Label(_) | Insn::Finish(_) => None,
    }
}

/// Whether a text's values are quoted, because the whole is unquoted in the end.
fn quotes(insn: &Insn) -> bool {
    matches!(insn, Insn::Print { handler: false, .. })
}

impl Script {
    /// Executes a run up to its next call, or to its end.
    pub(super) fn go(&mut self, cx: &mut Cx<'_>, run: &mut Run, answer: Answer) -> Step {
        let mut flow = match (std::mem::replace(&mut run.phase, Phase::Next), answer) {
            (Phase::Begin, _) => self.begin(cx, run),
            (Phase::Expanding { insn, mut expansion, file }, Answer::Response(response)) => {
                self.pass_on(cx, run, None, &response.warnings);
                let value = response.result.unwrap_or_else(|error| {
                    self.report(cx, run, None, &error.message);
                    String::new()
                });
                expansion.supply(Some(value));
                self.expand(cx, run, insn, expansion, file)
            }
            (Phase::Calling { insn, name, call, file }, Answer::Response(response)) => {
                self.pass_on(cx, run, Some(&call), &response.warnings);
                self.called(cx, run, insn, (&name, &call), file, response)
            }
            (Phase::Next | Phase::Expanding { .. } | Phase::Calling { .. }, _) => Flow::Over,
        };
        loop {
            flow = match flow {
                Flow::Call(call) => return Step::Call(call),
                Flow::Next => self.instruction(cx, run),
                Flow::Over if run.frame == 0 && self.extra > 0 => {
                    // Steps that were asked for meanwhile.
                    run.limit = self.steps + std::mem::take(&mut self.extra);
                    run.ended = None;
                    Flow::Next
                }
                Flow::Over => return self.finish(cx, run),
            }
        }
    }

    /// Takes a frame to work in. Over at once if another run does the work.
    fn begin(&mut self, cx: &mut Cx<'_>, run: &mut Run) -> Flow {
        run.limit = self.steps;
        let main = !self.stepping;
        match &mut run.request {
            Request::Boot(from) => {
                let from = *from;
                self.stepping = true;
                return self.boot_from(cx, run, from);
            }
            Request::Step { .. } | Request::Timer | Request::Goto(_) => {
                let (steps, router) = match run.request {
                    Request::Step { steps, router } => (steps, router),
                    Request::Timer => (1, false),
                    _ => (0, false),
                };
                if !matches!(run.request, Request::Timer) {
                    let handler = if matches!(run.request, Request::Goto(_)) { "goto" } else { "step" };
                    let frame = &mut self.frames[0];
                    (frame.handler, frame.args, frame.write) = (handler.to_owned(), String::new(), true);
                }
                if let Request::Goto(to) = run.request {
                    self.forget_pauses(to, self.program.len());
                    self.frames[0].at = to;
                }
                if !main {
                    self.extra += steps;
                    // The driver goes on; if the step turns out to be a `stop`, that takes this back.
                    cx.info().adjust_run_count(i64::from(router));
                    run.frame = NOWHERE;
                    return Flow::Over;
                }
                run.limit += steps;
            }
            Request::Run { handler, args, write } => {
                let frame = CallFrame {
                    handler: std::mem::take(handler),
                    args: std::mem::take(args),
                    write: *write,
                    ..CallFrame::default()
                };
                if main || matches!(self.kind, Kind::Active | Kind::Pokes | Kind::Driver) {
                    self.frames[0] = frame;
                    if !main {
                        run.frame = NOWHERE;
                        return Flow::Over;
                    }
                } else if let Some(over) = self.open_frame(run, frame) {
                    return over;
                }
            }
            Request::Packet { port, .. } => {
                let frame = CallFrame { input: Some(*port), ..CallFrame::default() };
                if main {
                    self.frames[0] = frame;
                } else if let Some(over) = self.open_frame(run, frame) {
                    return over;
                }
            }
        }
        if main {
            self.stepping = true;
            self.jumps = 0;
        }
        Flow::Next
    }

    fn open_frame(&mut self, run: &mut Run, frame: CallFrame) -> Option<Flow> {
        self.jumps += 1; // calls that multiply come to an end, too
        if self.frames.len() >= FRAMES_MAX || self.jumps >= JUMPS_MAX {
            run.frame = NOWHERE;
            run.ended = Some(Ended::Failed("too many runs inside each other, giving up".to_owned()));
            return Some(Flow::Over);
        }
        self.next_frame += 1;
        run.frame = self.next_frame;
        self.frames.push(CallFrame { id: run.frame, ..frame });
        None
    }

    /// Sets initial values, from an instruction on; after the last one the script may start with a wait.
    fn boot_from(&mut self, cx: &mut Cx<'_>, run: &mut Run, from: usize) -> Flow {
        let next = (from..self.program.len()).find(|&at| matches!(self.program[at], Insn::Init { .. }));
        match next {
            Some(at) => {
                run.request = Request::Boot(at);
                self.expand(cx, run, at, Expansion::new(false), None)
            }
            None if self.starts() && matches!(self.program[0], Insn::Wait(_)) => Flow::Next,
            None => Flow::Over,
        }
    }

    fn forget_pauses(&mut self, from: usize, to: usize) {
        for at in from..to {
            self.waited[at] = 0;
        }
    }

    fn frame(&mut self, id: u64) -> &mut CallFrame {
        let at = self.frames.iter().position(|frame| frame.id == id).unwrap_or(0);
        &mut self.frames[at]
    }

    /// Executes the instruction at which the run's frame stands, as far as it goes.
    fn instruction(&mut self, cx: &mut Cx<'_>, run: &mut Run) -> Flow {
        let at = self.frame(run.frame).at;
        let Some(insn) = self.program.get(at).filter(|_| self.steps <= run.limit && self.jumps < JUMPS_MAX)
        else {
            return self.block(cx, run);
        };
        run.failed = false;
        match *insn {
            Insn::Finish(end) => return self.end(cx, run, end),
            Insn::Pause(count) => {
                let passed = (run.limit - self.steps).max(0).min((count - self.waited[at].min(count)) as i64);
                self.waited[at] += passed as u64;
                self.steps += passed;
                if self.steps == run.limit && self.waited[at] < count {
                    return self.block(cx, run);
                }
            }
            Insn::Wait(_) if self.steps < run.limit => {
                self.steps += 1;
                cx.timers().cancel(TIMER);
            }
            Insn::Initial => self.steps += i64::from(std::mem::take(&mut self.fresh)),
            Insn::Label(_) | Insn::Init { .. } => {}
            _ => {
                let quote = quotes(insn);
                let file = match self.open(cx, run, at) {
                    Ok(file) => file,
                    Err(()) => return self.complete(run, at, true),
                };
                // Moved on already now, so that calls that jump have the last word.
                self.frame(run.frame).at = at + 1;
                return self.expand(cx, run, at, Expansion::new(quote), file);
            }
        }
        self.complete(run, at, true)
    }

    /// Opens the file that an instruction prints to.
    fn open(&mut self, cx: &mut Cx<'_>, run: &mut Run, at: usize) -> Result<Option<Patient>, ()> {
        let program = self.program.clone();
        let Insn::Print { file: Some(file), .. } = &program[at] else { return Ok(None) };
        let mut options = std::fs::OpenOptions::new();
        options.create(true).write(true).append(file.append).truncate(!file.append);
        device::files::open_with(&mut options, &file.name).map(Some).map_err(|error| {
            self.report(cx, run, None, &format!("{}: {}", file.name, device::plain(&error)));
        })
    }

    /// An instruction is over; `advance` if the frame is still at it.
    fn complete(&mut self, run: &mut Run, at: usize, advance: bool) -> Flow {
        let frame = self.frame(run.frame);
        if advance {
            frame.at = at + 1;
        } else if frame.at != at + 1 {
            self.jumps += 1;
        }
        Flow::Next
    }

    /// The run blocks here.
    fn block(&mut self, cx: &mut Cx<'_>, run: &mut Run) -> Flow {
        if self.jumps >= JUMPS_MAX {
            cx.say(Level::Error, format_args!("{}: too many jumps, giving up", self.declaration(cx)));
            let end = self.program.len();
            self.frame(run.frame).at = end;
            cx.timers().cancel(TIMER);
        }
        if run.is_router() {
            cx.info().adjust_run_count(1);
            // Steps that are made up for do not count for the driver.
            run.request = Request::Timer;
        }
        Flow::Over
    }

    /// The script ends; the frame stays where it is, so that a further step ends it again.
    fn end(&mut self, cx: &mut Cx<'_>, run: &mut Run, end: End) -> Flow {
        if end == End::Stop {
            self.steps += 1;
            if !run.is_router() {
                cx.info().please_stop();
            }
        }
        run.ended = Some(Ended::Finished(end));
        Flow::Over
    }

    /// Expands the text of an instruction, up to the next call.
    fn expand(
        &mut self,
        cx: &mut Cx<'_>,
        run: &mut Run,
        at: usize,
        mut expansion: Expansion,
        file: Option<Patient>,
    ) -> Flow {
        let program = self.program.clone();
        let Some(text) = text_of(&program[at]) else { return Flow::Next };
        loop {
            match expansion.advance(text) {
                Expanded::Done(text) => return self.expanded(cx, run, at, text, file),
                Expanded::Variable(name) => {
                    let value = self.variable(run.frame, &name);
                    expansion.supply(value);
                }
                Expanded::Call(body) => {
                    let call = handler_call(cx, Access::Read, &body, false);
                    match call.check(cx.info()) {
                        Ok(_) => {
                            run.phase = Phase::Expanding { insn: at, expansion, file };
                            return Flow::Call(call);
                        }
                        Err(error) => {
                            self.report(cx, run, None, &error.message);
                            expansion.supply(None);
                        }
                    }
                }
            }
        }
    }

    /// Does what an instruction does with its text.
    fn expanded(
        &mut self,
        cx: &mut Cx<'_>,
        run: &mut Run,
        at: usize,
        text: String,
        file: Option<Patient>,
    ) -> Flow {
        let program = self.program.clone();
        let insn = &program[at];
        let unquoted =
            |value: &Value, text: String| if value.unquote { lang::conf::unquote(&text) } else { text };
        match insn {
            Insn::Wait(_) => return self.wait(cx, run, at, &text),
            Insn::Print { handler: false, newline, .. } => {
                let text = lang::conf::unquote(&text);
                print(cx, file, text, *newline && !run.failed);
            }
            Insn::Print { value, .. } | Insn::Read(value) => {
                return self.call(cx, run, at, Access::Read, (&text, value.unquote), file);
            }
            Insn::Write(value) => {
                return self.call(cx, run, at, Access::Write, (&text, value.unquote), file);
            }
            Insn::Set { name, value } => self.set(name, unquoted(value, text)),
            Insn::Init { name, value, .. } => {
                self.set(name, unquoted(value, text));
                return self.boot_from(cx, run, at + 1);
            }
            Insn::Return(value) => {
                let value = unquoted(value, text);
                self.set("_", value.clone());
                // Unless something has jumped meanwhile.
                if self.frame(run.frame).at == at + 1 {
                    self.frame(run.frame).at = at;
                    run.ended = Some(Ended::Returned(value));
                    return self.block(cx, run);
                }
            }
            Insn::Goto { goal, .. } => match parse_boolean(&text) {
                None if !text.is_empty() => self.report(cx, run, None, &format!("bad condition '{text}'")),
                Some(false) => {}
                _ => match *goal {
                    Goal::To(to) => {
                        self.forget_pauses(to.min(at), at);
                        self.frame(run.frame).at = to;
                    }
                    Goal::End(end) => {
                        self.frame(run.frame).at = at;
                        return self.end(cx, run, end);
                    }
                },
            },
            Insn::Error(value) => {
                self.frame(run.frame).at = at;
                run.ended = Some(Ended::Failed(unquoted(value, text)));
                return Flow::Over;
            }
            Insn::Initial | Insn::Pause(_) | Insn::Label(_) | Insn::Finish(_) => {}
        }
        self.complete(run, at, false)
    }

    fn wait(&mut self, cx: &mut Cx<'_>, run: &mut Run, at: usize, text: &str) -> Flow {
        match router::value::<Duration>(cx, text) {
            Ok(time) => {
                cx.timers().after(TIMER, time);
                self.frame(run.frame).at = at;
            }
            Err(_) => self.report(cx, run, None, "syntax error at 'wait'"),
        }
        self.block(cx, run)
    }

    /// Makes the call that an instruction is about.
    fn call(
        &mut self,
        cx: &mut Cx<'_>,
        run: &mut Run,
        at: usize,
        access: Access,
        (text, unquote): (&str, bool),
        file: Option<Patient>,
    ) -> Flow {
        let call = handler_call(cx, access, text, unquote);
        match call.check(cx.info()) {
            Ok(name) => {
                let words =
                    if call.argument.is_empty() { name.clone() } else { format!("{name} {}", call.argument) };
                run.phase = Phase::Calling { insn: at, name, call: words, file };
                Flow::Call(call)
            }
            Err(error) => {
                self.report(cx, run, None, &error.message);
                self.complete(run, at, false)
            }
        }
    }

    /// Does what an instruction does with the result of its call.
    fn called(
        &mut self,
        cx: &mut Cx<'_>,
        run: &mut Run,
        at: usize,
        (name, call): (&str, &str),
        file: Option<Patient>,
        Response { result, status, .. }: Response,
    ) -> Flow {
        let program = self.program.clone();
        if let Insn::Write(_) = &program[at] {
            self.write_status = match &result {
                Ok(answer) => parse_integer(answer.trim()).and_then(|n| i64::try_from(n).ok()).unwrap_or(0),
                Err(_) => status.unwrap_or_else(|| failure(cx.info(), name)),
            };
        }
        let text = result.unwrap_or_else(|error| {
            self.report(cx, run, Some(call), &error.message);
            run.failed = true;
            String::new()
        });
        match &program[at] {
            Insn::Print { newline, .. } => print(cx, file, text, *newline && !run.failed),
            Insn::Read(_) => cx.print(&format!("{name}:\n{text}")),
            _ => {}
        }
        self.complete(run, at, false)
    }

    /// Gives up the frame and hands out the result.
    fn finish(&mut self, cx: &mut Cx<'_>, run: &mut Run) -> Step {
        if run.frame == 0 {
            self.stepping = false;
        } else {
            self.frames.retain(|frame| frame.id != run.frame);
        }
        run.reached_end = matches!(run.ended, Some(Ended::Finished(End::Normal)));
        let (result, failed) = match run.ended.take() {
            // A write has a status, not a value.
            Some(Ended::Returned(_)) if matches!(run.request, Request::Run { write: true, .. }) => {
                (String::new(), None)
            }
            Some(Ended::Returned(value)) => (value, None),
            // What a write returns when it makes the driver stop.
            Some(Ended::Finished(End::Stop)) if matches!(run.request, Request::Run { write: true, .. }) => {
                ("1".to_owned(), None)
            }
            Some(Ended::Finished(End::Error)) => (String::new(), Some(String::new())),
            Some(Ended::Failed(message)) => (String::new(), Some(message)),
            Some(Ended::Finished(End::Normal)) if matches!(run.request, Request::Packet { .. }) => {
                ("0".to_owned(), None)
            }
            _ => (String::new(), None),
        };
        match &mut run.request {
            Request::Packet { packet, pull, .. } => {
                let (packet, pull) = (packet.take(), *pull);
                self.report(cx, run, None, failed.as_deref().unwrap_or(""));
                let output = if failed.is_some() { None } else { parse_integer(&result) };
                emit(cx, packet, output.and_then(|port| usize::try_from(port).ok()), pull);
                Step::Done(Ok(String::new()))
            }
            Request::Timer | Request::Boot(_) => {
                self.report(cx, run, None, failed.as_deref().unwrap_or(""));
                Step::Done(Ok(String::new()))
            }
            _ => Step::Done(failed.map_or(Ok(result), |message| Err(message.into()))),
        }
    }

    /// Reports an error, in the context of the script and of the call that it makes.
    fn report(&self, cx: &mut Cx<'_>, run: &mut Run, call: Option<&str>, message: &str) {
        run.failed = true;
        self.say(cx, run, Level::Error, call, message);
    }

    /// Passes warnings of a call on; the instruction has not failed for that.
    fn pass_on(&self, cx: &mut Cx<'_>, run: &mut Run, call: Option<&str>, warnings: &[String]) {
        self.say(cx, run, Level::Warning, call, &warnings.join("\n"));
    }

    /// Prints a message in the context of the script and of the call that it makes.
    fn say(&self, cx: &mut Cx<'_>, run: &mut Run, level: Level, call: Option<&str>, message: &str) {
        if message.is_empty() {
            return;
        }
        let (mut depth, mut said) = (0, Vec::new());
        // The driver's steps have no context, as in Click.
        if !run.is_router() {
            depth += 1;
            if !std::mem::replace(&mut run.told, true) {
                let doing =
                    if matches!(run.request, Request::Boot(_)) { "initializing" } else { "executing" };
                said.push(format!("While {doing} '{}':", self.declaration(cx)));
            }
        }
        if let Some(call) = call {
            said.push(format!("{:1$}While calling '{call}':", "", 2 * depth));
            depth += 1;
        }
        said.extend(message.lines().map(|line| format!("{:1$}{line}", "", 2 * depth)));
        cx.say(level, said.join("\n"));
    }

    fn declaration(&self, cx: &Cx<'_>) -> String {
        cx.info().nodes[cx.index()].declaration()
    }
}
