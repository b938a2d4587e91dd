//! A real router in the simulated world: built as the program builds it, with interfaces in memory.

use crate::capture::{self, Figures};
use crate::datagram::{Datagram, Frame, Segment};
use device::memory::{Config, Interface, Interfaces, TapConfig};
use router::{Call, Classes, Clock, Entry, Estate, Log, Options, Resources, Router, Standing};
use std::sync::{Arc, LazyLock};

/// Receive and transmit queues of each interface, and workers at most.
pub const QUEUES: usize = 4;
/// Why a packet is dropped whose interface is gone.
const GONE: &str = "the interface is gone";
/// Frames that a receive queue holds.
const RECEIVE: usize = 2_048;
/// Frames that a router may send between two looks at what it sent.
const TRANSMIT: usize = 8_192;

static LIBRARY: LazyLock<Classes> = LazyLock::new(elements::classes);

/// How a router runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drive {
    /// Workers.
    pub workers: usize,
    /// Packets in a batch, at most.
    pub vector: usize,
    /// The seed of its randomness.
    pub seed: u64,
}

/// A router and its interfaces.
pub struct Machine {
    /// What stories call it.
    pub name: String,
    /// How it runs.
    pub drive: Drive,
    interfaces: Vec<Arc<Interface>>,
    registry: Interfaces,
    clock: Clock,
    router: Router,
    /// How many configurations the seed was for before this one.
    generation: u64,
    /// What did not add up so far.
    wrong: Vec<String>,
    /// Packets of this configuration that an interface was gone for, as far as they have been told.
    unsent_noted: u64,
    /// The same of packets that others overtook.
    overtaken_noted: u64,
    /// Packets that swaps have lost, and whether interfaces have vanished.
    lost: u64,
    was_pulled_out: bool,
    capture: Capture,
}

/// What the router captures, and since when.
struct Capture {
    kind: String,
    folder: tempfile::TempDir,
    /// All frames that came, by interface.
    frames: Vec<Vec<Vec<u8>>>,
    /// Frames that the router had taken of each interface when it began.
    since: Vec<u64>,
    /// Frames that the router had taken of interfaces that have vanished.
    earlier: Vec<u64>,
}

impl Machine {
    /// A router with interfaces `eth0`, `eth1` and so on.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(
        name: &str,
        ports: usize,
        config: &str,
        drive: Drive,
        clock: &Clock,
    ) -> Result<Machine, String> {
        let (interfaces, registry): (Vec<_>, _) = ((0..ports).map(interface).collect(), Interfaces::new());
        for interface in &interfaces {
            registry.add(interface.clone()).map_err(|error| error.to_string())?;
        }
        let router = build(config, &registry, drive, 0, clock)?;
        let capture = Capture {
            kind: capture::KINDS[0].to_owned(),
            folder: capture::folder(ports).map_err(|error| error.to_string())?,
            frames: vec![Vec::new(); ports],
            since: vec![0; ports],
            earlier: vec![0; ports],
        };
        Ok(Machine {
            name: name.to_owned(),
            drive,
            interfaces,
            registry,
            clock: clock.clone(),
            router,
            generation: 0,
            wrong: Vec::new(),
            unsent_noted: 0,
            overtaken_noted: 0,
            lost: 0,
            was_pulled_out: false,
            capture,
        })
    }

    /// Puts a frame into a receive queue, as a network card would: all packets of a flow into one. False if it is full.
    pub fn receive(&mut self, port: usize, frame: &[u8]) -> bool {
        let taken = self.interfaces[port].inject(queue_of(frame), frame).is_ok();
        if taken {
            self.capture.frames[port].push(frame.to_vec());
        }
        taken
    }

    /// The router that runs now.
    pub fn router(&mut self) -> &mut Router {
        &mut self.router
    }

    /// Lets the router work until it rests, or for so many rounds.
    pub fn work(&mut self, rounds: usize) -> Standing {
        self.router.run_rounds(rounds)
    }

    /// What the router has sent since the last call: the interface and the frame.
    pub fn sent(&self, mut f: impl FnMut(usize, Vec<u8>)) {
        for (port, interface) in self.interfaces.iter().enumerate() {
            interface.drain_tap(usize::MAX, |frame| f(port, frame.to_vec()));
        }
    }

    /// Frames that were sent and are in no record, because there were too many at once.
    pub fn unseen(&self) -> u64 {
        self.interfaces.iter().map(|interface| interface.tx_stats().tap_overflow).sum()
    }

    /// What did not add up since the last call when configurations ended: packets that were left behind or came twice, and captures.
    pub fn wrong(&mut self) -> Vec<String> {
        std::mem::take(&mut self.wrong)
    }

    /// Puts another configuration in the place of the one that runs, as `hotconfig` does. Returns how many packets it lost by its own
    /// account: those in elements that have no namesake any more, and those that were dropped and counted.
    ///
    /// # Errors
    /// Why it was refused; the router goes on then.
    pub fn swap(&mut self, config: &str) -> Result<u64, String> {
        self.swap_capturing(config, &self.capture.kind.clone())
    }

    /// The same, with another kind of capture from then on.
    ///
    /// # Errors
    /// Why it was refused.
    pub fn swap_capturing(&mut self, config: &str, kind: &str) -> Result<u64, String> {
        self.generation += 1;
        let config = capture::tap(config, kind, self.capture.folder.path());
        let new = build(&config, &self.registry, self.drive, self.generation, &self.clock)?;
        self.router.handle().interrupt();
        let mut old = self.router.replace(new).map_err(|error| error.to_string())?;
        let (now, before) = (self.router.balance(), old.balance());
        self.wrong.extend(now.check_swap(&before).err().into_iter().flatten().map(|fault| fault.to_string()));
        let stays = |entry: &&Entry| {
            now.elements.iter().any(|new| (&new.name, new.class) == (&entry.name, entry.class))
        };
        let left: u64 = before.elements.iter().filter(|entry| !stays(entry)).map(|entry| entry.held).sum();
        old.finish();
        if kind != self.capture.kind {
            self.wrong.extend(self.capture.check(&self.interfaces, &mut old));
            self.capture.kind = kind.to_owned();
        }
        self.unsent_noted = self.unsent(); // those that the swap itself dropped are among what it lost
        let lost = left + now.total().drops();
        self.lost += lost;
        Ok(lost)
    }

    /// Ends the router and starts another with so many workers, which inherits nothing, its randomness included. Returns how many packets
    /// the old one held.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn restart(&mut self, config: &str, workers: usize) -> Result<u64, String> {
        let drive = Drive { workers, seed: self.drive.seed.wrapping_add(1), ..self.drive };
        let config = capture::tap(config, &self.capture.kind, self.capture.folder.path());
        let held = self.held();
        // The files of the one are closed before the other opens them.
        self.router.finish();
        self.wrong.extend(self.capture.check(&self.interfaces, &mut self.router));
        self.router = build(&config, &self.registry, drive, 0, &self.clock)?;
        (self.drive, self.generation, self.unsent_noted) = (drive, 0, 0);
        Ok(held)
    }

    /// Another process takes the router's place, as `clique upgrade` has it: a new router gets what elements leave as bytes, and nothing else.
    /// Returns how many packets may be left behind: those
    /// in queues go on.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn upgrade(&mut self, config: &str) -> Result<u64, String> {
        let config = capture::tap(config, &self.capture.kind, self.capture.folder.path());
        self.router.handle().interrupt();
        let left = self.router.write_state();
        let estate = Estate { heirlooms: left.heirlooms.into_iter().map(|(heirloom, _)| heirloom).collect() };
        let held = self.held_outside_queues();
        self.router.finish();
        self.wrong.extend(self.capture.check(&self.interfaces, &mut self.router));
        // The key of hashes is handed over, too; what else is random is another one, as after a swap.
        self.generation += 1;
        self.router = build(&config, &self.registry, self.drive, self.generation, &self.clock)?;
        self.wrong.extend(self.router.read_state(&estate));
        self.unsent_noted = 0;
        Ok(held)
    }

    /// Packets that no queue has, nor a Spray: on their way, or waiting for something.
    fn held_outside_queues(&self) -> u64 {
        let balance = self.router.balance();
        let others =
            balance.elements.iter().filter(|entry| !entry.class.ends_with("Queue") && entry.class != "Spray");
        others.map(|entry| entry.held).sum::<u64>() + balance.in_flight
    }

    /// Packets that the router has.
    pub fn held(&self) -> u64 {
        let balance = self.router.balance();
        balance.total().held + balance.in_flight
    }

    /// An interface vanishes. Returns the frames that it had received and the router had not taken.
    pub fn pull_out(&mut self, port: usize) -> Vec<Vec<u8>> {
        let mut lost = Vec::new();
        self.was_pulled_out = true;
        self.interfaces[port].set_gone(true, |frame| lost.push(frame.to_vec()));
        lost
    }

    /// An interface returns, itself or under another number.
    pub fn plug_in(&mut self, port: usize, anew: bool) {
        if !anew || !self.interfaces[port].is_gone() {
            return self.interfaces[port].set_gone(false, |_| ());
        }
        self.capture.earlier[port] += self.interfaces[port].rx_stats().packets;
        self.interfaces[port] = interface(port);
        // The one before is gone, so that its place is free.
        let _ = self.registry.succeed(self.interfaces[port].clone());
    }

    /// Packets that the router could not send since the last call because an interface was gone.
    pub fn newly_unsent(&mut self) -> u64 {
        if self.interfaces.iter().all(|interface| !interface.is_gone()) {
            return 0;
        }
        let unsent = self.unsent();
        unsent - std::mem::replace(&mut self.unsent_noted, unsent)
    }

    /// The same since the configuration began.
    fn unsent(&self) -> u64 {
        self.dropped(GONE)
    }

    /// Packets that the router has dropped because others overtook them, for these reasons, since the last call or since its configuration began.
    pub fn newly_overtaken(&mut self, reasons: &[&str]) -> u64 {
        let overtaken = reasons.iter().map(|reason| self.dropped(reason)).sum();
        let noted = std::mem::replace(&mut self.overtaken_noted, overtaken);
        overtaken.checked_sub(noted).unwrap_or(overtaken)
    }

    /// Packets that this configuration has dropped for a reason.
    fn dropped(&self, wanted: &str) -> u64 {
        self.router.drops().iter().filter(|(_, reason, _)| *reason == wanted).map(|(_, _, count)| count).sum()
    }

    /// Packets that swaps have lost so far, by the router's own account.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether an interface has ever vanished.
    pub fn was_pulled_out(&self) -> bool {
        self.was_pulled_out
    }

    /// Lets time pass for this router alone, when the story is at its end.
    pub fn pass(&mut self, ns: i64, rounds: usize) {
        self.clock.jump(self.clock.now_ns() + ns);
        self.router.run_rounds(rounds);
    }

    /// Holds a worker until a time; others go on.
    pub fn stall(&mut self, worker: usize, until_ns: i64) {
        self.router.stall(worker % self.drive.workers, until_ns);
    }

    /// Reads a handler.
    ///
    /// # Errors
    /// What it says.
    pub fn read(&mut self, path: &str) -> Result<String, String> {
        self.router.call(Call::read(path, "")).map_err(|error| error.to_string())
    }

    /// Writes to a handler.
    ///
    /// # Errors
    /// What it says.
    pub fn write(&mut self, path: &str, value: &str) -> Result<(), String> {
        self.router.call(Call::write(path, value)).map(drop).map_err(|error| error.to_string())
    }

    /// A router of the same kind with interfaces of its own, and simulated time of its own.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn twin(&self, config: &str) -> Result<Machine, String> {
        Machine::new(&self.name, self.interfaces.len(), config, self.drive, &Clock::simulated())
    }

    /// The frames that have come, each with its interface.
    pub fn frames(&self) -> impl Iterator<Item = (usize, Vec<u8>)> + '_ {
        let of = |(port, frames): (usize, &Vec<Vec<u8>>)| {
            frames.iter().map(move |frame| (port, frame.clone())).collect::<Vec<_>>()
        };
        self.capture.frames.iter().enumerate().flat_map(of)
    }

    /// All handlers that can be written.
    pub fn writable(&mut self) -> Vec<String> {
        self.handlers(|flags| flags.contains('w'))
    }

    /// The handlers of all elements that have such flags.
    fn handlers(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut found = Vec::new();
        let elements = self.read("list").unwrap_or_default();
        for element in elements.lines().skip(1) {
            let handlers = self.read(&format!("{element}.handlers")).unwrap_or_default();
            let named = handlers.lines().filter_map(|line| line.split_once('\t'));
            found.extend(
                named.filter(|(_, flags)| wanted(flags)).map(|(name, _)| format!("{element}.{name}")),
            );
        }
        found
    }

    /// Reads every handler that can be read without an argument; returns how many there were.
    pub fn read_all(&mut self) -> usize {
        // Whether it can be read now is its own matter; that reading changes nothing is what the story shows.
        let paths = self.handlers(|flags| flags.contains('r') && !flags.contains('w'));
        paths.into_iter().filter(|path| self.read(path).is_ok()).count()
    }

    /// What the router has dropped: element, reason, number.
    pub fn drops(&self) -> Vec<(String, &'static str, u64)> {
        let name = |element: usize| self.router.info().nodes[element].name.to_string();
        self.router
            .drops()
            .into_iter()
            .map(|(element, reason, count)| (name(element), reason, count))
            .collect()
    }

    /// Ends the router: after this its packet buffers are free. Returns what is wrong with its captures.
    pub fn end(mut self) -> Vec<String> {
        self.router.finish();
        let captures = self.capture.check(&self.interfaces, &mut self.router);
        self.wrong.extend(captures);
        self.wrong
    }
}

impl Capture {
    /// Compares what a router that has ended says it captured with its files, and with what arrived. Another capture begins.
    fn check(&mut self, interfaces: &[Arc<Interface>], ended: &mut Router) -> Vec<String> {
        let taken: Vec<u64> = interfaces
            .iter()
            .zip(&self.earlier)
            .map(|(interface, earlier)| interface.rx_stats().packets + earlier)
            .collect();
        let mut wrong = Vec::new();
        for figures in figures(ended) {
            let of_file =
                |interface: &Arc<Interface>| figures.file.contains(&format!("/{}.", interface.name()));
            if let Some(port) = interfaces.iter().position(of_file) {
                let arrived = taken[port] - self.since[port];
                wrong.extend(capture::check(&figures, arrived, &self.frames[port]));
            }
        }
        self.since = taken;
        wrong
    }
}

/// What the elements that capture say.
fn figures(router: &mut Router) -> Vec<Figures> {
    let dumps = router.info().nodes.iter().filter(|node| node.class.name == "ToDump");
    let names: Vec<String> = dumps.map(|node| node.name.to_string()).collect();
    let mut read = |element: &str, handler: &str| {
        router.call(Call::read(format!("{element}.{handler}"), "")).unwrap_or_default()
    };
    let figures = |element: String| Figures {
        file: read(&element, "filename"),
        count: read(&element, "count").parse().unwrap_or(0),
        missed: read(&element, "missed").parse().unwrap_or(0),
        element,
    };
    names.into_iter().map(figures).collect()
}

/// An interface by its number, as a network card has it.
fn interface(number: usize) -> Arc<Interface> {
    let tap = Some(TapConfig { every: 1, capacity: TRANSMIT });
    Interface::new(&format!("eth{number}"), Config { tap, ..Config::rings(QUEUES, RECEIVE) })
}

/// Builds a router; `generation` says how many configurations its seed was for before.
fn build(
    config: &str,
    interfaces: &Interfaces,
    drive: Drive,
    generation: u64,
    clock: &Clock,
) -> Result<Router, String> {
    let parsed = lang::parse(config, "config", &[]);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let mut resources = Resources::default();
    resources.insert(interfaces.clone());
    let known: &Classes = &LIBRARY;
    let layout = router::layout(parsed.graph, known, drive.workers).map_err(|e| lang::render_click(&e))?;
    let options = Options {
        workers: drive.workers,
        vector: drive.vector,
        seed: drive.seed,
        generation,
        counted: true,
        clock: clock.clone(),
        log: Log::Memory(Default::default()),
        resources,
        ..Options::default()
    };
    let built = router::build(layout, config.to_owned(), known, options);
    built.map(|(router, _)| router).map_err(|e| lang::render_click(&e))
}

/// The receive queue for a frame: by addresses, protocol and ports; by addresses alone for fragments.
fn queue_of(frame: &[u8]) -> usize {
    let Ok(Ok(packet)) = Frame::parse(frame).map(|frame| Datagram::parse(&frame.payload)) else { return 0 };
    let ports = match (packet.fragment, Segment::parse_quoted(&packet)) {
        (None, Ok(segment)) => segment.ports(),
        _ => [0; 2],
    };
    let key = format!("{} {} {ports:?}", packet.src, packet.dst);
    let hash = key.bytes().fold(5381_u32, |hash, byte| hash.wrapping_mul(33) ^ u32::from(byte));
    (hash >> 7) as usize % QUEUES
}
