//! Lets other programs call handlers by HTTP.
//!
//! ```click
//! HTTPServer([PORT, KEYWORDS])
//! ```
//!
//! Answers `GET /ELEMENT/HANDLER` with the handler's value and `GET /ELEMENT/HANDLER/ARGUMENT` with its value for
//! that argument; the default handler is `handlers`, and without an element it is the router's own `list`. Elements
//! in compound elements are found by their names, which contain slashes themselves. If writing is allowed,
//! `POST /ELEMENT/HANDLER` writes the request's body to the handler, and `DELETE /ELEMENT/HANDLER` calls the handler
//! `delete_HANDLER`; the answer is `success` or `error`. It is FastClick's element.
//!
//! The status is 200 if the handler was found, even if it rejected the value written; 400 for a handler that cannot
//! be read or written, 403 if writing is not allowed, 404 for nonexistent elements and handlers, and 405 for other
//! methods. Percent-encoding is decoded.
//!
//! Unlike in FastClick, it listens on 127.0.0.1 and does not allow writing by default. Requests from foreign web
//! pages are rejected: requests that a browser sends on behalf of one (`Origin`), or to a name that is not this
//! machine's (`Host`, if only this machine may connect).
//!
//! Requests are served by separate threads; packets do not wait for them. There may be 64 connections at a time; one
//! that sends nothing, or too slowly, is closed after 30 seconds, or earlier to make room for others.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `PORT`: the TCP port, as for ControlSocket. Default: 80.
//! - `READONLY` (boolean): whether to reject writes. Default: true.
//! - `LOCALHOST` (boolean): whether to accept connections from this machine only. Default: true.
//! - `ADDRESS`, `VERBOSE`, `RETRIES`, `RETRY_WARNINGS`: as for ControlSocket.
//!
//! # Handlers
//! - `port` (read): the TCP port.
//!
//! # Example
//! ```click
//! HTTPServer(PORT 8080, READONLY false);
//! ```
//!
//! # See also
//! ControlSocket, Script

use super::control::create_http;
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("HTTPServer", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("http.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_http(config)
}
