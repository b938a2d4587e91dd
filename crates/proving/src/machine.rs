//! A real router in the simulated world: built as the program builds it, with interfaces in memory.

use crate::datagram::{Datagram, Frame, Segment};
use device::memory::{Config, Interface, Interfaces, TapConfig};
use router::{Call, Classes, Clock, Log, Options, Resources, Router, Standing};
use std::sync::{Arc, LazyLock};

/// Receive and transmit queues of each interface, and workers at most.
pub const QUEUES: usize = 4;
/// Frames that a receive queue holds.
const RECEIVE: usize = 2_048;
/// Frames that a router may send between two looks at what it sent.
const TRANSMIT: usize = 65_536;

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
    clock: Clock,
    router: Router,
    /// How many configurations the seed was for before this one.
    generation: u64,
    unmoved: Vec<String>,
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
        let tap = Some(TapConfig { every: 1, capacity: TRANSMIT });
        let interface = |number| {
            Interface::new(&format!("eth{number}"), Config { tap, ..Config::rings(QUEUES, RECEIVE) })
        };
        let interfaces: Vec<_> = (0..ports).map(interface).collect();
        let router = build(config, &interfaces, drive, 0, clock)?;
        Ok(Machine {
            name: name.to_owned(),
            drive,
            interfaces,
            clock: clock.clone(),
            router,
            generation: 0,
            unmoved: Vec::new(),
        })
    }

    /// Puts a frame into a receive queue, as a network card would: all packets of a flow into one. False if it is full.
    pub fn receive(&self, port: usize, frame: &[u8]) -> bool {
        self.interfaces[port].inject(queue_of(frame), frame).is_ok()
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

    /// What the balance says of swaps since the last call: packets that were left behind, or that came twice.
    pub fn unmoved(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unmoved)
    }

    /// Puts another configuration in the place of the one that runs, as `hotconfig` does.
    ///
    /// # Errors
    /// Why it was refused; the router goes on then.
    pub fn swap(&mut self, config: &str) -> Result<(), String> {
        self.generation += 1;
        let new = build(config, &self.interfaces, self.drive, self.generation, &self.clock)?;
        self.router.handle().interrupt();
        let mut old = self.router.replace(new).map_err(|error| error.to_string())?;
        let moved = self.router.balance().check_swap(&old.balance());
        self.unmoved.extend(moved.err().into_iter().flatten().map(|fault| fault.to_string()));
        old.finish();
        Ok(())
    }

    /// Ends the router and starts another with so many workers, which inherits nothing, its randomness included.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn restart(&mut self, config: &str, workers: usize) -> Result<(), String> {
        let drive = Drive { workers, seed: self.drive.seed.wrapping_add(1), ..self.drive };
        let new = build(config, &self.interfaces, drive, 0, &self.clock)?;
        self.router.finish();
        (self.router, self.drive, self.generation) = (new, drive, 0);
        Ok(())
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

    /// Reads every handler that can be read without an argument; returns how many there were.
    pub fn read_all(&mut self) -> usize {
        let mut read = 0;
        let elements = self.read("list").unwrap_or_default();
        for element in elements.lines().skip(1) {
            let handlers = self.read(&format!("{element}.handlers")).unwrap_or_default();
            for line in handlers.lines() {
                let mut words = line.split('\t');
                if let (Some(name), Some(flags)) = (words.next(), words.next())
                    && flags.contains('r')
                    && !flags.contains('w')
                {
                    // Whether it can be read now is its own matter; that reading changes nothing is what the story shows.
                    read += usize::from(self.read(&format!("{element}.{name}")).is_ok());
                }
            }
        }
        read
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

    /// Ends the router: after this its packet buffers are free.
    pub fn end(mut self) {
        self.router.finish();
    }
}

/// Builds a router; `generation` says how many configurations its seed was for before.
fn build(
    config: &str,
    interfaces: &[Arc<Interface>],
    drive: Drive,
    generation: u64,
    clock: &Clock,
) -> Result<Router, String> {
    let parsed = lang::parse(config, "config", &[]);
    if parsed.has_errors() {
        return Err(parsed.render_click());
    }
    let registry = Interfaces::new();
    for interface in interfaces {
        registry.add(interface.clone()).map_err(|error| error.to_string())?;
    }
    let mut resources = Resources::default();
    resources.insert(registry);
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
