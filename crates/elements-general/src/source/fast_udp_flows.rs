//! Generates UDP packets of many flows, for measurements.
//!
//! ```click
//! FastUDPFlows(RATE, LIMIT, LENGTH, SRCETH, SRCIP, DSTETH, DSTIP, FLOWS, FLOWSIZE [, CHECKSUM, ACTIVE, STOP])
//! ```
//!
//! Generates Ethernet frames with UDP packets: when pulled or, as in FastClick, by itself if its output is push. Each
//! packet belongs to a flow, chosen at random unless SEQUENTIAL is set. A flow has random ports, and is replaced by a
//! new one after FLOWSIZE packets. The data is zeros.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer): packets per second; 0 means no limit.
//! - `LIMIT` (integer): packets to make; negative means no limit.
//! - `LENGTH` (integer): bytes of each frame, at least 60.
//! - `SRCETH`, `SRCIP`, `DSTETH`, `DSTIP`: addresses.
//! - `FLOWS` (integer): concurrent flows, at least 1. `FLOWSIZE` (integer): packets of each.
//! - `CHECKSUM` (boolean, default true): whether to compute the UDP checksum; otherwise it is 0.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `STOP` (boolean, default false): whether to stop the driver after the last packet.
//! - `SEQUENTIAL` (boolean, default false): whether flows take turns, instead of being chosen at random.
//! - `FLOWBURST` (integer, default 1): consecutive packets of the same flow.
//! - `BURST` (integer, default 32): packets pushed at a time, at most 4,096, if the output is push.
//! - `DUPLICATE` (boolean): FastClick's; accepted.
//!
//! # Handlers
//! - `count` (read): packets made.
//! - `rate` (read): the average rate in packets per second, from the first packet to the last, once LIMIT packets
//!   have been made; 0 before.
//! - `rate` (write): the argument. `limit` (read, write), `stop` (read, write): the arguments; no limit reads as 4294967295.
//! - `reset` (write, button): starts again. `active` (write): the argument; writing true starts again.
//! - `length` (read, write): the argument; writing it starts new flows. `srceth`, `dsteth` (write): the arguments.
//!
//! # Example
//! ```click
//! FastUDPFlows(0, -1, 64, 0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2, 1000, 10) -> Discard
//! ```
//!
//! # See also
//! FastUDPFlowsIP6, FastTCPFlows, FastUDPSource

use router::{Activity, Class, Config, ConfigError, Element, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("FastUDPFlows", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("fast_udp_flows.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    super::flow_source::create::<Ipv4Addr>(config, false, ["SRCIP", "DSTIP"])
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use elements_testing::run_to_end;
    use router::Call;

    /// Two flows at a time of five packets each: at least ten flows in fifty packets, all with right checksums.
    #[test]
    fn flows_follow_each_other() {
        let config = "s :: FastUDPFlows(0, 50, 80, 0:0:0:0:0:1, 1.0.0.1, 1:1:1:1:1:2, 2.0.0.2, 2, 5) -> Strip(14)
                      -> CheckIPHeader -> AggregateIP(udp sport) -> a :: AggregateCounter(BYTES true) -> c :: Counter(COUNT_CALL 50 stop)
                      -> Discard";
        let mut router = build(config, 1, 32).unwrap();
        run_to_end(&mut router);
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!((read("s.count"), read("a.count")), ("50".into(), (50 * 66).to_string()));
        let ports: u32 = read("a.nagg").parse().unwrap();
        assert!((9..=12).contains(&ports), "{ports}");
    }

    #[test]
    fn arguments_are_checked() {
        let text =
            errors("FastUDPFlows(0, 1, 60, 0:0:0:0:0:1, 1.0.0.1, 1:1:1:1:1:2, 2.0.0.2, 0, 5) -> Discard");
        assert!(text.contains("FLOWS must be >= 1"), "{text}");
    }
}
