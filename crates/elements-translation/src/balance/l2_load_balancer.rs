//! Rewrites frames' destinations to one of several servers.
//!
//! ```click
//! L2LoadBalancer(DST ETH, DST ETH, ... [, KEYWORDS])
//! ```
//!
//! Sets the destination address of frames. It is FastClick's element and, as there, keeps no state for flows. Packets
//! without a complete Ethernet header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `DST` (Ethernet addresses), any number of times: the servers. They may also be given first, by position.
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0), `LST_MODE` and the arguments of the modes: as for
//!   IPLoadBalancer. Addresses, ports and connections are known only if the IP header is marked.
//!
//! # Handlers
//! Those of IPLoadBalancer.
//!
//! # Example
//! ```click
//! InfiniteSource -> L2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2) -> Discard
//! ```
//!
//! # See also
//! IPLoadBalancer, EtherRewrite

use crate::balance::servers::{Balancer, Servers, Settings};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};
use wire::ethernet::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("L2LoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("l2_load_balancer.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut settings) = (Vec::<MacAddr>::new(), Settings::default());
    settings.read(config.args().list("DST", &mut addresses)).finish()?;
    Ok(Box::new(PerPacket(Balancer(Servers::new(addresses, settings, config)?))))
}
