//! Sets the destination address annotation to random addresses.
//!
//! ```click
//! SetRandIPAddress(PREFIX [, LIMIT])
//! ```
//!
//! Each packet gets an address of PREFIX, chosen uniformly at random. With LIMIT there are only that many different
//! addresses, chosen when the router starts. The packet itself is not changed. The same seed gives the same
//! addresses.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each chooses separately.
//!
//! # Arguments
//! - `PREFIX` (address with prefix length): the prefix from which addresses are chosen.
//! - `LIMIT` (integer, default -1): number of different addresses; zero and negative mean no limit.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetRandIPAddress(0.0.0.0/0) -> RadixIPLookup(...) -> Discard
//! ```
//!
//! # See also
//! GetIPAddress, SetIPAddress

use super::arguments::Prefix;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetRandIPAddress", create).doc(router::manual!("set_rand_ip_address.rs"));

/// Addresses that a limit may ask for; they are all kept in memory.
const LIMIT_MAX: i64 = 1 << 24;

struct SetRandIpAddress {
    prefix: Prefix,
    limit: usize,
    /// The addresses to choose from; none without a limit.
    addresses: Vec<Ipv4Addr>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut prefix, mut limit) =
        (Prefix { address: Ipv4Addr::UNSPECIFIED, mask: Ipv4Addr::UNSPECIFIED }, -1_i64);
    config.args().required("PREFIX", &mut prefix).positional("LIMIT", &mut limit).finish()?;
    if limit > LIMIT_MAX {
        return Err(format!("LIMIT: at most {LIMIT_MAX} addresses expected").into());
    }
    let limit = usize::try_from(limit).unwrap_or(0);
    Ok(Box::new(PerPacket(SetRandIpAddress { prefix, limit, addresses: Vec::new() })))
}

impl SetRandIpAddress {
    #[inline]
    fn pick(&self, cx: &mut Cx<'_>) -> Ipv4Addr {
        let Prefix { address, mask } = self.prefix;
        Ipv4Addr::from(cx.rng().u32(..)) & !mask | address & mask
    }
}

impl Simple for SetRandIpAddress {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.addresses = (0..self.limit).map(|_| self.pick(cx)).collect();
        Ok(())
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let address = match self.addresses.len() {
            0 => self.pick(cx),
            n => self.addresses[cx.rng().usize(..n)],
        };
        packet.set_dst_ip(address);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    fn addresses(arguments: &str) -> BTreeSet<Ipv4Addr> {
        let config = format!("Inject -> SetRandIPAddress({arguments}) -> Collect(0)");
        send(&config, vec![vec![0]; 500]).seen.iter().map(|(_, packet)| packet.dst_ip()).collect()
    }

    #[test]
    fn inside_the_prefix() {
        let many = addresses("10.1.2.3/8");
        assert!(many.len() > 490 && many.iter().all(|a| a.octets()[0] == 10));
        assert!(many.iter().any(|a| a.octets()[1] >= 128) && many.iter().any(|a| a.octets()[3] >= 128));
        assert_eq!(addresses("10.1.2.3"), [[10, 1, 2, 3].into()].into());
        assert_eq!(addresses("10.1.2.0/31").len(), 2);
    }

    #[test]
    fn no_more_than_the_limit() {
        assert_eq!(addresses("0.0.0.0/0, 7").len(), 7);
        assert!(addresses("0.0.0.0/0, LIMIT 0").len() > 490);
    }
}
