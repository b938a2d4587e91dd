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
//! - `LB_MODE` (default `rr`): how a server is chosen: `rr`, one after the other; `hash` or `hash_crc`, by IP addresses and ports, if the IP
//!   header is marked; `hash_agg`, by the aggregate annotation.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> L2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2) -> Discard
//! ```
//!
//! # See also
//! IPLoadBalancer, EtherRewrite

use super::vlan::NO_HEADER;
use crate::ip::balance::{Balance, Mode};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::{Header, MacAddr};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("L2LoadBalancer", create).processing("h/h").doc(include_str!("l2_load_balancer.rs"));

struct L2LoadBalancer {
    servers: Vec<MacAddr>,
    balance: Balance,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut servers, mut mode) = (Vec::new(), Mode::RoundRobin);
    config.args().keywords("DST", &mut servers).keyword("LB_MODE", &mut mode).finish()?;
    if servers.is_empty() {
        return Err("DST: required argument missing".into());
    }
    let balance = Balance::new(mode, servers.len(), config);
    Ok(Box::new(PerPacket(L2LoadBalancer { servers, balance })))
}

impl Simple for L2LoadBalancer {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let server = self.servers[self.balance.pick(packet)];
        match Header::new_checked_mut(packet.data_mut()) {
            Ok(mut header) => {
                header.set_dst(server);
                Verdict::Pass
            }
            Err(_) => Verdict::Drop(NO_HEADER),
        }
    }
}
