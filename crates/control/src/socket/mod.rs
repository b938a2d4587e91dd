//! Sockets that elements open.

pub(crate) mod chatter;
pub(crate) mod control;
pub(crate) mod http;
mod input;
pub(crate) mod metrics;
mod patient;
mod server;
mod session;
#[cfg(test)]
mod tests;

pub(crate) use server::plain;
