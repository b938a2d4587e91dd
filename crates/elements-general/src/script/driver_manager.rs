//! Decides when the driver stops.
//!
//! ```click
//! DriverManager(INSTRUCTION, ...)
//! ```
//!
//! A script of type `DRIVER`: it starts with the router, and each request to stop the driver makes the script take a
//! step instead. As long as the script blocks again, the router goes on. When it reaches a `stop`, or its end, which
//! acts as one, the router stops.
//!
//! Ports: none. Workers: exclusive. There can be one in a router.
//!
//! # Arguments
//! The instructions of Script. These are useful here:
//! - `pause [N]` (`wait_stop`): blocks until the driver has been asked to stop N times.
//! - `wait TIME`: blocks for this time, or until the driver is asked to stop.
//! - `read`, `write`, `print`, `save`: call handlers.
//! - `stop`: stops the driver.
//!
//! Without any instruction it waits for the first request to stop.
//!
//! # Handlers
//! Those of Script.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 100, STOP true) -> c :: Counter -> Discard;
//! DriverManager(pause, print c.count, write c.reset, stop)
//! ```
//!
//! # See also
//! Script

use super::element::{Kind, create_as};
use router::{Class, Config, ConfigError, Element, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("DriverManager", create)
    .ports("0/0")
    .residency(Residency::Exclusive)
    .doc(router::manual!("driver_manager.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_as(config, Kind::Driver)
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    /// The first request to stop is answered with a rest, the second one stops.
    #[test]
    fn the_driver_stops_when_the_script_says_so() {
        let config = "InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;
                      DriverManager(print start, pause, print c.count, write c.reset, wait 2s, print c.count, stop)";
        assert_eq!(run(config), "no 'start' read handler\n3\n0\n");
        assert_eq!(run("DriverManager(print \"a\", wait 1, print \"b\")"), "a\nb\n");
        assert_eq!(run("DriverManager(); Script(print 1, wait 1, print 2, stop)"), "1\n2\n");
    }

    #[test]
    fn one_is_enough() {
        let said = errors("DriverManager(); d :: DriverManager()");
        assert!(said.contains("router has more than one driver script"), "{said}");
    }
}
