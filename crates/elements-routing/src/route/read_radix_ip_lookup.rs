//! Looks up an address repeatedly while other elements change the table.
//!
//! ```click
//! ReadRadixIPLookup(TABLE, ADDRESS, GATEWAY, ... [, KEYWORDS])
//! ```
//!
//! A test of route tables, not for production routers. Each round looks up ADDRESS and counts answers other than a
//! GATEWAY.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TABLE`: the name of a RadixIPLookup.
//! - `ADDRESS`: the address.
//! - `GATEWAY`, any number: correct answers.
//! - `BURST` (integer, default 100): rounds per scheduling.
//! - `LIMIT` (integer): the total number of rounds; by default there is no limit.
//! - `STOP` (boolean, default false): whether to stop the driver after LIMIT rounds.
//!
//! # Handlers
//! - `count` (read): rounds.
//! - `wrong` (read): answers that were none of the gateways, or missing.
//!
//! # Example
//! ```click
//! Idle -> r :: RadixIPLookup(0/0 9.0.0.9 0) -> Idle;
//! ReadRadixIPLookup(r, 1.0.0.1, 9.0.0.1, 9.0.0.9, LIMIT 1000, STOP true); BashRadixIPLookup(r)
//! ```
//!
//! # See also
//! BashRadixIPLookup, PoundRadixIPLookup, RadixIPLookup

use super::contend::reader;
use router::{Activity, Class, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("ReadRadixIPLookup", reader)
    .ports("0/0")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(router::manual!("read_radix_ip_lookup.rs"));

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, run_and_read};
    use router::{Call, Clock, Resources};

    /// Two writers and a reader on three threads: the reader never finds the route to another address, whose next hop may have
    /// taken the place of a former one.
    #[test]
    fn readers_find_the_route_or_the_default() {
        let config = "Idle -> r :: RadixIPLookup(0/0 9.0.0.9 0) -> Idle;
             w :: BashRadixIPLookup(r, 1.0.0.1/32, 9.0.0.1, LIMIT 600, STOP true);
             v :: PoundRadixIPLookup(r, 129.0.0.1/32, 9.0.0.2, LIMIT 600, STOP true);
             x :: ReadRadixIPLookup(r, 1.0.0.1, 9.0.0.1, 9.0.0.9, LIMIT 6000, STOP true);
             StaticThreadSched(w 0, v 1, x 2);
             DriverManager(pause 3, stop)";
        let mut router = build_at(config, 3, 32, Clock::real(), Resources::default()).unwrap();
        router.run();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!([read("w.count"), read("v.count"), read("x.count")], ["600", "600", "6000"]);
        assert_eq!([read("x.wrong"), read("w.refused"), read("v.refused")], ["0", "0", "0"]);
        assert_eq!(read("r.length").trim(), "1", "each writer removed what it added");
    }

    /// The reader does notice: here the only right answer is one that the table does not have.
    #[test]
    fn wrong_answers_are_counted() {
        let config = "Idle -> r :: RadixIPLookup(0/0 9.0.0.9 0) -> Idle;
             x :: ReadRadixIPLookup(r, 1.0.0.1, 9.0.0.1, LIMIT 150, STOP true)";
        assert_eq!(run_and_read(config, &["x.count", "x.wrong"]), ["150", "150"]);
    }
}
