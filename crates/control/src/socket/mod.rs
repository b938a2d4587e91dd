//! Sockets that elements open.

pub(crate) mod chatter;
pub(crate) mod control;
mod handler_access;
pub(crate) mod http;
mod input;
mod messages;
pub(crate) mod metrics;
mod observing;
pub(crate) mod own;
mod patient;
pub(crate) mod reload;
mod requests;
mod server;
mod session;
mod shared;
#[cfg(test)]
mod tests;

pub(crate) use server::plain;
