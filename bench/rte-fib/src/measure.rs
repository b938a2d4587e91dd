//! The router with all paths, what is sent through them, and how long it takes.

use crate::configuration::{self, Contender, Table};
use crate::report::{Figure, Spread};
use router::{Call, Classes, Log, Options, Resources, Router, Standing};
use rte_fib::Traffic;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The lists of destinations, by number: those drawn by prefix, all of which have routes; those drawn from all addresses.
const BY_PREFIX: usize = 0;
const UNIFORM: usize = 1;
/// The rings of frames, by number and name.
const RINGS: [(usize, &str); 2] = [(0, "cold"), (1, "warm")];
const WARM: usize = 1;

/// How much is sent.
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    /// Packets of a path in a round.
    pub(crate) packets: usize,
}

/// The router.
pub(crate) struct Bench {
    router: Router,
    contenders: Vec<Contender>,
}

/// Binds this thread to the first processor that it may use; without permission it stays free.
pub(crate) fn stay_on_one_processor() {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let Some(first) = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)) else { return };
    let mut one = CpuSet::new();
    one.set(first);
    let _ = sched_setaffinity(None, &one);
}

/// Nanoseconds that this thread has run.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

impl Bench {
    /// Makes the router; its tables are empty.
    ///
    /// # Errors
    /// What is wrong with the configuration, or why there is no rte_fib.
    pub(crate) fn new(
        contenders: Vec<Contender>,
        traffic: Arc<Traffic>,
        outputs: u32,
    ) -> Result<Bench, String> {
        let text = configuration::text(&contenders, outputs);
        let parsed = lang::parse(&text, "paths", &[]);
        if parsed.has_errors() {
            return Err(parsed.render_click());
        }
        let families = [elements_general::FAMILIES, elements_net::FAMILIES, elements_routing::FAMILIES];
        let product = families.iter().copied().flatten().copied().flatten().copied();
        let known = Classes::new(product.chain(rte_fib::CLASSES.iter().copied()));
        let layout = router::layout(parsed.graph, &known, 1).map_err(|e| lang::render_click(&e))?;
        let mut resources = Resources::default();
        resources.insert(traffic);
        // Packets without a route are looked up on purpose: what is said of them is not shown.
        let log = Log::Memory(Mutex::default());
        let options = Options { vector: 32, resources, log, ..Options::default() };
        let built = router::build(layout, text, &known, options).map_err(|e| lang::render_click(&e))?;
        Ok(Bench { router: built.0, contenders })
    }

    fn write(&mut self, path: &str, handler: &str, value: &str) -> Result<(), String> {
        let answer = self.router.call(Call::write(format!("{path}.{handler}"), value));
        answer.map(drop).map_err(|error| format!("{path}.{handler}: {error}"))
    }

    fn read(&mut self, path: &str, handler: &str) -> Result<String, String> {
        let answer = self.router.call(Call::read(format!("{path}.{handler}"), ""));
        answer.map_err(|error| format!("{path}.{handler}: {error}"))
    }

    /// Loads routes into all tables, by a file. Returns how long that took.
    ///
    /// # Errors
    /// What a table says.
    pub(crate) fn load(&mut self, routes: &str) -> Result<String, String> {
        let file = File::new(routes)?;
        let mut said = Vec::new();
        for contender in self.contenders.clone() {
            if !contender.looks_up() || said.iter().any(|(path, _)| *path == contender.path()) {
                continue;
            }
            let start = std::time::Instant::now();
            self.write(&contender.path(), "load", &file.0.to_string_lossy())?;
            said.push((contender.path(), start.elapsed()));
        }
        let said = said.iter().map(|(path, took)| format!("{path} {:.2} s", took.as_secs_f64()));
        Ok(format!("routes loaded: {}", said.collect::<Vec<_>>().join(", ")))
    }

    /// Drops the contenders that cannot run here; returns what is said of them.
    pub(crate) fn leave_out_what_the_processor_lacks(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        for contender in self.contenders.clone() {
            if let Err(why) = self.prepare(&contender) {
                self.contenders.retain(|other| *other != contender);
                said.push(format!("{} left out: {why}", contender.name));
            }
        }
        said
    }

    /// Has a path be this contender's.
    fn prepare(&mut self, contender: &Contender) -> Result<(), String> {
        match contender.table {
            Table::RteFib { avx512, .. } => self.write(&contender.path(), "avx512", &avx512.to_string()),
            _ => Ok(()),
        }
    }

    /// Sends packets through a contender's path, and returns when all have come out.
    fn send(
        &mut self,
        contender: &Contender,
        list: usize,
        ring: usize,
        packets: usize,
    ) -> Result<f64, String> {
        let source = format!("{}_source", contender.path());
        self.write(&source, "send", &format!("{list} {ring} {packets}"))?;
        let start = processor_time();
        while self.router.run_rounds(usize::MAX) == Standing::Busy {}
        Ok(processor_time() - start)
    }

    /// Compares what becomes of each packet in all tables: output, gateway, and why it is dropped. Says what was compared.
    ///
    /// # Errors
    /// The first packet that two tables send to different next hops.
    pub(crate) fn verify(&mut self, packets: usize) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for (list, name) in [(BY_PREFIX, "by prefix"), (UNIFORM, "uniform")] {
            let mut first: Option<(String, String, String)> = None;
            for contender in self.contenders.clone().into_iter().filter(Contender::looks_up) {
                let (noted, drops) = self.fates(&contender, list, packets)?;
                match &first {
                    Some((other, others, _)) if *others != noted => {
                        return Err(difference(other, others, &contender.name, &noted));
                    }
                    Some((other, _, reasons)) if *reasons != drops => {
                        return Err(format!("{other} drops {reasons}, {} drops {drops}", contender.name));
                    }
                    Some(_) => {}
                    None => first = Some((contender.name, noted, drops)),
                }
            }
            let (_, noted, drops) = first.unwrap_or_default();
            if list == BY_PREFIX && noted.lines().count() != packets {
                return Err(format!("{} of {packets} packets arrive: {drops}", noted.lines().count()));
            }
            notes.push(format!(
                "same output and gateway for {packets} packets, {name}, of which {} have a route",
                noted.lines().count()
            ));
        }
        Ok(notes)
    }

    /// Where each packet leaves a contender's path, and how many are dropped there for which reason.
    fn fates(
        &mut self,
        contender: &Contender,
        list: usize,
        packets: usize,
    ) -> Result<(String, String), String> {
        let (path, sink) = (contender.path(), format!("{}_sink", contender.path()));
        self.prepare(contender)?;
        let before = self.drops(&path)?;
        self.write(&sink, "note", "true")?;
        self.send(contender, list, WARM, packets)?;
        let noted = self.read(&sink, "noted")?;
        self.write(&sink, "note", "false")?;
        let after = self.drops(&path)?;
        let reasons = after.iter().map(|(reason, count)| {
            let had = before.iter().find(|(known, _)| known == reason).map_or(0, |&(_, count)| count);
            format!("{} for '{reason}'", count - had)
        });
        Ok((noted, reasons.collect::<Vec<_>>().join(", ")))
    }

    /// Packets that an element has dropped, by reason.
    fn drops(&mut self, element: &str) -> Result<Vec<(String, u64)>, String> {
        let text = self.read(element, "drop_reasons")?;
        let line = |line: &str| {
            let (count, reason) = line.split_once('\t')?;
            Some((reason.to_owned(), count.parse().ok()?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    /// Measures all contenders with both rings.
    ///
    /// # Errors
    /// A packet went missing.
    pub(crate) fn measure(&mut self, plan: &Plan) -> Result<Vec<Figure>, String> {
        let contenders = self.contenders.clone();
        let mut figures = Vec::new();
        for (ring, caches) in RINGS {
            let mut ns = vec![Vec::new(); contenders.len()];
            for round in 0..plan.rounds {
                for turn in 0..contenders.len() {
                    let at = (round + turn) % contenders.len();
                    ns[at].push(self.time(&contenders[at], ring, plan.packets)?);
                }
            }
            figures.extend(compare(caches, &contenders, ns));
        }
        Ok(figures)
    }

    /// Nanoseconds a packet, after as many others to the same destinations: what the contender before has left in the caches is gone then.
    fn time(&mut self, contender: &Contender, ring: usize, packets: usize) -> Result<f64, String> {
        let sink = format!("{}_sink", contender.path());
        self.prepare(contender)?;
        self.send(contender, BY_PREFIX, ring, packets)?;
        let before = self.count(&sink)?;
        let ns = self.send(contender, BY_PREFIX, ring, packets)?;
        match self.count(&sink)? - before {
            arrived if arrived == packets as u64 => Ok(ns / packets as f64),
            arrived => Err(format!("{}: {arrived} of {packets} packets arrive", contender.name)),
        }
    }

    fn count(&mut self, sink: &str) -> Result<u64, String> {
        self.read(sink, "count")?.parse().map_err(|_| format!("'{sink}.count' is no number"))
    }
}

/// The figures of all contenders with one ring, from the times of each round.
fn compare(caches: &'static str, contenders: &[Contender], ns: Vec<Vec<f64>>) -> Vec<Figure> {
    let place = |wanted: fn(&Table) -> bool| contenders.iter().position(|contender| wanted(&contender.table));
    let none = place(|table| matches!(table, Table::None { .. }));
    let own = place(|table| matches!(table, Table::Own(_)));
    let less = |at: usize, none: usize| ns[at].iter().zip(&ns[none]).map(|(ns, none)| ns - none).collect();
    let lookups = |at: usize| -> Option<Vec<f64>> { none.map(|none| less(at, none)) };
    let ratios = |of: &[f64], to: &[f64]| Spread::of(of.iter().zip(to).map(|(of, to)| of / to).collect());
    let figure = |(at, contender): (usize, &Contender)| {
        let lookup = lookups(at).filter(|_| contender.looks_up());
        let others = own.filter(|&own| own != at && contender.looks_up());
        Figure {
            caches,
            contender: contender.name.clone(),
            ns_a_packet: Spread::of(ns[at].clone()),
            clique_is_faster: others.map(|own| ratios(&ns[at], &ns[own])),
            clique_lookup_is_faster: others
                .and_then(|own| Some(ratios(lookup.as_ref()?, lookups(own)?.as_slice()))),
            lookup_ns: lookup.map(Spread::of),
        }
    };
    contenders.iter().enumerate().map(figure).collect()
}

/// The first packet that two contenders treat differently.
fn difference(one: &str, noted: &str, other: &str, others: &str) -> String {
    let (mut lines, mut other_lines) = (noted.lines(), others.lines());
    loop {
        match (lines.next(), other_lines.next()) {
            (a, b) if a != b => {
                let (a, b) = (a.unwrap_or("no more"), b.unwrap_or("no more"));
                return format!("packet, output and gateway: {one} has '{a}', {other} has '{b}'");
            }
            (None, None) => return format!("{one} and {other} differ"),
            _ => {}
        }
    }
}

/// A file with routes, gone when this is dropped.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Result<File, String> {
        let path = std::env::temp_dir().join(format!("rte-fib-routes-{}", std::process::id()));
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(File(path))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
