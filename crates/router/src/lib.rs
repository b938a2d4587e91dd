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
//!
//! The modules below stand in layers, the ground first: each imports from those above it in this file, never from
//! those below.

#![forbid(unsafe_code)]

mod error;

/// Where random numbers come from.
mod chance {
    pub(crate) mod secret;
}

/// Text becomes values: arguments, names, the machine's services.
mod text {
    pub(crate) mod args;
    pub(crate) mod current;
    pub(crate) mod names;
    pub(crate) mod services;
    pub(crate) mod values;
}

/// What is fixed once a configuration is laid out: classes, ports, which worker runs what.
mod configuration {
    pub(crate) mod class;
    pub(crate) mod filter;
    pub(crate) mod layout;
    pub(crate) mod node;
    pub(crate) mod placement;
    pub(crate) mod plan;
    pub(crate) mod ports;
}

/// What is known of handlers without the elements that answer: calls, responses, declarations.
mod handlers {
    pub(crate) mod call;
    pub(crate) mod declaration;
    pub mod metric;
    pub(crate) mod response;
}

/// What threads share while a router runs: the clock, the log, events, mailboxes, counts.
mod shared {
    pub(crate) mod account;
    pub(crate) mod bell;
    pub(crate) mod clock;
    pub(crate) mod decision;
    pub(crate) mod ending;
    pub(crate) mod events;
    pub(crate) mod info;
    pub(crate) mod ledger;
    pub(crate) mod log;
    pub(crate) mod mailbox;
    pub(crate) mod observing;
    pub(crate) mod orders;
    pub(crate) mod record;
    pub(crate) mod survey;
    pub(crate) mod swaps;
    pub(crate) mod voices;
    pub(crate) mod writer;
}

/// When elements of one worker run: tasks, timers, descriptors.
mod schedule {
    pub(crate) mod awaited;
    pub(crate) mod carriers;
    pub(crate) mod sched;
    pub(crate) mod signals;
    pub(crate) mod timers;
}

/// Calls of handlers on their way: what a path means, who waits for an answer.
mod calls {
    pub mod computation;
    pub(crate) mod globals;
    pub(crate) mod handle;
    pub(crate) mod resolve;
}

/// What a running element can do.
mod context {
    pub(crate) mod calls;
    pub(crate) mod core;
    pub(crate) mod counting;
    pub(crate) mod cx;
    pub(crate) mod leash;
    pub(crate) mod look;
    pub(crate) mod next;
    pub(crate) mod scatter;
    pub(crate) mod sighting;
    pub(crate) mod signals;
    pub(crate) mod tasks;
    pub(crate) mod timers;
    pub(crate) mod values;
    pub(crate) mod verdict;
    pub(crate) mod watch;
    pub(crate) mod work;
}

/// What an element is, how it is made, and what it declares.
mod element {
    pub(crate) mod behaviour;
    pub(crate) mod class;
    pub(crate) mod config;
    pub(crate) mod counted;
    pub(crate) mod estate;
    pub(crate) mod handlers;
    pub(crate) mod observed;
    pub(crate) mod simple;
    pub(crate) mod tap;
}

/// A worker: its turn, its part in calls, its sleep.
mod worker {
    pub(crate) mod calls;
    pub(crate) mod ending;
    pub(crate) mod everyone;
    pub(crate) mod instances;
    pub(crate) mod observe;
    pub(crate) mod pull;
    pub(crate) mod push;
    pub(crate) mod survey;
    pub(crate) mod turn;
    pub(crate) mod wait;
}

/// A router: how it is built, driven, asked and replaced.
mod running {
    pub(crate) mod balance;
    pub(crate) mod build;
    pub(crate) mod drive;
    pub(crate) mod inherit;
    pub(crate) mod instances;
    pub(crate) mod listen;
    pub(crate) mod observer;
    pub(crate) mod router;
    pub(crate) mod surveyor;
    pub(crate) mod vigil;
}

#[doc(hidden)]
pub mod manual;

pub use calls::computation as control;
pub use handlers::metric;

pub use calls::computation::{Answer, Step};
pub use calls::handle::Handle;
pub use chance::secret::{Secret, Unguessable};
pub use configuration::class::{Activity, Budget, Described, Hide, Pin, ReadPins, Residency};
pub use configuration::filter::{CompileFilter, Filter};
pub use configuration::layout::layout;
pub use configuration::node::{Node, Port};
pub use configuration::placement::Placement;
pub use configuration::plan::Plan;
pub use configuration::ports::{flows, letter, sides};
pub use context::calls::Calling;
pub use context::cx::Cx;
pub use context::look::Look;
pub use context::next::Next;
pub use context::signals::Signals;
pub use context::tasks::Tasks;
pub use context::timers::Timers;
pub use context::values::{arguments, keyword_value, scope, value};
pub use context::verdict::Verdict;
pub use element::behaviour::{Element, Pull, Queues};
pub use element::class::{Class, Classes, Create, Layout};
pub use element::config::{Config, Resources};
pub use element::estate::{BadState, Descriptors, Estate, Heirloom, StateReader, StateWriter};
pub use element::handlers::{Handlers, Job, Outcome};
pub use element::simple::{PerPacket, Simple};
pub use error::{ConfigError, HandlerError, HandlerErrorKind};
pub use handlers::call::{Access, Call, CallArg};
pub use handlers::declaration::{ANY, Declarations, Flags, Handler};
pub use handlers::metric::Metric;
pub use handlers::response::{HandlerResult, Merge, Response};
pub use running::balance::{Balance, Entry, Fault, Imbalance};
pub use running::build::{Checked, Configured, Options, argument_errors, build, check, configure, errors};
pub use running::drive::Standing;
pub use running::inherit::Left;
pub use running::observer::{Capturing, Costs, Observer, Tracing, Way};
pub use running::router::Router;
pub use running::surveyor::{Reading, Survey, Surveyor};
pub use running::vigil::{Silent, Vigil};
pub use schedule::awaited::Interest;
pub use schedule::sched::{DEFAULT_TICKETS, MAX_TICKETS, TaskAccount};
pub use shared::account::{Account, Sizes};
pub use shared::clock::Clock;
pub use shared::decision::{Decision, Then};
pub use shared::events::Events;
pub use shared::info::{Info, Reconfigure};
pub use shared::log::{DEFAULT_CHANNEL, Listener, Log, listen, print_record};
pub use shared::observing::{Capture, Cost, Edge, SIZES, Step as TraceStep, Trace, View, What};
pub use shared::orders::{Dropped, Explained};
pub use shared::record::{Form, Level, Record, form, is_written, set_level, write_as};
pub use shared::survey::WorkerState;
pub use shared::writer::Writer;
pub use text::args::{Args, FromArg, Scope, parse_error};
pub use text::names::{InterfaceAddresses, Names, Value};
pub use text::services::{machine_protocol, service_port};
pub use text::values::{
    AnnoOf, Bandwidth, Bytes, ElementName, FileName, IpMask, IpPort, NetOrHost, Raw, TableSize, interval,
    parse_boolean, parse_integer, parse_time,
};

/// Packets in a batch, at most, unless told otherwise.
pub const DEFAULT_VECTOR: usize = 128;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The examples of the chapter on writing elements, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/write-an-element.md")]
mod chapter {}
