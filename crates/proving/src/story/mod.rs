//! A story: a world, and what happens in it, step by step.

mod draw;
mod knobs;
mod run;
mod shrink;
mod text;

pub use draw::draw;
pub use knobs::{Knob, Knobs};
pub use run::{Outcome, alone, run};
pub use shrink::shrink;

use crate::world::Kind;
use std::net::IpAddr;

/// A story. The same story always comes to the same end, frame by frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// The family that its configurations are from.
    pub family: String,
    /// The seed of all that is random in the world, and of the routers.
    pub seed: u64,
    /// Workers of each router at first.
    pub workers: usize,
    /// Packets in a batch, at most.
    pub vector: usize,
    /// Which of the family's configurations; those that are not named are 0.
    pub knobs: Knobs,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A host begins to send.
    Flow(FlowStep),
    /// So many nanoseconds pass.
    Wait(i64),
    /// The clock leaps by so many nanoseconds while all routers sleep.
    Leap(i64),
    /// A handler of a router is written.
    Write {
        /// The router.
        machine: String,
        /// The handler.
        path: String,
        /// The value.
        value: String,
    },
    /// All handlers of a router are read.
    Read(String),
    /// A router gets the configuration that has one knob turned.
    Swap {
        /// The router.
        machine: String,
        /// The knob.
        knob: String,
        /// Its new position.
        value: u32,
    },
    /// The same, and after a time the configuration before takes its place again, as when nothing confirms a reload.
    Trial {
        /// The router.
        machine: String,
        /// The knob.
        knob: String,
        /// Its position for the time.
        value: u32,
        /// How long, in nanoseconds.
        ns: i64,
    },
    /// A router is offered a wrong configuration.
    Wrong {
        /// The router.
        machine: String,
        /// Which kind of wrong.
        kind: String,
    },
    /// A router ends, and another begins.
    Restart {
        /// The router.
        machine: String,
        /// With so many workers.
        workers: usize,
    },
    /// A program of another version takes a router's place.
    Upgrade(String),
    /// A link's weather changes.
    Link {
        /// The link.
        link: String,
        /// What it is like now.
        weather: Weather,
    },
    /// A host gets another Ethernet address and announces it.
    Move(String),
    /// A worker of a router is held for so many nanoseconds.
    Stall {
        /// The router.
        machine: String,
        /// The worker.
        worker: usize,
        /// How long.
        ns: i64,
    },
    /// A router captures all that arrives, in another way than before: by a hot swap.
    Capture {
        /// The router.
        machine: String,
        /// How: one of [`crate::capture::KINDS`].
        kind: String,
    },
    /// An interface of a router vanishes, or returns.
    Device {
        /// The router.
        machine: String,
        /// The interface's number.
        port: usize,
        /// What becomes of it.
        fate: DeviceFate,
    },
    /// All handlers of a router's twin are written, with whatever comes.
    Storm {
        /// The router.
        machine: String,
        /// What comes.
        seed: u32,
    },
}

/// Messages that a host sends to an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStep {
    /// The sender.
    pub from: String,
    /// To whom.
    pub to: IpAddr,
    /// In what.
    pub kind: Kind,
    /// How many.
    pub count: u32,
    /// Bytes of payload in each.
    pub size: usize,
    /// Nanoseconds between two.
    pub gap_ns: i64,
    /// TTL, or hop limit.
    pub ttl: u8,
    /// The mark of explicit congestion notification: 0 for none, 1 for ECT(1), 2 for ECT(0), 3 for congestion experienced.
    pub ecn: u8,
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Whether each message comes from the next port.
    pub spread: bool,
    /// Whether routers may not cut the packets.
    pub whole: bool,
}

/// What becomes of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFate {
    /// It vanishes, with the frames that it received and the router has not taken.
    Gone,
    /// It returns.
    Back,
    /// Another one comes that has its name.
    Anew,
}

/// What a link is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// It carries every frame, in order.
    Good,
    /// It carries nothing.
    Down,
    /// Of a thousand frames it loses so many.
    Loss(u32),
    /// Frames take up to so many nanoseconds longer.
    Jitter(i64),
}
