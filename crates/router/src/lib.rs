//! Elements, the graph, workers, scheduling, handlers and hot swap.
//!
//! A configuration graph becomes a [`Layout`] (classes, push and pull, which worker runs what), and the layout
//! becomes a [`Router`] (instances, ready to run). Each worker owns its instances: [`Element`] methods take
//! `&mut self`, run one at a time, and reach the rest of the router through [`Cx`] alone. Batches of packets, and
//! requests up pull paths, travel over a work-list, so no element ever calls another. What spans elements is a
//! [`control`] computation.
//!
//! The crate knows no concrete element and no device. Its tests are in `tests/`, with toy elements for each of the
//! cases that the traits were designed for, such as the order of effects.

#![forbid(unsafe_code)]

mod account;
mod args;
mod build;
mod class;
mod clock;
mod config;
pub mod control;
mod current;
mod cx;
mod element;
mod events;
mod globals;
mod handler;
mod info;
mod mailbox;
#[doc(hidden)]
pub mod manual;
pub mod metric;
mod names;
mod plan;
mod ports;
mod ready;
mod router;
mod sched;
mod services;
mod survey;
mod timers;
mod values;
mod work;
mod worker;

pub use account::{Account, Sizes};
pub use args::{Args, FromArg, Scope, arguments, keyword_value, parse_error, scope, value};
pub use build::{Checked, Configured, Layout, Options, build, check, configure, layout};
pub use class::{Activity, Class, Classes, Pin, ReadPins, Residency};
pub use clock::Clock;
pub use config::{Config, ConfigError, Resources};
pub use control::{Access, Answer, Call, Step, Writer};
pub use cx::Cx;
pub use element::{Element, PerPacket, Pull, Queues, Refused, Simple, Verdict};
pub use events::Events;
pub use handler::{ANY, Flags, Handler, HandlerResult, Handlers, Merge, Outcome, Response};
pub use info::{DEFAULT_CHANNEL, Info, Listener, Log, Node, Port, Reconfigure, listen};
pub use metric::Metric;
pub use names::{InterfaceAddresses, Names, Value};
pub use plan::Plan;
pub use ports::{flows, letter, sides};
pub use ready::Interest;
pub use router::{Handle, Router, STOPPED};
pub use sched::{DEFAULT_TICKETS, MAX_TICKETS, TaskAccount};
pub use services::{machine_protocol, service_port};
pub use survey::{Reading, Survey, Surveyor, WorkerState};
pub use values::{
    AnnoOf, Bandwidth, Bytes, CallArg, ElementName, FileName, IpMask, IpPort, NetOrHost, Raw, TableSize,
    interval, parse_boolean, parse_integer,
};

/// Packets in a batch, at most, unless told otherwise.
pub const DEFAULT_VECTOR: usize = 32;
