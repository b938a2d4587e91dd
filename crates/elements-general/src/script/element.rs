//! Executes a script: calls handlers, computes, waits, stops the router.
//!
//! ```click
//! Script([TYPE TYPE,] INSTRUCTION, ...)
//! ```
//!
//! Executes its instructions one after the other. A script can set variables, call handlers, wait for a time or for a
//! handler call, and stop the driver.
//!
//! Ports: none, or any number for packet scripts; the first input and output may be pull, the others are push. Workers:
//! exclusive; a script may call the handlers of elements on all workers.
//!
//! # Arguments
//! - `TYPE` (default `PACKET` for scripts with ports, else `ACTIVE`): when the script runs:
//!   - `ACTIVE`: as soon as the router has started.
//!   - `PASSIVE`: when its handler `run` is called. `$args` is the handler's argument, `$1`, `$2`, ... are its words,
//!     and `$#` is their number.
//!   - `PACKET`: for every packet; `$input` is the number of its input. `end` emits it by output 0, `return N` by
//!     output N; otherwise it is dropped.
//!   - `PROXY`: when a handler is called that the element does not otherwise have. `$0` is the handler's name, and
//!     `$write` tells whether it was written.
//!   - `DRIVER`: like `ACTIVE`, and decides whether the driver stops; see DriverManager.
//!   - `SIGNAL SIGNO...`: when the process gets one of these signals, given by name (`HUP`, `USR1`, ...) or number.
//!     If the script waits, or ends in any way other than by `end`, the next signal has its usual effect again: `INT`
//!     and `TERM` stop the driver.
//!
//! # Instructions
//! Text is expanded: `$VAR` and `${VAR}` are variables, `$(HANDLER ARG...)` is the value of a handler; both may be
//! nested. `$?` is the status of the last `write`: -22 if it failed, but -1 if it ran a script that failed, or tried
//! to change arguments and they were invalid. `$$` is the process ID. A script that writes a configuration to
//! `hotconfig` waits until it is built, while packets continue to flow, unless a packet is being pulled through the
//! script; so does one that loads routes from a file, or changes them while there is no room. Handlers of the script itself need no element name. Instructions that end in `q` remove one level of
//! quotes from the expanded text.
//!
//! - `set VAR TEXT`, `setq`: sets a variable.
//! - `init VAR TEXT`, `initq`: sets it once, when the router starts. `export VAR TEXT`, `exportq`: the same, and a
//!   handler of this name reads the variable.
//! - `print [>FILE | >>FILE] TEXT | HANDLER`: prints to standard output or a file. An argument that starts with a
//!   letter, `@` or `_` is a handler, whose value is printed (`printq` removes quotes from its argument); anything
//!   else is text, from which one level of quotes is removed. `printn`, `printnq`: without a newline.
//! - `save HANDLER [FILE]`, `append HANDLER [FILE]`: print a handler's value to a file.
//! - `read HANDLER [ARG]`, `readq`: prints the name and value of a handler to standard error.
//! - `write HANDLER [ARG]`, `writeq`: writes to a handler.
//! - `pause [N]` (`wait_step`, `wait_stop`; `wait_pause` is an old name): blocks until `step` has been called N
//!   times.
//! - `wait TIME` (`wait_time`, `wait_for`): blocks for this time, or until `step` is called.
//! - `label NAME`; `goto NAME [CONDITION]`: continues at a label if the condition is true. `begin` is the first
//!   instruction; `exit`, `end`, `stop` and `error` as labels end the script like the instructions. A script that
//!   jumps 1,000 times without blocking is aborted.
//! - `loop`: starts again.
//! - `return [VALUE]`, `returnq`: ends the script; the value is what `run` returns.
//! - `end`, `exit`: end the script. `stop` also asks the driver to stop.
//! - `error [MESSAGE]`, `errorq`: ends the script with an error.
//!
//! # Handlers
//! - `step` (write): continues past this many blocking instructions (default 1).
//! - `goto` (write): continues at a label.
//! - `run` (read with parameter, write): starts the script.
//! - `get` (read with parameter), `set` (write): a variable. `shift` (read with parameter): removes the first word
//!   from a variable, or from `$args`.
//! - `add`, `sub`, `mul`, `div`, `idiv`, `min`, `max` (read with parameter): combine numbers; `div` divides with
//!   fractions, `idiv` truncates the result. Integers may be in any base. `div` and `idiv` read all numbers, and the
//!   other handlers those after the first non-integer, as decimal (or, with `0x`, hexadecimal) numbers, in which a
//!   leading zero has no meaning.
//! - `avg`: the mean of numbers, truncated to an integer if all are integers. `count`, `popcount`: how many numbers,
//!   or nonzero numbers, there are. `gt_vec`: how many of the numbers after the first are greater than the first.
//!   These are FastClick's.
//! - `mod`, `rem`: the remainder of two integers, or other numbers. `neg`, `abs`, FastClick's `ceil`, and `floor`
//!   and `round` (halves away from zero): of a number.
//! - `eq`, `ne`, `gt`, `ge`, `lt`, `le`: compare two numbers or strings. `in`: whether the first word is one of the
//!   others.
//! - `not`, `and`, `or`, `nand`, `nor`: of booleans. `if`: the second word if the first is true, else the third.
//! - `first`: the first word. `length`: in bytes. `unquote`: removes one level of quotes. `sprintf`: formats words;
//!   the first of them is the format.
//! - `random`: a random integer, below its one argument, or between two. `now`: the time. `now_steady`, FastClick's,
//!   returns the same: time never jumps here.
//! - `readable`, `writable`: whether all handlers named exist.
//! - `htons`, `htonl`, `ntohs`, `ntohl`: swap bytes. `cat`, `catq`: the contents of a file. `kill`: sends a signal to processes.
//!
//! # Example
//! ```click
//! Script(set x 0,
//!        label again,
//!        print $x,
//!        set x $(add $x 1),
//!        goto again $(lt $x 5),
//!        stop)
//! ```
//!
//! # Differences from Click
//! If a passive, proxy or packet script is called while it runs, a second run starts, with arguments of its own,
//! instead of starting over. Errors in a script that was started by a handler name that script. `nand` is the
//! negation of `and`.
//!
//! # See also
//! DriverManager, Counter

use super::functions::FUNCTIONS;
use super::program::{End, Goal, Insn, compile, find_label};
use super::request::{Request, step_request};
use super::run::{Run, TIMER};
use super::signals::Signals;
use super::text::{Expanded, Expansion};
use elements_shared::label::write_time;
use lang::conf::pop_space;
use packet::Batch;
use router::{
    ANY, Access, Answer, Call, Class, Config, ConfigError, Cx, Element, FileName, Handlers, Outcome, Pull,
    Raw, Residency, Step, parse_integer,
};
use std::any::Any;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("Script", create)
    .ports("-/-")
    .processing("ah/ah")
    .residency(Residency::Exclusive)
    .doc(router::manual!("element.rs"));

/// When a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Active,
    /// The same, of a PokeHandlers or PeekHandlers.
    Pokes,
    Passive,
    Packet,
    Proxy,
    Driver,
    Signal,
}

/// Where a run stands, and what it was given.
#[derive(Debug, Default)]
pub(super) struct CallFrame {
    pub(super) id: u64,
    pub(super) at: usize,
    pub(super) args: String,
    pub(super) handler: String,
    pub(super) write: bool,
    pub(super) input: Option<usize>,
}

pub(super) struct Script {
    pub(super) kind: Kind,
    pub(super) program: Arc<[Insn]>,
    /// How many steps each `pause` has seen.
    pub(super) waited: Vec<u64>,
    /// Whether the first instruction still counts as a step.
    pub(super) fresh: bool,
    vars: Vec<(String, String)>,
    /// The main frame, and those of runs inside of runs.
    pub(super) frames: Vec<CallFrame>,
    pub(super) next_frame: u64,
    /// Jumps, and runs inside of it, since the run in the main frame began.
    pub(super) jumps: u32,
    /// Whether a run works in the main frame.
    pub(super) stepping: bool,
    /// Steps that were asked for meanwhile.
    pub(super) extra: i64,
    /// Steps so far.
    pub(super) steps: i64,
    pub(super) write_status: i64,
    signals: Signals,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let kind = if config.inputs() + config.outputs() > 0 { Kind::Packet } else { Kind::Active };
    create_as(config, kind)
}

/// Makes a script; of this kind, unless it says otherwise.
pub(super) fn create_as(config: &mut Config<'_>, default: Kind) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut instructions) = (None::<Raw>, Vec::new());
    config.args().keyword("TYPE", &mut kind).rest(&mut instructions).finish()?;
    let mut signals = Vec::new();
    let kind = match kind {
        None => default,
        Some(Raw(text)) => {
            let mut words = text.as_str();
            let kind = match (pop_space(&mut words), words) {
                ("ACTIVE", "") => Kind::Active,
                ("PASSIVE", "") => Kind::Passive,
                ("PACKET" | "PUSH", "") => Kind::Packet,
                ("PROXY", "") => Kind::Proxy,
                ("DRIVER", "") => Kind::Driver,
                ("SIGNAL", _) => Kind::Signal,
                _ => return Err("bad TYPE".into()),
            };
            if kind == Kind::Signal {
                signals = Signals::parse(words).ok_or("bad signal number")?;
            }
            kind
        }
    };
    if kind == Kind::Packet && config.inputs() == 0 {
        return Err("PACKET script must have inputs".into());
    }
    if kind != Kind::Packet && config.inputs() + config.outputs() > 0 {
        return Err("ports allowed only on PACKET scripts".into());
    }
    if kind == Kind::Driver && !config.steer_driver() {
        return Err("router has more than one driver script".into());
    }
    create_with(kind, &instructions, signals)
}

/// Makes a script of these instructions.
pub(super) fn create_with(
    kind: Kind,
    instructions: &[String],
    signals: Vec<i32>,
) -> Result<Box<dyn Element>, ConfigError> {
    let last = if kind == Kind::Driver { End::Stop } else { End::Normal };
    let program: Arc<[Insn]> = compile(instructions, last).map_err(ConfigError::from)?.into();
    let mut script = Script {
        kind,
        waited: vec![0; program.len()],
        program: program.clone(),
        fresh: false,
        vars: Vec::new(),
        frames: vec![CallFrame::default()],
        next_frame: 0,
        jumps: 0,
        stepping: false,
        extra: 0,
        steps: 0,
        write_status: 0,
        signals: Signals::new(signals),
    };
    // Variables that are set anywhere exist from the beginning.
    for insn in &*program {
        match insn {
            Insn::Set { name, .. } | Insn::Init { name, .. } => script.set(name, String::new()),
            Insn::Return(_) => script.set("_", String::new()),
            _ => {}
        }
    }
    Ok(Box::new(script))
}

impl Script {
    /// Whether the script starts by itself.
    pub(super) fn starts(&self) -> bool {
        matches!(self.kind, Kind::Active | Kind::Pokes | Kind::Driver)
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: String) {
        match self.vars.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.vars.push((name.to_owned(), value)),
        }
    }

    fn var(&self, name: &str) -> Option<&str> {
        self.vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of `$NAME` for the run in a frame.
    pub(super) fn variable(&self, frame: u64, name: &str) -> Option<String> {
        let frame = self.frames.iter().find(|known| known.id == frame).unwrap_or(&self.frames[0]);
        if let Some(input) = frame.input.filter(|_| name == "input") {
            return Some(input.to_string());
        }
        if let Some(value) = self.var(name) {
            return Some(value.to_owned());
        }
        match name {
            "?" => Some(self.write_status.to_string()),
            "args" => Some(frame.args.clone()),
            "$" => Some(std::process::id().to_string()),
            "0" => Some(frame.handler.clone()),
            "#" => Some(lang::conf::split_spaces(&frame.args).len().to_string()),
            "write" => Some(frame.write.to_string()),
            _ if name.starts_with(|c: char| c.is_ascii_digit()) => {
                let at = usize::try_from(parse_integer(name)?).ok()?.checked_sub(1)?;
                Some(lang::conf::split_spaces(&frame.args).into_iter().nth(at).unwrap_or_default())
            }
            _ => None,
        }
    }

    /// Sets initial values as far as that needs no handlers; the rest, and the first wait, is for a run.
    fn boot(&mut self, cx: &mut Cx<'_>) {
        let program = self.program.clone();
        let mut first = None;
        for (at, insn) in program.iter().enumerate() {
            let Insn::Init { name, value, .. } = insn else { continue };
            if value.text.has_calls() {
                first = Some(at);
                break;
            }
            let mut expansion = Expansion::new(false);
            let text = loop {
                match expansion.advance(&value.text) {
                    Expanded::Done(text) => break text,
                    Expanded::Variable(name) => expansion.supply(self.variable(0, &name)),
                    Expanded::Call(_) => expansion.supply(None), // there are none
                }
            };
            self.set(name, if value.unquote { lang::conf::unquote(&text) } else { text });
        }
        if first.is_some() || (self.starts() && matches!(program.first(), Some(Insn::Wait(_)))) {
            cx.handlers().start(Box::new(Run::new(Request::Boot(first.unwrap_or(program.len())))));
        }
    }

    fn start(request: Request) -> Outcome {
        Outcome::Start(Box::new(Run::new(request)))
    }

    /// Whether the script stands at a `pause`.
    fn is_paused(&self) -> bool {
        matches!(self.program.get(self.frames[0].at), Some(Insn::Pause(_)))
    }

    /// Goes on, if the script is paused.
    fn unpause(&self) -> Outcome {
        match self.is_paused() {
            true => Script::start(Request::Step { steps: 1, router: false }),
            false => Outcome::Done(Ok(String::new())),
        }
    }

    fn run(handler: &str, args: &str, write: bool) -> Outcome {
        let (handler, args) = (handler.to_owned(), args.to_owned());
        Script::start(Request::Run { handler, args, write })
    }

    /// A variable that a handler of the running script is about: `args` is that of the innermost run.
    fn named(&mut self, name: &str) -> Result<&mut String, String> {
        if name == "args"
            && let Some(frame) = self.frames.last_mut()
        {
            return Ok(&mut frame.args);
        }
        let found = self.vars.iter_mut().find(|(known, _)| known == name);
        found.map(|(_, value)| value).ok_or_else(|| format!("undefined variable '{name}'"))
    }

    fn get(&mut self, mut text: &str) -> Result<String, String> {
        let name = pop_space(&mut text);
        match (name, text) {
            ("", _) => Err("no variable".to_owned()),
            (name, "") => self.named(name).map(|value| value.clone()),
            _ => Err("too many arguments".to_owned()),
        }
    }

    fn put(&mut self, mut text: &str) -> Result<(), String> {
        match pop_space(&mut text) {
            "" => return Err("no variable".to_owned()),
            "args" => *self.named("args")? = text.to_owned(),
            name => self.set(name, text.to_owned()),
        }
        Ok(())
    }

    fn shift(&mut self, mut text: &str) -> Result<String, String> {
        let name = pop_space(&mut text);
        if !text.is_empty() {
            return Err("too many arguments".to_owned());
        }
        let value = self.named(if name.is_empty() { "args" } else { name })?;
        let mut rest = value.as_str();
        let word = pop_space(&mut rest).to_owned();
        *value = rest.to_owned();
        Ok(word)
    }
}

/// Whether all handlers that a text names can be read, or else written.
fn able(cx: &Cx<'_>, mut text: &str, access: Access) -> bool {
    loop {
        let path = lang::conf::unquote(pop_space(&mut text));
        if path.is_empty() {
            return true;
        }
        let call = Call { path, access, argument: String::new(), scope: Some(cx.index()) };
        if call.check(cx.info()).is_err() {
            return false;
        }
    }
}

fn random(cx: &mut Cx<'_>, text: &str) -> Result<String, String> {
    let words = lang::conf::split_spaces(text);
    let number = |word: &String| {
        parse_integer(word).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| "bad N".to_owned())
    };
    let (low, high) = match &words[..] {
        [] => (0, i32::MAX as u32),
        [n] => (0, number(n)?.checked_sub(1).ok_or("bad N")?),
        [low, high] => (number(low)?, number(high)?),
        _ => return Err("too many arguments".to_owned()),
    };
    if low > high { Err("bad N".to_owned()) } else { Ok(cx.rng().u32(low..=high).to_string()) }
}

fn cat(cx: &Cx<'_>, text: &str) -> Result<String, String> {
    let FileName(name) = router::value(cx, text).map_err(|_| "bad FILE")?;
    match device::files::read(&name) {
        Ok(contents) => Ok(lang::bytes::to_text(contents)),
        Err(error) => Err(format!("{name}: {}", device::plain(&error))),
    }
}

fn now(cx: &Cx<'_>) -> String {
    let mut text = String::new();
    write_time(&mut text, cx.now_ns());
    text
}

impl Element for Script {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.boot(cx);
        if matches!(self.program.first(), Some(Insn::Initial)) && self.starts() {
            self.fresh = true;
            match self.kind {
                // The first step comes when the driver is about to stop: at once.
                Kind::Driver => cx.info().adjust_run_count(-1),
                _ => cx.timers().at_once(TIMER),
            }
        }
        self.signals.arm(cx)?;
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) {
        batch.drain(|packet| {
            let packet = Some(packet);
            cx.handlers().start(Box::new(Run::new(Request::Packet { port, packet, pull: false })));
        });
        cx.consume(batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, _want: usize) -> Pull {
        Pull::Ask { input: 0, want: 1 }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, port: usize, mut batch: Batch) -> Pull {
        let mut first = None;
        batch.drain(|packet| match first {
            None => first = Some(packet),
            Some(_) => cx.drop(packet, "not asked for"),
        });
        if first.is_none() {
            return Pull::Give(batch);
        }
        cx.consume(batch);
        cx.handlers().start(Box::new(Run::new(Request::Packet { port, packet: first, pull: true })));
        Pull::Later
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        // The script may have gone elsewhere meanwhile.
        if matches!(self.program.get(self.frames[0].at), Some(Insn::Initial | Insn::Wait(_))) {
            cx.handlers().start(Box::new(Run::new(Request::Timer)));
        }
    }

    fn resume(&mut self, cx: &mut Cx<'_>, state: &mut Box<dyn Any + Send>, answer: Answer) -> Step {
        let Some(run) = state.downcast_mut::<Run>() else { return Step::Done(Ok(String::new())) };
        let step = self.go(cx, run, answer);
        if self.kind == Kind::Signal && matches!(step, Step::Done(_)) {
            self.signals.served(run.has_reached_end());
        }
        step
    }

    fn finish(&mut self, _cx: &mut Cx<'_>) {
        self.signals.disarm();
    }

    fn handlers(&self, h: &mut Handlers) {
        for &(name, function) in FUNCTIONS {
            h.read_with(name, move |_: &mut Script, _, text| function(text));
        }
        h.write_outcome("step", |_: &mut Script, _, text| match step_request(text) {
            Ok(request) => Script::start(request),
            Err(message) => Outcome::Done(Err(message.into())),
        });
        h.write_outcome("goto", |e: &mut Script, _, text| {
            match find_label(&e.program, lang::conf::uncomment(text).as_str()) {
                Some(Goal::To(at)) => Script::start(Request::Goto(at)),
                _ => Outcome::Done(Err("jump to nonexistent label".into())),
            }
        });
        h.read_outcome("run", |_: &mut Script, _, text| Script::run("run", text, false));
        h.write_outcome("run", |_: &mut Script, _, text| Script::run("run", text, true));
        h.read_with("random", |_: &mut Script, cx, text| random(cx, text));
        h.read("now", |_: &mut Script, cx| now(cx));
        h.read("now_steady", |_: &mut Script, cx| now(cx));
        h.read_with("readable", |_: &mut Script, cx, text| Ok(able(cx, text, Access::Read).to_string()));
        h.read_with("writable", |_: &mut Script, cx, text| Ok(able(cx, text, Access::Write).to_string()));
        h.read_with("cat", |_: &mut Script, cx, text| cat(cx, text)).as_private();
        h.read_with("catq", |_: &mut Script, cx, text| {
            cat(cx, text).map(|text| lang::conf::quote_text(&text))
        })
        .as_private();
        h.read_with("kill", |_: &mut Script, _, text| super::signals::kill(text)).as_private();
        h.read_with("get", |e: &mut Script, _, text| e.get(text));
        h.write("set", |e: &mut Script, _, text| e.put(text));
        h.read_with("shift", |e: &mut Script, _, text| e.shift(text));
        for insn in &*self.program {
            if let Insn::Init { name, export: true, .. } = insn {
                let variable = name.clone();
                h.read(name, move |e: &mut Script, _| e.var(&variable).unwrap_or_default().to_owned());
            }
        }
        if self.kind == Kind::Pokes {
            h.read("paused", |e: &mut Script, _| e.is_paused());
            h.write_outcome("unpause", |e: &mut Script, _, _| e.unpause());
        }
        if self.kind == Kind::Proxy {
            let asked = |text: &str, write| {
                let (name, args) = text.split_once(' ').unwrap_or((text, ""));
                Script::run(name, args, write)
            };
            h.read_outcome(ANY, move |_: &mut Script, _, text| asked(text, false));
            h.write_outcome(ANY, move |_: &mut Script, _, text| asked(text, true));
        }
    }
}

#[cfg(test)]
#[path = "element_tests.rs"]
mod tests;
