//! Makes UDP packets in Ethernet frames at a rate.
//!
//! ```click
//! FastUDPSource(RATE, LIMIT, LENGTH, SRCETH, SRCIP, SPORT, DSTETH, DSTIP, DPORT
//!               [, CHECKSUM, INTERVAL, ACTIVE])
//! ```
//!
//! Answers pulls with copies of one frame: a UDP packet over IPv4 (TTL 250), at most RATE of them a second and LIMIT in
//! all. The destination address annotation and the network header position are set.
//!
//! Ports: no inputs, 1 output. Processing: pull. Workers: exclusive.
//!
//! # Arguments
//! - `RATE` (integer): packets a second; 0 means as many as are pulled.
//! - `LIMIT` (integer): packets to make; negative means no limit.
//! - `LENGTH` (integer): bytes of a frame, at least 60.
//! - `SRCETH`, `SRCIP`, `SPORT`, `DSTETH`, `DSTIP`, `DPORT`: addresses and ports.
//! - `CHECKSUM` (boolean, default true): whether to compute the UDP checksum; 0 is sent otherwise.
//! - `INTERVAL` (integer, default 0): after so many packets both ports grow by 1; 0 means never.
//! - `ACTIVE` (boolean, default true): whether packets are made.
//!
//! # Handlers
//! - `count` (read): packets made.
//! - `rate` (read): packets a second on average, from the first to the last, once LIMIT packets were made; 0 before.
//! - `rate` (write): the argument.
//! - `reset` (write, button): starts again.
//! - `active` (write): the argument; true starts again.
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

use super::pace::{self, Pace, Paced};
use packet::Batch;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, Handlers, Pull, Residency, Scope};
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::ethernet::{self, MacAddr};
use wire::{ip_proto, ipv4, ipv6, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("FastUDPSource", create)
    .ports("0/1")
    .processing("l/l")
    .residency(Residency::Exclusive)
    .doc(include_str!("fast_udp_source.rs"));

const LEAST_LENGTH: u32 = 60;
const TTL: u8 = 250;

/// Where packets are from and where they go.
#[derive(Clone, Copy)]
pub(super) enum Ends {
    V4(Ipv4Addr, Ipv4Addr),
    V6(Ipv6Addr, Ipv6Addr),
}

impl Ends {
    /// Bytes of the IP header.
    fn header_len(self) -> usize {
        match self {
            Ends::V4(..) => ipv4::HEADER_LEN,
            Ends::V6(..) => ipv6::HEADER_LEN,
        }
    }

    /// Where the UDP header is.
    fn udp_at(self) -> usize {
        ethernet::HEADER_LEN + self.header_len()
    }

    /// Bytes that a frame has at least, and at most.
    fn lengths(self) -> (u32, usize) {
        match self {
            Ends::V4(..) => (LEAST_LENGTH, ethernet::HEADER_LEN + usize::from(u16::MAX)),
            Ends::V6(..) => ((self.udp_at() + udp::HEADER_LEN) as u32, self.udp_at() + usize::from(u16::MAX)),
        }
    }
}

/// An address that is one end of [`Ends`].
pub(super) trait End: FromArg + Copy {
    const NONE: Self;
    fn ends(src: Self, dst: Self) -> Ends;
}

impl End for Ipv4Addr {
    const NONE: Self = Ipv4Addr::UNSPECIFIED;

    fn ends(src: Self, dst: Self) -> Ends {
        Ends::V4(src, dst)
    }
}

impl End for Ipv6Addr {
    const NONE: Self = Ipv6Addr::UNSPECIFIED;

    fn ends(src: Self, dst: Self) -> Ends {
        Ends::V6(src, dst)
    }
}

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
    pace: Pace,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    create_for::<Ipv4Addr>(config, ["SRCIP", "DSTIP"])
}

/// Makes a source of packets between addresses of a kind, which these arguments say.
pub(super) fn create_for<A: End>(
    config: &mut Config<'_>,
    names: [&'static str; 2],
) -> Result<Box<dyn Element>, ConfigError> {
    let (mut rate, mut limit, mut length) = (0u32, 0i32, 0u32);
    let (mut src_mac, mut dst_mac) = (MacAddr::default(), MacAddr::default());
    let (mut src, mut dst) = (A::NONE, A::NONE);
    let (mut sport, mut dport) = (UdpPort::default(), UdpPort::default());
    let (mut checksum, mut interval, mut active) = (true, 0, true);
    config
        .args()
        .required("RATE", &mut rate)
        .required("LIMIT", &mut limit)
        .required("LENGTH", &mut length)
        .required("SRCETH", &mut src_mac)
        .required(names[0], &mut src)
        .required("SPORT", &mut sport)
        .required("DSTETH", &mut dst_mac)
        .required(names[1], &mut dst)
        .required("DPORT", &mut dport)
        .positional("CHECKSUM", &mut checksum)
        .positional("INTERVAL", &mut interval)
        .positional("ACTIVE", &mut active)
        .finish()?;
    let ends = A::ends(src, dst);
    let (least, most) = ends.lengths();
    if length < least {
        config.warn(format!("packet length < {least}, defaulting to {least}"));
    }
    let length = length.max(least) as usize;
    if length > most {
        return Err("LENGTH: more than an IP packet can have".into());
    }
    let ports = (sport.0, dport.0);
    let mut e = FastUdpSource {
        frame: headers(length, (src_mac, dst_mac), ends),
        ends,
        ports,
        checksum,
        interval,
        increment: 0,
        pace: Pace::new(rate, limit, active)?,
    };
    e.set_ports();
    Ok(Box::new(e))
}

/// The frame, but for what depends on ports.
fn headers(length: usize, macs: (MacAddr, MacAddr), ends: Ends) -> Vec<u8> {
    let mut frame = vec![0; length];
    let (link, packet) = frame.split_at_mut(ethernet::HEADER_LEN);
    let (ip_len, udp_len) = (packet.len(), packet.len() - ends.header_len());
    let ether_type = match ends {
        Ends::V4(src, dst) => {
            if let Ok(mut ip) = ipv4::Header::new_checked_mut(packet) {
                ip.set_version_and_header_len(ipv4::HEADER_LEN);
                ip.set_total_len(ip_len as u16);
                ip.set_ttl(TTL);
                ip.set_protocol(ip_proto::UDP);
                ip.set_src(src);
                ip.set_dst(dst);
                ip.fill_checksum();
            }
            ethernet::ether_type::IPV4
        }
        Ends::V6(src, dst) => {
            if let Ok(mut ip) = ipv6::Header::new_checked_mut(packet) {
                ip.set_version_class_flow(0, 0);
                ip.set_payload_len(udp_len as u16);
                ip.set_next_header(ip_proto::UDP);
                ip.set_hop_limit(TTL);
                ip.set_src(src);
                ip.set_dst(dst);
            }
            ethernet::ether_type::IPV6
        }
    };
    link.copy_from_slice(&ethernet::header(macs.1, macs.0, ether_type));
    if let Ok(mut udp) = udp::Header::new_checked_mut(&mut frame[ends.udp_at()..]) {
        udp.set_len(udp_len as u16);
    }
    frame
}

impl FastUdpSource {
    fn set_ports(&mut self) {
        let datagram = &mut self.frame[self.ends.udp_at()..];
        if let Ok(mut udp) = udp::Header::new_checked_mut(datagram) {
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
        packet.set_network(ethernet::HEADER_LEN as isize, self.ends.header_len());
        match self.ends {
            Ends::V4(_, dst) => packet.set_dst_ip(dst),
            Ends::V6(_, dst) => packet.set_dst_ip6(dst),
        }
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
    fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        self.pace.reset();
        self.increment = 0;
        cx.set_signal(true);
    }
}

impl Element for FastUdpSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.provide_signal();
        Ok(())
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
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
        cx.set_signal(true);
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
    fn frames() {
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
        let config = "s :: FastUDPSource(100, 201, 60, 0:0:0:0:0:1, 1.0.0.1, 1, 1:1:1:1:1:2, 2.0.0.2, 2) -> c :: Counter(
                      COUNT_CALL 201 stop) -> d :: Discard";
        assert_eq!(run_and_read(config, &["s.count", "s.rate", "d.byte_count"]), ["201", "100", "12060"]);
    }

    #[test]
    fn arguments_are_checked() {
        let text = errors("FastUDPSource(1, 2, 70000, x, 1.0.0.1, 99999) -> Discard");
        for part in ["SRCETH: ", "SPORT: ", "DSTIP: required"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
