//! Telling a story: the world is built, the steps are taken, the oracles watch.

use super::{DeviceFate, Knobs, Step, Story, Weather};
use crate::conservation;
use crate::family::{self, Family};
use crate::link::Link;
use crate::machine::{Drive, Machine};
use crate::model::{History, Verdict};
use crate::oracle::{Fault, Judge};
use crate::pace::STRIDE_MAX_NS;
use crate::world::{Flow, Network, World};
use crate::{capture, memory, storm, wrong};
use router::Clock;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long the world goes on after the last step and the last message.
const EPILOGUE_NS: i64 = 60_000_000;
/// How long it goes on at most while frames are on their way or neighbours are asked again.
const PATIENCE_NS: i64 = 8_000_000_000;

/// What came of a story.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was wrong, the first first.
    pub faults: Vec<Fault>,
    /// How many faults there were; some may not be among those above.
    pub found: usize,
    /// A digest of all frames.
    pub trace: String,
    /// Frames on all links.
    pub frames: u64,
    /// Messages of flows, answers included.
    pub messages: usize,
    /// How long it took in the world.
    pub simulated_ns: i64,
}

impl Outcome {
    /// The first fault. What routers say that they dropped is none in itself.
    pub fn fault(&self) -> Option<&Fault> {
        self.faults.iter().find(|fault| !fault.is_note)
    }
}

static ALONE: Mutex<()> = Mutex::new(());

/// One story is told at a time: packet buffers are the process's, and are counted.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells a story.
///
/// # Errors
/// What is wrong with the story itself: a family, host, router or link that there is not, or a first configuration that no router
/// takes.
pub fn run(story: &Story) -> Result<Outcome, String> {
    let _alone = alone();
    let family = family::find(&story.family).ok_or_else(|| format!("no family '{}'", story.family))?;
    let before = memory::in_use();
    let mut told = match catch_unwind(AssertUnwindSafe(|| tell(family, story))) {
        Ok(told) => told?,
        Err(panic) => panicked(panic.as_ref()),
    };
    let after = memory::in_use();
    if after != before {
        let what = format!("{} packet buffers are lost", after as i64 - before as i64);
        told.found += 1;
        told.faults.push(Fault { at_ns: told.simulated_ns, what, is_note: false });
    }
    Ok(told)
}

/// A router that panics ends its story.
fn panicked(panic: &(dyn std::any::Any + Send)) -> Outcome {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    let what = format!("a panic: {}", text.unwrap_or_default());
    let faults = vec![Fault { at_ns: 0, what, is_note: false }];
    Outcome { faults, found: 1, trace: String::new(), frames: 0, messages: 0, simulated_ns: 0 }
}

fn tell(family: &'static dyn Family, story: &Story) -> Result<Outcome, String> {
    let mut teller = Teller::new(family, story)?;
    teller.world.advance(teller.world.now_ns() + family.warm_up_ns());
    let start_ns = teller.world.now_ns();
    for step in &story.steps {
        teller.step(step).map_err(|error| format!("'{step}': {error}"))?;
    }
    Ok(teller.end(start_ns))
}

struct Teller {
    family: &'static dyn Family,
    world: World,
    /// The knobs of each router.
    knobs: Vec<Knobs>,
    moves: u8,
    /// The interfaces of each router.
    ports: Vec<usize>,
}

impl Teller {
    fn new(family: &'static dyn Family, story: &Story) -> Result<Teller, String> {
        let clock = Clock::simulated();
        let network: Network = family.network(&story.knobs);
        let drive = Drive { workers: story.workers, vector: story.vector, seed: story.seed };
        let mut machines = Vec::new();
        for (number, (name, ports)) in network.machines.iter().enumerate() {
            let config = wrong::spoilable(&family.config(number, &story.knobs));
            machines.push(Machine::new(name, *ports, &config, drive, &clock)?);
        }
        let ports = network.machines.iter().map(|(_, ports)| *ports).collect();
        let history = History::new(family.model(&story.knobs));
        let judge = Judge::new(history, clock.now_ns(), family.held_ns());
        let knobs = vec![story.knobs.clone(); machines.len()];
        let world = World::new(network, machines, judge, clock, story.seed);
        Ok(Teller { family, world, knobs, moves: 0, ports })
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Flow(flow) => {
                let from = self.host(&flow.from)?;
                let super::FlowStep { to, kind, count, size, gap_ns, ttl, ports, whole, ecn, spread, .. } =
                    *flow;
                self.world.begin(Flow {
                    from,
                    to,
                    kind,
                    count,
                    size,
                    gap_ns,
                    ttl,
                    ports,
                    whole,
                    ecn,
                    spread,
                });
            }
            Step::Wait(ns) => self.world.advance(self.world.now_ns() + ns),
            Step::Leap(ns) => {
                // What was on its way is late, and neighbours grow old.
                let now_ns = self.world.now_ns();
                self.world.leap(*ns);
                self.world.judge.excuses.delay(now_ns - 1, now_ns + ns);
                self.may_lose(now_ns, u64::MAX);
                self.world.judge.history.change_during(now_ns, now_ns + ns, |model| model.leap(*ns));
            }
            Step::Write { machine, path, value } => self.write(self.machine(machine)?, path, value),
            Step::Read(machine) => {
                let machine = self.machine(machine)?;
                if self.world.machines[machine].read_all() == 0 {
                    self.find("no handler can be read".into());
                }
            }
            Step::Swap { machine, knob, value } => self.swap(self.machine(machine)?, knob, *value),
            Step::Trial { machine, knob, value, ns } => self.trial(self.machine(machine)?, knob, *value, *ns),
            Step::Wrong { machine, kind } => return self.wrong(self.machine(machine)?, kind),
            Step::Restart { machine, workers } => self.restart(self.machine(machine)?, *workers),
            Step::Upgrade(machine) => self.upgrade(self.machine(machine)?),
            Step::Link { link, weather } => self.weather(link, *weather)?,
            Step::Move(host) => {
                let host = self.host(host)?;
                self.moves += 1;
                self.world.change_mac(host, [2, 1, 0, 0, self.moves, host as u8]);
            }
            Step::Capture { machine, kind } => {
                if !capture::KINDS.contains(&kind.as_str()) {
                    return Err(format!("no kind of capture is '{kind}'"));
                }
                let machine = self.machine(machine)?;
                self.replace(machine, &self.knobs[machine].clone(), Some(kind));
            }
            Step::Device { machine, port, fate } => {
                let machine = self.machine(machine)?;
                if *port >= self.ports[machine] {
                    return Err(format!("no interface {port}"));
                }
                match fate {
                    DeviceFate::Gone => self.world.pull_out(machine, *port),
                    fate => self.world.machines[machine].plug_in(*port, *fate == DeviceFate::Anew),
                }
            }
            Step::Storm { machine, seed } => {
                let machine = self.machine(machine)?;
                let config = self.config(machine, &self.knobs[machine].clone());
                let found = storm::rage(&self.world.machines[machine], &config, *seed);
                found.into_iter().for_each(|what| self.find(what));
            }
            Step::Stall { machine, worker, ns } => {
                let (machine, now_ns) = (self.machine(machine)?, self.world.now_ns());
                self.world.machines[machine].stall(*worker, now_ns + ns);
                // When it comes back the world may be looking elsewhere.
                let until_ns = now_ns + ns + STRIDE_MAX_NS;
                self.world.judge.excuses.hold(now_ns, until_ns);
                self.world.judge.history.begin(now_ns, |model| model.stall(machine, now_ns, until_ns));
            }
        }
        Ok(())
    }

    fn find(&mut self, what: String) {
        self.world.judge.find(self.world.now_ns(), what);
    }

    fn host(&self, name: &str) -> Result<usize, String> {
        let found = self.world.hosts.iter().position(|host| host.name == name);
        found.ok_or_else(|| format!("no host '{name}'"))
    }

    fn machine(&self, name: &str) -> Result<usize, String> {
        let found = self.world.machines.iter().position(|machine| machine.name == name);
        found.ok_or_else(|| format!("no router '{name}'"))
    }

    fn write(&mut self, machine: usize, path: &str, value: &str) {
        let now_ns = self.world.now_ns();
        let done = self.world.machines[machine].write(path, value);
        let expected = self.world.judge.history.current().copy().write(machine, path, value);
        match (done, expected) {
            (Ok(()), Verdict::Succeeds | Verdict::Either) => {
                self.world.judge.history.change(now_ns, |model| model.write(machine, path, value));
            }
            (Err(_), Verdict::Fails | Verdict::Either) => {}
            (Ok(()), Verdict::Fails) => self.find(format!("writing '{value}' to {path} succeeds")),
            (Err(error), Verdict::Succeeds) => self.find(format!("writing '{value}' to {path}: {error}")),
        }
    }

    fn kept(&mut self, machine: usize, new: &Knobs) -> Vec<(String, Result<String, String>)> {
        let paths = self.world.judge.history.current().kept(machine, &self.knobs[machine], new);
        let router = &mut self.world.machines[machine];
        paths.into_iter().map(|path| (path.clone(), router.read(&path))).collect()
    }

    /// Looks at the accounts of a router, before its configuration ends.
    fn audit(&mut self, machine: usize) {
        let found = conservation::check(&mut self.world.machines[machine]);
        found.into_iter().for_each(|what| self.find(what));
    }

    fn config(&self, machine: usize, knobs: &Knobs) -> String {
        wrong::spoilable(&self.family.config(machine, knobs))
    }

    fn swap(&mut self, machine: usize, knob: &str, value: u32) {
        let new = self.knobs[machine].with(knob, value);
        self.replace(machine, &new, None);
    }

    /// A swap that is taken back after a time, unless it was refused.
    fn trial(&mut self, machine: usize, knob: &str, value: u32, ns: i64) {
        let before = self.knobs[machine].clone();
        self.swap(machine, knob, value);
        if self.knobs[machine] != before {
            self.world.advance(self.world.now_ns() + ns);
            self.replace(machine, &before, None);
        }
    }

    /// Another configuration takes the place of a router's, perhaps with another kind of capture.
    fn replace(&mut self, machine: usize, new: &Knobs, capture: Option<&str>) {
        self.audit(machine);
        let (old, now_ns) = (self.knobs[machine].clone(), self.world.now_ns());
        self.world.rush();
        let before = self.kept(machine, new);
        let (config, router) = (self.config(machine, new), &mut self.world.machines[machine]);
        let done = match capture {
            Some(kind) => router.swap_capturing(&config, kind),
            None => router.swap(&config),
        };
        let expected = self.world.judge.history.current().copy().swap(machine, &old, new);
        let what = || format!("the swap from {old:?} to {new:?}");
        match (done, expected) {
            (Ok(_), Verdict::Fails) => self.find(format!("{} succeeds", what())),
            (Err(error), Verdict::Succeeds) => self.find(format!("{} is refused: {error}", what())),
            (Ok(lost), _) => {
                self.may_lose(now_ns, lost);
                self.world.judge.history.change(now_ns, |model| model.swap(machine, &old, new));
                self.knobs[machine] = new.clone();
                self.compare(machine, &before);
            }
            (Err(_), _) => self.compare(machine, &before),
        }
    }

    /// What handlers said before a swap they say now.
    fn compare(&mut self, machine: usize, before: &[(String, Result<String, String>)]) {
        for (path, value) in before {
            let now = self.world.machines[machine].read(path);
            let model = self.world.judge.history.current();
            // The order of lines means nothing.
            let sorted = |value: &Result<String, String>| {
                let essence = value.clone().map(|text| model.essence(path, &text));
                essence.map(|text| text.lines().map(str::to_owned).collect::<BTreeSet<_>>())
            };
            if sorted(&now) != sorted(value) {
                self.find(format!("{path} was {value:?} before the swap and is {now:?}"));
            }
        }
    }

    fn wrong(&mut self, machine: usize, kind: &str) -> Result<(), String> {
        let config = self.config(machine, &self.knobs[machine]);
        let config = wrong::spoil(&config, kind).ok_or_else(|| format!("no kind of wrong is '{kind}'"))?;
        self.world.rush();
        let before = self.kept(machine, &self.knobs[machine].clone());
        match self.world.machines[machine].swap(&config) {
            Ok(_) => self.find(format!("a swap to a configuration that is wrong ({kind}) succeeds")),
            Err(_) => self.compare(machine, &before),
        }
        Ok(())
    }

    fn restart(&mut self, machine: usize, workers: usize) {
        // What is under way in the router ends with it.
        self.world.advance(self.world.now_ns() + 1_000_000);
        self.audit(machine);
        let now_ns = self.world.now_ns();
        let config = self.config(machine, &self.knobs[machine]);
        match self.world.machines[machine].restart(&config, workers) {
            Ok(held) => self.may_lose(now_ns, held),
            Err(error) => self.find(format!("the router does not start with {workers} workers: {error}")),
        }
        self.world.judge.history.change(now_ns, |model| model.restart(machine));
    }

    /// A program of another version takes a router's place. All that stories look at goes on.
    fn upgrade(&mut self, machine: usize) {
        self.audit(machine);
        self.world.rush();
        let (now_ns, knobs) = (self.world.now_ns(), self.knobs[machine].clone());
        let mut before = self.kept(machine, &knobs);
        // Neighbours that are just being asked for are not handed over.
        before.retain(|(path, _)| !["arp.count", "nd.count"].iter().any(|count| path.ends_with(count)));
        let config = self.config(machine, &knobs);
        match self.world.machines[machine].upgrade(&config) {
            Ok(held) => self.may_lose(now_ns, held),
            Err(error) => self.find(format!("the router does not start after an upgrade: {error}")),
        }
        if self.world.judge.history.change(now_ns, |model| model.upgrade(machine, &knobs)) {
            self.compare(machine, &before);
        }
    }

    /// Of the messages that are on their way so many may be missing, and answers of neighbours, too.
    fn may_lose(&mut self, now_ns: i64, packets: u64) {
        let World { ledger, judge, .. } = &mut self.world;
        let longest_ns = judge.excuses.until_ns(now_ns) - now_ns;
        // An answer to a question for a neighbour is no message. Without it messages wait.
        let messages = packets.min(ledger.on_their_way(now_ns - longest_ns).max(1));
        judge.excuses.allow(now_ns, now_ns, messages);
    }

    fn weather(&mut self, name: &str, weather: Weather) -> Result<(), String> {
        let now_ns = self.world.now_ns();
        let found = self.world.links.iter().position(|link| link.name == name);
        let at = found.ok_or_else(|| format!("no link '{name}'"))?;
        let link: &mut Link = &mut self.world.links[at];
        (link.up, link.loss, link.jitter_ns) = match weather {
            Weather::Good => (true, 0, 0),
            Weather::Down => (false, 0, 0),
            Weather::Loss(loss) => (true, loss, 0),
            Weather::Jitter(ns) => (true, 0, ns),
        };
        let good = link.is_good();
        let is_known = self.world.judge.history.change(now_ns, |model| model.weather(name, weather));
        self.world.links[at].is_modelled = is_known;
        // What the model does not answer for may get lost.
        self.world.judge.excuses.weather(at, good || is_known, now_ns);
        Ok(())
    }

    /// All messages are sent, and what is on its way arrives.
    fn come_to_rest(&mut self) {
        let now_ns = self.world.now_ns();
        let last_ns = self.world.planned_until_ns().unwrap_or(now_ns).max(now_ns);
        let held_ns = self.world.judge.excuses.until_ns(last_ns) - last_ns;
        self.world.advance(last_ns + EPILOGUE_NS + held_ns);
        let patience_ns = last_ns + PATIENCE_NS;
        while self.world.is_moving() && self.world.now_ns() < patience_ns {
            self.world.advance(self.world.now_ns() + EPILOGUE_NS + held_ns);
        }
    }

    fn end(mut self, start_ns: i64) -> Outcome {
        self.come_to_rest();
        let end_ns = self.world.now_ns();
        (0..self.world.machines.len()).for_each(|machine| self.audit(machine));
        let World { judge, ledger, machines, .. } = &mut self.world;
        judge.end(ledger, end_ns);
        let found = judge.history.current().copy().at_end(machines, ledger, judge.excuses.is_calm());
        found.into_iter().for_each(|what| judge.find(end_ns, what));
        if judge.found > 0 {
            let drops = machines.iter().flat_map(dropped).collect::<Vec<_>>();
            drops.into_iter().for_each(|what| judge.note(end_ns, what));
        }
        let World { mut judge, ledger, machines, trace, .. } = self.world;
        let found = machines.into_iter().flat_map(Machine::end).collect::<Vec<_>>();
        found.into_iter().for_each(|what| judge.find(end_ns, what));
        Outcome {
            faults: judge.faults,
            found: judge.found,
            trace: trace.to_string(),
            frames: trace.frames,
            messages: ledger.all().count(),
            simulated_ns: end_ns - start_ns,
        }
    }
}

/// What a router has dropped, in words.
fn dropped(machine: &Machine) -> impl Iterator<Item = String> {
    let line = |(element, reason, count)| format!("{}: {element} dropped {count}: {reason}", machine.name);
    machine.drops().into_iter().map(line)
}
