//! Route lookup.
//!
//! All classes share one implementation: [`element`] is the element, [`table`] the routes behind it, [`feeds`] the way in for threads that bring routes, [`family`] what
//! differs between IPv4 and IPv6. The files named after classes have their documentation and say which kind of table they use.
//! [`contend`] has the elements that put a table under stress.

mod bash_radix_ip_lookup;
mod cache;
mod contend;
mod direct_ip_lookup;
mod draft;
mod element;
mod family;
mod feeds;
mod flow_port;
mod forwarder;
mod hops;
mod ip6_lookup;
mod ip_lookup;
mod left;
mod linear_ip_lookup;
mod lookup_ip6_route;
mod near;
mod pound_radix_ip_lookup;
mod radix_ip_lookup;
mod range_ip_lookup;
mod read_radix_ip_lookup;
mod regions;
mod slots;
mod static_ip_lookup;
mod sticky;
mod table;
mod target;
mod waiting;
mod watch;
mod words;

use lpm::LongestMatch;
use router::{Class, Config, ConfigError, Element};

/// Makes a lookup element over any table of IPv4 routes, with the arguments and handlers of RadixIPLookup: for comparisons.
///
/// # Errors
/// Those of its arguments.
#[doc(hidden)]
pub fn create_over<T: LongestMatch<u32>>(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    element::create::<family::V4, T>(config, element::LookupStyle::SILENT)
}

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &bash_radix_ip_lookup::CLASS,
    &direct_ip_lookup::CLASS,
    &ip6_lookup::CLASS,
    &ip_lookup::CLASS,
    &linear_ip_lookup::CLASS,
    &linear_ip_lookup::SORTED,
    &lookup_ip6_route::CLASS,
    &pound_radix_ip_lookup::CLASS,
    &radix_ip_lookup::CLASS,
    &range_ip_lookup::CLASS,
    &read_radix_ip_lookup::CLASS,
    &static_ip_lookup::CLASS,
];
