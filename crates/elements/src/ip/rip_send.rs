//! Announces a route by RIP.
//!
//! ```click
//! RIPSend(SRC, DST, PREFIX, METRIC)
//! ```
//!
//! Emits a RIP version 2 response (RFC 2453) with one route, in a UDP packet over IPv4 (TTL 200), after three seconds
//! and then every 30 seconds. The route's next hop is SRC.
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `SRC` (address): the sender.
//! - `DST` (address): the destination, usually a broadcast address, or 224.0.0.9.
//! - `PREFIX` (prefix): the network reachable through SRC. It may also be given as two arguments, address and mask.
//! - `METRIC` (integer): the metric, that is, the distance.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RIPSend(18.26.4.24, 18.26.4.255, 10.0.0.0/8, 10)
//!     -> EtherEncap(0x0800, 00:00:c0:ae:67:ef, ff:ff:ff:ff:ff:ff) -> Discard
//! ```
//!
//! # See also
//! KernelRoutes, FPMServer, TimedSource

use router::{Activity, Class, Config, ConfigError, Cx, Element, IpMask, Residency};
use std::net::Ipv4Addr;
use std::time::Duration;
use wire::{ip_proto, ipv4, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("RIPSend", create)
    .ports("0/1")
    .processing("/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(include_str!("rip_send.rs"));

const FIRST: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_secs(30);
const PORT: u16 = 520;
const TTL: u8 = 200;
/// Version 2, a response; and the address family of IP.
const RESPONSE: u8 = 2;
const VERSION: u8 = 2;
const FAMILY_IP: u8 = 2;
/// A RIP header and one entry.
const RIP: usize = 24;
const LEN: usize = ipv4::HEADER_LEN + udp::HEADER_LEN + RIP;

struct RipSend {
    packet: [u8; LEN],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let words = lang::conf::split_args(config.text());
    let (mut src, mut dst, mut metric) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED, 0u32);
    let (mut route, mut mask) =
        (IpMask { addr: Ipv4Addr::UNSPECIFIED, mask: Ipv4Addr::UNSPECIFIED }, None::<Ipv4Addr>);
    if words.len() > 4 {
        let mut addr = Ipv4Addr::UNSPECIFIED;
        let args =
            config.args().required("SRC", &mut src).required("DST", &mut dst).required("PREFIX", &mut addr);
        args.required("MASK", &mut mask).required("METRIC", &mut metric).finish()?;
        route.addr = addr;
    } else {
        let args =
            config.args().required("SRC", &mut src).required("DST", &mut dst).required("PREFIX", &mut route);
        args.required("METRIC", &mut metric).finish()?;
    }
    route.mask = mask.unwrap_or(route.mask);
    Ok(Box::new(RipSend { packet: packet(src, dst, route, metric) }))
}

fn packet(src: Ipv4Addr, dst: Ipv4Addr, route: IpMask, metric: u32) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    if let Ok(mut ip) = ipv4::Header::new_checked_mut(&mut bytes) {
        ip.set_version_and_header_len(ipv4::HEADER_LEN);
        ip.set_total_len(LEN as u16);
        ip.set_ttl(TTL);
        ip.set_protocol(ip_proto::UDP);
        ip.set_src(src);
        ip.set_dst(dst);
        ip.fill_checksum();
    }
    let datagram = &mut bytes[ipv4::HEADER_LEN..];
    if let Ok(mut header) = udp::Header::new_checked_mut(datagram) {
        header.set_src_port(PORT);
        header.set_dst_port(PORT);
        header.set_len((LEN - ipv4::HEADER_LEN) as u16);
    }
    let entry =
        [[0, FAMILY_IP, 0, 0], route.addr.octets(), route.mask.octets(), src.octets(), metric.to_be_bytes()];
    let message = [RESPONSE, VERSION, 0, 0].into_iter().chain(entry.into_iter().flatten());
    datagram[udp::HEADER_LEN..].iter_mut().zip(message).for_each(|(to, from)| *to = from);
    // The datagram is a whole one, so this cannot fail.
    let _ = udp::fill_checksum_v4(src, dst, datagram);
    bytes
}

impl Element for RipSend {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.timer_after(0, FIRST);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if let Some(mut packet) = cx.pool().packet(&self.packet) {
            packet.set_network(0, ipv4::HEADER_LEN);
            cx.emit_packet(0, packet);
        }
        cx.timer_after(0, INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn announces() {
        let config = |prefix| {
            format!(
                "RIPSend(18.26.4.24, 18.26.4.255, {prefix}, 10) -> CheckIPHeader -> CheckUDPHeader -> SetTimestamp
                 -> Print(TIMESTAMP true, MAXLENGTH 60) -> Discard; Script(wait 40, stop)"
            )
        };
        let said = run(&config("10.0.0.0/8"));
        let rip = "02080208 0020a9bf 02020000 00020000 0a000000 ff000000 121a0418 0000000a";
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].starts_with("1000000003.") && lines[1].starts_with("1000000033."),
            "{said}"
        );
        let without_checksum = |text: &str| text.rsplit_once("0020").map(|(_, rest)| rest[4..].to_owned());
        assert_eq!(without_checksum(lines[0]), without_checksum(rip), "{said}");
        assert_eq!(run(&config("10.0.0.0, 255.0.0.0")), said);
    }
}
