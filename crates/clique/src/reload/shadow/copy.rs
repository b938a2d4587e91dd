//! A copy of a router, of a configuration's text: its interfaces are doors, its time is that of the packets, and it has one thread, this one.

use super::comparison::Outcome;
use super::doors::Doors;
use super::routes::Routes;
use super::{fitness, neighbours, stand_ins};
use crate::{load, report};
use click_tools::{Parameter, Text};
use router::{Call, Classes, Clock, Log, Options, Router, Standing};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// Turns that a copy may take at one moment before it is said never to rest.
const ROUNDS_MAX: usize = 20_000;
/// Answers of neighbours to one another's questions that are followed at one moment.
const ANSWERS_MAX: usize = 64;

/// A configuration that can be copied.
#[derive(Clone, Debug)]
pub(in crate::reload) struct Source {
    pub(in crate::reload) text: Text,
    pub(in crate::reload) parameters: Vec<Parameter>,
    /// Where libraries are searched for.
    pub(in crate::reload) clickpath: String,
}

impl Source {
    /// Its graph, for which every element is known to be able to run in shadow.
    ///
    /// # Errors
    /// What is wrong with it, or which elements cannot.
    pub(super) fn graph(&self, known: &Classes) -> Result<lang::Parsed, String> {
        let parsed = load::parse(&self.text, &self.parameters, &self.clickpath, Some(known), false);
        if parsed.has_errors() {
            let secrets = report::secrets(&parsed.graph, known);
            let mut found = parsed.diagnostics;
            found.iter_mut().for_each(|diagnostic| secrets.mask_diagnostic(diagnostic));
            return Err(lang::render_click(&found));
        }
        match fitness::obstacles(&parsed.graph, known) {
            obstacles if obstacles.is_empty() => Ok(parsed),
            obstacles => Err(format!("{} cannot run in shadow:\n{}", self.text.name, obstacles.join("\n"))),
        }
    }
}

/// A copy.
pub(super) struct Copy {
    /// What messages call it.
    name: &'static str,
    router: Router,
    clock: Clock,
    doors: Doors,
    /// Drops that have been told.
    drops: BTreeMap<(usize, &'static str), u64>,
}

impl Copy {
    /// Makes one that begins at a time: cold, but for the routes of its tables.
    ///
    /// # Errors
    /// What is wrong with the configuration, or why it cannot be copied.
    pub(super) fn new(
        name: &'static str,
        source: &Source,
        known: &Classes,
        routes: &Routes,
        start_ns: i64,
    ) -> Result<Copy, String> {
        let parsed = source.graph(known)?;
        let routes = routes.of(&parsed.graph)?;
        let secrets = report::secrets(&parsed.graph, known);
        let (doors, clock) = (Doors::default(), Clock::simulated());
        clock.jump(start_ns);
        let mut options =
            Options { clock: clock.clone(), log: Log::Memory(Default::default()), ..Options::default() };
        options.resources.insert(doors.clone());
        let classes = Classes::new(known.iter().map(|class| stand_ins::in_place_of(class).unwrap_or(class)))
            .with_interfaces(elements::INTERFACES)
            .with_filters(elements::FILTERS);
        let built = load::build(parsed.graph, &parsed.sources, &source.text, &classes, options, false, drop);
        let router = built.map_err(|mut found| {
            found.iter_mut().for_each(|diagnostic| secrets.mask_diagnostic(diagnostic));
            lang::render_click(&found)
        })?;
        let mut copy = Copy { name, router, clock, doors, drops: BTreeMap::new() };
        for (table, routes) in routes {
            copy.write(&format!("{table}.replace_text"), &format!("--strict\n{routes}"))?;
        }
        Ok(copy)
    }

    fn write(&mut self, handler: &str, value: &str) -> Result<(), String> {
        let written = self.router.call(Call::write(handler, value)).map(drop);
        written.map_err(|error| format!("the copy of {}: {handler}: {error}", self.name))
    }

    /// The interfaces that it receives from.
    pub(super) fn ports(&self) -> Vec<String> {
        self.doors.ports()
    }

    /// Has a packet arrive at an interface now, and says what has become of it once the copy rests. Where no element receives from the
    /// interface, nothing has.
    ///
    /// # Errors
    /// That the copy does not rest, or has stopped.
    pub(super) fn receive(&mut self, port: &str, bytes: &[u8]) -> Result<Outcome, String> {
        self.arrive(port, bytes)?;
        self.outcome()
    }

    /// Lets time pass until the next moment at which an element wants to do something, or until another time if that comes first. Says
    /// what has become of packets at this moment.
    ///
    /// # Errors
    /// As [`Copy::receive`].
    pub(super) fn pass(&mut self, until_ns: i64) -> Result<(bool, Outcome), String> {
        let next_ns = self.rest()?.filter(|next_ns| *next_ns < until_ns);
        self.clock.jump(next_ns.unwrap_or(until_ns));
        Ok((next_ns.is_none(), self.outcome()?))
    }

    fn arrive(&mut self, port: &str, bytes: &[u8]) -> Result<(), String> {
        let Some(element) = self.doors.arrive(port, bytes) else { return Ok(()) };
        self.write(&format!("{element}.{}", stand_ins::ARRIVED), "")
    }

    /// What has become of packets, once the copy rests: neighbours have answered by then.
    fn outcome(&mut self) -> Result<Outcome, String> {
        let mut outcome = Outcome::default();
        for _ in 0..ANSWERS_MAX {
            self.rest()?;
            let sent = self.doors.take_sent();
            let answers = sent.iter().filter(|sent| !self.doors.is_bare(&sent.port));
            let answers: Vec<_> = answers
                .filter_map(|sent| Some((sent.port.clone(), neighbours::answer(&sent.bytes)?)))
                .collect();
            outcome.sent.extend(sent);
            if answers.is_empty() {
                break;
            }
            answers.iter().try_for_each(|(port, answer)| self.arrive(port, answer))?;
        }
        outcome.dropped = self.newly_dropped();
        // What elements print is no result, and is not to fill the memory.
        if let Log::Memory(text) = &self.router.info().log {
            text.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        Ok(outcome)
    }

    /// Lets the copy work at the time that its clock shows; when it wants to go on.
    fn rest(&mut self) -> Result<Option<i64>, String> {
        match self.router.run_rounds(ROUNDS_MAX) {
            Standing::Resting(next_ns) => Ok(next_ns),
            Standing::Busy => Err(format!(
                "{} cannot run in shadow: it makes packets, or asks for some, without end",
                self.name
            )),
            Standing::Halted => Err(format!("{} cannot run in shadow: it stops by itself", self.name)),
        }
    }

    /// What has been dropped since this was called last.
    fn newly_dropped(&mut self) -> Vec<(String, &'static str)> {
        let mut dropped = Vec::new();
        for (element, reason, count) in self.router.drops() {
            let before = self.drops.insert((element, reason), count).unwrap_or(0);
            let name = &self.router.info().nodes[element].name;
            dropped.extend((before..count).map(|_| (name.to_string(), reason)));
        }
        dropped
    }

    /// Ends it.
    pub(super) fn end(mut self) {
        self.router.finish();
    }
}
