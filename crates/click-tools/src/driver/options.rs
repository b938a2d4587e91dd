//! The options of Click's user-level driver.

use crate::clp::{Spec, Takes};

/// Which option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Reconfigure,
    Clickpath,
    Expression,
    File,
    Handler,
    Help,
    Output,
    Socket,
    Port,
    Quit,
    SimulatedTime,
    Threads,
    Affinity,
    Time,
    UnixSocket,
    Version,
    Warnings,
    NoWarnings,
    ExitHandler,
}

pub(super) const OPTIONS: &[Spec<Id>] = &[
    Spec::new("allow-reconfigure", Some('R'), Id::Reconfigure, Takes::Nothing).negatable(),
    Spec::new("clickpath", Some('C'), Id::Clickpath, Takes::Text),
    Spec::new("expression", Some('e'), Id::Expression, Takes::Text),
    Spec::new("file", Some('f'), Id::File, Takes::Text),
    Spec::new("handler", Some('h'), Id::Handler, Takes::Text),
    Spec::new("help", None, Id::Help, Takes::Nothing),
    Spec::new("output", Some('o'), Id::Output, Takes::Text),
    Spec::new("socket", None, Id::Socket, Takes::Integer),
    Spec::new("port", Some('p'), Id::Port, Takes::Port),
    Spec::new("quit", Some('q'), Id::Quit, Takes::Nothing),
    Spec::new("simtime", None, Id::SimulatedTime, Takes::PerhapsReal),
    Spec::new("simulation-time", None, Id::SimulatedTime, Takes::PerhapsReal),
    Spec::new("threads", Some('j'), Id::Threads, Takes::Integer),
    Spec::new("affinity", Some('a'), Id::Affinity, Takes::PerhapsInteger).negatable(),
    Spec::new("cpu", None, Id::Affinity, Takes::PerhapsInteger).negatable(),
    Spec::new("time", Some('t'), Id::Time, Takes::Nothing),
    Spec::new("unix-socket", Some('u'), Id::UnixSocket, Takes::Text),
    Spec::new("version", Some('v'), Id::Version, Takes::Nothing),
    Spec::new("warnings", None, Id::Warnings, Takes::Nothing).negatable(),
    Spec::new("exit-handler", Some('x'), Id::ExitHandler, Takes::Text),
    Spec::new("", Some('w'), Id::NoWarnings, Takes::Nothing),
];
