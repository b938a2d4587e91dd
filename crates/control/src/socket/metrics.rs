//! Exports metrics of the router.
//!
//! ```click
//! MetricsSocket(TCP, PORT [, KEYWORDS])
//! MetricsSocket(UNIX, FILENAME [, KEYWORDS])
//! ```
//!
//! Listens on a TCP port or a UNIX-domain socket and answers HTTP requests `GET /metrics` with the router's metrics,
//! in the Prometheus text format, or in the OpenMetrics format for clients that accept it. `clique run --metrics`
//! does the same without an element in the configuration.
//!
//! There are metrics of workers: how they spend their time, and the sizes of batches; of packet buffers: how many are
//! in use; of deferred reclamation: what waits, and what keeps it waiting; of elements: the packets they dropped, by
//! reason, and the measurements of their handlers (packets and bytes, queue lengths, routes, neighbours, flows); of
//! the process: memory and processor time. Each has a sentence that describes it. Labels contain the names and
//! classes of elements as in the configuration.
//!
//! Nothing can be written. Workers answer between two tasks; they are asked at most 50 times a second. A worker that
//! does not answer within half a second is left out, and `clique_worker_up` shows that. There may be 64 connections
//! at a time; one that sends nothing, or too slowly, is closed after 30 seconds, or earlier to make room for others.
//!
//! If only this machine may connect (the default), requests from foreign web pages are rejected, as with HTTPServer.
//!
//! When the configuration is replaced while the router runs, the socket moves to the new element of the same name if
//! type and address are the same; it needs `RETRIES 1` then, as with ControlSocket.
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
    .doc(router::manual!("metrics.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, Speaks::Metrics)
}
