//! Generates UDP packets in Ethernet frames at a given rate.
//!
//! ```click
//! FastUDPSource([RATE, LIMIT, LENGTH, SRCETH, SRCIP, SPORT, DSTETH, DSTIP, DPORT,
//!                CHECKSUM, INTERVAL, ACTIVE, keyword STOP])
//! ```
//!
//! Answers pulls with copies of one frame: a UDP packet over IPv4 (TTL 250), at most RATE of them per second and
//! LIMIT in all. The destination address annotation and the network header position are set.
//!
//! Ports: no inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer, default 0): packets per second; 0 means as many as are pulled.
//! - `LIMIT` (integer, default -1): packets to make; negative means no limit.
//! - `LENGTH` (integer, default 64): bytes of a frame, at least 60.
//! - `SRCETH`, `DSTETH` (Ethernet addresses, default 0:0:0:0:0:0), `SRCIP`, `DSTIP` (IP addresses, default
//!   127.0.0.1), `SPORT`, `DPORT` (ports, default 1000): the addresses and ports. As in FastClick, all arguments are
//!   optional.
//! - `CHECKSUM` (boolean, default true): whether to compute the UDP checksum; otherwise it is 0.
//! - `INTERVAL` (integer, default 0): both ports grow by 1 after this many packets; 0 means never.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `STOP` (boolean, default false): whether to stop the router when a packet is pulled after the last. FastClick's.
//!
//! # Handlers
//! - `count` (read): packets made.
//! - `rate` (read): the average rate in packets per second, from the first packet to the last, once LIMIT packets
//!   have been made; 0 before.
//! - `rate` (write): the argument.
//! - `reset` (write, button): starts again.
//! - `active` (write): the argument; writing true starts again.
//! - `limit` (write): the argument.
//!
//! # Example
//! ```click
//! FastUDPSource(100000, 500000, 60, 0:0:0:0:0:0, 1.0.0.1, 1234, 1:1:1:1:1:1, 2.0.0.2, 1234)
//!     -> Discard
//! ```
//!
//! # See also
//! InfiniteSource, RatedSource

use super::frame::{End, Ends, headers};
use super::pace::{self, Pace, Paced};
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Pull, Residency, Scope};
use std::net::Ipv4Addr;
use wire::ethernet::MacAddr;
use wire::{ip_proto, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("FastUDPSource", create)
    .ports("0/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .makes("packets")
    .doc(router::manual!("fast_udp_source.rs"));

/// A UDP port: a number or the name of a service.
#[derive(Clone, Copy, Default)]
struct UdpPort(u16);

impl FromArg for UdpPort {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        wire::describe::port(text).map(UdpPort).ok_or_else(|| format!("'{text}' is no UDP port"))
    }
}

struct FastUdpSource {
    frame: Vec<u8>,
    ends: Ends,
    ports: (u16, u16),
    checksum: bool,
    interval: u32,
    increment: u16,
    stop: bool,
    pace: Pace,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_for(config, ["SRCIP", "DSTIP"], Ipv4Addr::LOCALHOST)
}

/// Makes a source of packets between addresses of a kind, which these arguments say, or `local` ones.
pub(super) fn create_for<A: End>(
    config: &mut Config<'_>,
    names: [&'static str; 2],
    local: A,
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rate, mut limit, mut length) = (0u32, -1i32, 64u32);
    let (mut src_mac, mut dst_mac) = (MacAddr::default(), MacAddr::default());
    let (mut src, mut dst) = (local, local);
    let (mut sport, mut dport) = (UdpPort(1000), UdpPort(1000));
    let (mut checksum, mut interval, mut active, mut stop) = (true, 0, true, false);
    config
        .args()
        .positional("RATE", &mut rate)
        .positional("LIMIT", &mut limit)
        .positional("LENGTH", &mut length)
        .positional("SRCETH", &mut src_mac)
        .positional(names[0], &mut src)
        .positional("SPORT", &mut sport)
        .positional("DSTETH", &mut dst_mac)
        .positional(names[1], &mut dst)
        .positional("DPORT", &mut dport)
        .positional("CHECKSUM", &mut checksum)
        .positional("INTERVAL", &mut interval)
        .positional("ACTIVE", &mut active)
        .keyword("STOP", &mut stop)
        .finish()?;
    let ends = A::ends(src, dst);
    let length = ends.length(config, length)?;
    let ports = (sport.0, dport.0);
    let mut e = FastUdpSource {
        frame: headers(length, (src_mac, dst_mac), ends, ip_proto::UDP),
        ends,
        ports,
        checksum,
        interval,
        increment: 0,
        stop,
        pace: Pace::new(rate, limit, active)?,
    };
    e.set_ports();
    Ok(Box::new(e))
}

impl FastUdpSource {
    fn set_ports(&mut self) {
        let datagram = &mut self.frame[self.ends.transport_at()..];
        let len = datagram.len() as u16;
        if let Ok(mut udp) = udp::Header::new_checked_mut(datagram) {
            udp.set_len(len);
            udp.set_src_port(self.ports.0.wrapping_add(self.increment));
            udp.set_dst_port(self.ports.1.wrapping_add(self.increment));
            udp.set_checksum(0);
        }
        if self.checksum {
            // The frame was made large enough, so this cannot fail.
            let _ = match self.ends {
                Ends::V4(src, dst) => udp::fill_checksum_v4(src, dst, datagram),
                Ends::V6(src, dst) => udp::fill_checksum_v6(src, dst, datagram),
            };
        }
    }

    fn add_packet(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) -> bool {
        let Some(mut packet) = cx.pool().packet(&self.frame) else { return false };
        self.ends.mark(&mut packet);
        batch.push(packet);
        self.pace.made_one(cx);
        if self.interval > 0 && self.pace.count.is_multiple_of(u64::from(self.interval)) {
            self.increment = self.increment.wrapping_add(1);
            self.set_ports();
        }
        true
    }
}

impl Paced for FastUdpSource {
    const INACTIVE: &'static str = "type mismatch";

    fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        self.pace.reset();
        self.increment = 0;
        cx.signals().set(true);
    }
}

impl Element for FastUdpSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if self.stop && self.pace.active && self.pace.left() == 0 {
            cx.info().please_end();
        }
        let due = self.pace.due(cx);
        if !self.pace.active || self.pace.left() == 0 || due == 0 {
            self.pace.rest(cx, due);
            return Pull::Nothing;
        }
        let mut batch = cx.batch();
        let packets = want.min(due).min(self.pace.left()).min(packet::BATCH_MAX);
        for _ in 0..packets {
            if !self.add_packet(cx, &mut batch) {
                break;
            }
        }
        self.pace.spend(batch.len());
        Pull::Give(batch)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        cx.signals().set(true);
    }

    fn handlers(&self, h: &mut Handlers) {
        pace::handlers::<FastUdpSource>(h);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run, run_and_read};

    /// The whole frame; after two packets the ports grow, and the checksum with them.
    #[test]
    fn ports_grow_after_the_interval() {
        let lines =
            run("FastUDPSource(0, 3, 60, 0:0:0:0:0:1, 1.0.0.1, 1234, 1:1:1:1:1:2, 2.0.0.2, 80, true, 2)
                         -> Print(MAXLENGTH 42) -> IPPrint(TIMESTAMP false) -> Discard;
                         RatedSource(LIMIT 4, STOP true) -> Discard");
        let lines: Vec<_> = lines.lines().collect();
        let frame = |rest| {
            format!("  60 | 01010101 01020000 00000001 08004500 002e0000 0000fa11 bdbc0100 00010200 {rest}")
        };
        assert_eq!(lines[0], frame("000204d2 0050001a f795"));
        assert_eq!(lines[4], frame("000204d3 0051001a f793"));
        assert_eq!(
            (lines[1], lines[5]),
            ("1.0.0.1.1234 > 2.0.0.2.80: udp 26", "1.0.0.1.1235 > 2.0.0.2.81: udp 26")
        );
    }

    #[test]
    fn rate_and_limit() {
        let config = "s :: FastUDPSource(100, 201, 60, 0:0:0:0:0:1, 1.0.0.1, 1, 1:1:1:1:1:2, 2.0.0.2, 2) -> d :: Discard;
                      Script(wait 0.995, print d.count, wait 1, print d.count, wait 1, stop)";
        assert_eq!(run(config), "100\n200\n");
        assert_eq!(run_and_read(config, &["s.count", "s.rate", "d.byte_count"]), ["201", "100", "12060"]);
    }

    #[test]
    fn arguments_are_checked() {
        let text = errors("FastUDPSource(1, 2, x, x, 1.0.0.1, 99999) -> Discard");
        for part in ["SRCETH: ", "SPORT: ", "LENGTH: "] {
            assert!(text.contains(part), "{text}");
        }
    }
}
