//! Gives frames the Ethernet address of one of several servers.
//!
//! ```click
//! L2LoadBalancer(DST ETH, DST ETH, ... [, KEYWORDS])
//! ```
//!
//! Sets the destination address of frames. It is FastClick's element, and as there nothing is remembered of a flow. Packets without a whole
//! Ethernet header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns by itself.
//!
//! # Arguments
//! - `DST` (Ethernet addresses), any number of times: the servers. They may also stand in front without the keyword.
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0), `LST_MODE` and what belongs to modes: as of
//!   IPLoadBalancer. Addresses, ports and connections are seen only where the IP header is marked.
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

use crate::ip::balance::{Balancer, Servers, Settings};
use router::{Class, Config, ConfigError, Element, PerPacket, Residency};
use wire::ethernet::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("L2LoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("l2_load_balancer.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut settings) = (Vec::<MacAddr>::new(), Settings::default());
    settings.read(config.args().list("DST", &mut addresses)).finish()?;
    Ok(Box::new(PerPacket(Balancer(Servers::new(addresses, settings, config)?))))
}
