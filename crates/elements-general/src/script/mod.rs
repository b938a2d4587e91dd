//! Scripts, and elements that give information to others.
//!
//! A script is compiled ([`program`], [`text`]) and then executed as control computations ([`run`]).

mod address_info;
mod annotation_info;
mod driver_manager;
mod element;
mod functions;
mod handler_aggregate;
mod peek_handlers;
mod poke_handlers;
mod port_info;
mod program;
mod progress_bar;
mod quit_watcher;
mod request;
mod run;
mod signals;
mod text;

pub use signals::{leave_to_program, serve_signal};

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &address_info::CLASS,
    &annotation_info::CLASS,
    &driver_manager::CLASS,
    &element::CLASS,
    &handler_aggregate::CLASS,
    &peek_handlers::CLASS,
    &poke_handlers::CLASS,
    &port_info::CLASS,
    &progress_bar::CLASS,
    &quit_watcher::CLASS,
];
