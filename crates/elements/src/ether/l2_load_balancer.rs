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
//! - `DST` (Ethernet address), any number of times: the servers.
//! - `LB_MODE` (default `rr`), `NSERVER` (integer, default 0), `LST_MODE` and what belongs to modes: as of IPLoadBalancer. Addresses, ports and
//!   connections are seen only where the IP header is marked.
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

use crate::ip::balance::{Servers, Settings};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Refused, Residency, Simple, Verdict,
};
use std::any::Any;
use wire::ethernet::MacAddr;

/// The class.
pub(crate) const CLASS: Class = Class::new("L2LoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("l2_load_balancer.rs"));

struct L2LoadBalancer(Servers<MacAddr>);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut settings) = (Vec::new(), Settings::default());
    settings.read(config.args().keywords("DST", &mut addresses)).finish()?;
    Ok(Box::new(PerPacket(L2LoadBalancer(Servers::new(addresses, settings, config)?))))
}

impl Simple for L2LoadBalancer {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let server = self.0.pick(cx, packet);
        self.0.send(server, packet)
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(self.0.clone()))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Some(old) = state.downcast_ref() {
            self.0.adopt(old);
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        Servers::handlers(h, |e: &L2LoadBalancer| &e.0);
    }
}
