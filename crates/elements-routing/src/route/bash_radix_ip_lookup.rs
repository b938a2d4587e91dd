//! Adds and removes a route repeatedly: one of two elements that contend for a table.
//!
//! ```click
//! BashRadixIPLookup(TABLE [, PREFIX, GATEWAY, KEYWORDS])
//! ```
//!
//! A test of route tables, not for production routers. Each round sets the route and removes it. Together with others
//! of its kind on other workers, and a ReadRadixIPLookup, it shows that a table stays consistent while it is changed
//! and read at the same time.
//!
//! Ports: none. Workers: exclusive.
//!
//! # Arguments
//! - `TABLE`: the name of a RadixIPLookup.
//! - `PREFIX` (`ADDR/MASK`, default `1.0.0.1/32`): the route's prefix. The route uses output 0.
//! - `GATEWAY` (address, default 9.0.0.1): the route's gateway.
//! - `BURST` (integer, default 100): rounds per scheduling, at most 65,536.
//! - `LIMIT` (integer): the total number of rounds; by default there is no limit.
//! - `STOP` (boolean, default false): whether to stop the driver after LIMIT rounds.
//!
//! # Handlers
//! - `count` (read): rounds.
//! - `refused` (read): changes that the table refused, for instance because another writer has already removed the
//!   route.
//!
//! # Example
//! ```click
//! Idle -> r :: RadixIPLookup -> Idle; BashRadixIPLookup(r, LIMIT 1000, STOP true)
//! ```
//!
//! # See also
//! PoundRadixIPLookup, ReadRadixIPLookup, RadixIPLookup

use super::contend::writer;
use router::{Activity, Class, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("BashRadixIPLookup", |config| writer(config, Ipv4Addr::new(9, 0, 0, 1)))
        .ports("0/0")
        .activity(Activity::Always)
        .residency(Residency::Exclusive)
        .doc(router::manual!("bash_radix_ip_lookup.rs"));
