//! Reads handlers at given times, and prints their values.
//!
//! ```click
//! PeekHandlers(DELAY | HANDLER, ...)
//! ```
//!
//! Works through its arguments in order: waits, or prints the name and value of a handler to standard error. It is an
//! older form of Script, which does the work.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - A time in seconds: waits for this time.
//! - `ELEMENT.HANDLER`: reads the handler.
//! - `quit` (or `stop`): stops the driver.
//! - `loop`: starts again with the first argument.
//! - `pause`: waits until `unpause` is written.
//!
//! # Handlers
//! Those of PokeHandlers.
//!
//! # Example
//! ```click
//! RatedSource -> q :: Queue -> RatedUnqueue(1) -> Discard;
//! PeekHandlers(q.length, 1.5, q.length, quit)
//! ```
//!
//! # See also
//! PokeHandlers, Script

use super::poke_handlers::create_as;
use router::{Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("PeekHandlers", |config| create_as(config, "read"))
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("peek_handlers.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn reads_handlers_at_their_times() {
        let config = "TimedSource(1) -> c :: Counter -> Discard; PeekHandlers(c.count, 1.5, c.count, quit)";
        assert_eq!(run(config), "c.count:\n0\nc.count:\n1\n");
    }
}
