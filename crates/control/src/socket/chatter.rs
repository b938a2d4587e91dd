//! Lets other programs read the messages of elements through a socket.
//!
//! ```click
//! ChatterSocket(TCP, PORT [, KEYWORDS])
//! ChatterSocket(UNIX, FILENAME [, KEYWORDS])
//! ```
//!
//! Each client that connects to the TCP port or the UNIX-domain socket gets a copy of what elements print to standard
//! error from then on, after an initial line `Click::ChatterSocket/1.0`; with CHANNEL, what they print on that
//! channel. A client that does not keep up is disconnected: elements never wait for it.
//!
//! Unlike in Click, a TCP socket listens on 127.0.0.1 by default. When the configuration is replaced while the router
//! runs, the socket and its connections move to the new element of the same name, as with ControlSocket, if its
//! channel is the same; the new element's GREETING and QUIET_CHANNEL apply.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (`TCP` or `UNIX`), `PORT`, `FILENAME`, `LOCALHOST`, `ADDRESS`, `RETRIES`, `RETRY_WARNINGS`: as for
//!   ControlSocket.
//! - `CHANNEL` (word): the channel, used by elements that are configured to print there, such as IPPrint. Default:
//!   `default`, standard error.
//! - `QUIET_CHANNEL` (boolean): whether messages on a channel other than the default are kept off standard error.
//!   Default: true.
//! - `GREETING` (boolean): whether to send the initial line. Default: true.
//!
//! # Handlers
//! - `port` (read): the TCP port, or the name of the UNIX-domain socket.
//!
//! # Example
//! ```click
//! ChatterSocket(UNIX, /tmp/clickchatter);
//! ```
//!
//! # See also
//! ControlSocket, Print, IPPrint

use super::control::{Speaks, create_as};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ChatterSocket", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("chatter.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, Speaks::Messages)
}
