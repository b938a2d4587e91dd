//! Generates TCP packets of many flows, for measurements.
//!
//! ```click
//! FastTCPFlows(RATE, LIMIT, LENGTH, SRCETH, SRCIP, DSTETH, DSTIP, FLOWS, FLOWSIZE [, ACTIVE, STOP])
//! ```
//!
//! Generates Ethernet frames with TCP packets when pulled. Each packet belongs to a randomly chosen flow. A flow has
//! random ports, begins with a SYN and ends with a FIN, and is replaced by a new one after FLOWSIZE packets. After
//! LIMIT packets, each flow still open is closed by one more packet. The data is zeros.
//!
//! Ports: no inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer): packets per second; 0 means no limit.
//! - `LIMIT` (integer): packets to make; negative means no limit.
//! - `LENGTH` (integer): bytes of each frame, at least 60.
//! - `SRCETH`, `SRCIP`, `DSTETH`, `DSTIP`: addresses.
//! - `FLOWS` (integer): concurrent flows, at least 1. `FLOWSIZE` (integer): packets of each, at least 3.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `STOP` (boolean, default false): whether to stop the driver after the last packet.
//! - `BURST` (integer): FastClick's; accepted, without effect: the puller decides how many packets to take.
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
//! FastTCPFlows(0, -1, 64, 0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2, 1000, 10) -> Discard
//! ```
//!
//! # See also
//! FastUDPFlows, FastUDPSource

use router::{Class, Config, ConfigError, Element, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("FastTCPFlows", create)
    .ports("0/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .makes("packets")
    .doc(router::manual!("fast_tcp_flows.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    super::flow_source::create::<Ipv4Addr>(config, true, ["SRCIP", "DSTIP"])
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, run};
    use elements_testing::run_to_end;
    use router::Call;

    /// One flow of four packets: SYN, data, data, FIN; the limit cuts the second flow short, which a FIN ends.
    #[test]
    fn a_flow_from_beginning_to_end() {
        let config =
            "FastTCPFlows(0, 6, 60, 0:0:0:0:0:1, 1.0.0.1, 1:1:1:1:1:2, 2.0.0.2, 1, 4) -> MarkIPHeader(14)
                      -> ToIPSummaryDump(PATH, FIELDS tcp_flags ip_src ip_len, HEADER false);
                      RatedSource(LIMIT 4, STOP true) -> Discard";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        run(&config.replace("PATH", path.to_str().unwrap()));
        let lines: String =
            ["S", "PA", "PA", "F", "S", "PA", "F"].map(|f| format!("{f} 1.0.0.1 46\n")).concat();
        assert_eq!(std::fs::read_to_string(path).unwrap(), lines);
    }

    #[test]
    fn segments_have_right_checksums() {
        let config =
            "FastTCPFlows(0, 20, 99, 0:0:0:0:0:1, 1.0.0.1, 1:1:1:1:1:2, 2.0.0.2, 3, 3) -> ToDump(PATH);
                      RatedSource(LIMIT 4, STOP true) -> Discard";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.pcap").to_str().unwrap().to_owned();
        let mut router = build(&config.replace("PATH", &path), 1, 32).unwrap();
        run_to_end(&mut router);
        router.finish();
        assert!(router.call(Call::read("FastTCPFlows@1.count", "")).is_ok_and(|count| count != "0"));
        let mut reader = device::capture::Reader::open(&path).unwrap();
        let mut bytes = Vec::new();
        let mut frames = 0;
        while reader.next(&mut bytes).unwrap().is_some() {
            let [src, dst] = [[1, 0, 0, 1].into(), [2, 0, 0, 2].into()];
            wire::tcp::verify_checksum_v4(src, dst, &bytes[34..]).unwrap();
            frames += 1;
        }
        assert!((20..=23).contains(&frames), "{frames}");
    }
}
