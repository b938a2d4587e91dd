//! A running router by HTTP: an interface for programs below `/api/v1`, described at `/api/v1/openapi.json`, and a page at `/` that shows
//! the same to people, from the program itself and nothing else.
//!
//! The server has a thread of its own and reaches elements by handlers and surveys only, so no packet waits for a client. However many
//! clients ask, workers are surveyed five times a second at most. Nothing can be written unless the server has a token, which a
//! writer must send; the page of another site cannot reach a server that listens on this machine's own addresses ([`access`]). There are at
//! most 64 connections, 16 of them with streams of events; one that is silent for 30 seconds is closed ([`clients`]).
//!
//! | file | what |
//! |---|---|
//! | `server.rs` | listens, and serves until it is dropped |
//! | `access.rs` | who may ask what |
//! | `clients.rs` | what clients may hold: connections, time, bytes |
//! | `extract.rs` | parts of requests |
//! | `api/` | the resources, one file each |
//! | `shared.rs` | what requests share, and where the router comes from |
//! | `survey.rs`, `history.rs`, `recorder.rs` | what workers said last, and in the last hour |
//! | `page/` | the page: HTML, style and script |

#![forbid(unsafe_code)]

mod access;
mod api;
mod clients;
mod extract;
mod history;
mod page;
mod recorder;
mod server;
mod shared;
mod survey;
#[cfg(test)]
mod tests;
mod token;

pub use server::{Listen, ListenError, Server, start, start_telling};
pub use shared::{Replace, Replacement, Source, Tell};
pub use token::Token;
