//! Tells instruments what the router does.
//!
//! ```click
//! MetricsSocket(TCP, PORT [, KEYWORDS])
//! MetricsSocket(UNIX, FILENAME [, KEYWORDS])
//! ```
//!
//! Listens on a TCP port or a UNIX-domain socket and answers `GET /metrics` by HTTP with the router's figures, in the text format of
//! Prometheus, or in that of OpenMetrics for whoever accepts it. `clique run --metrics` does the same without an element in the
//! configuration.
//!
//! The figures are: of workers, how they spend their time, and the sizes of batches; of packets' buffers, how many are in use; of deferred
//! reclamation, what waits and who keeps it waiting; of elements, the packets they dropped, by reason, and what their handlers measure
//! (packets and bytes, lengths of queues, routes, neighbours, flows); of the process, memory and processor time. Each comes with a
//! sentence that says what it is. Labels name elements and their classes as the configuration does.
//!
//! Nothing can be written. Workers answer between two tasks; they are asked 50 times a second at most. A worker that does not answer within
//! half a second is left out, and `clique_worker_up` says so. There may be 64 connections at a time; one that sends nothing, or too
//! slowly, is closed after 30 seconds, or earlier to make room for others.
//!
//! Where only this machine may connect (as by default), web pages of others get no answer, as with HTTPServer.
//!
//! When the configuration is replaced while the router runs, the socket goes to the new element of the same name if type and address are
//! the same; it needs `RETRIES 1` then, as ControlSocket does.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`TCP` or `UNIX`), `PORT`, `FILENAME`, `LOCALHOST`, `ADDRESS`, `VERBOSE`, `RETRIES`, `RETRY_WARNINGS`: as for
//!   ControlSocket.
//!
//! # Handlers
//! - `port` (read): the TCP port, or the name of the UNIX-domain socket.
//!
//! # Example
//! ```click
//! MetricsSocket(TCP, 9100);
//! MetricsSocket(UNIX, /tmp/metrics);
//! ```
//!
//! # See also
//! ControlSocket, HTTPServer

use super::control::{Speaks, create_as};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("MetricsSocket", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(include_str!("metrics.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, Speaks::Metrics)
}
