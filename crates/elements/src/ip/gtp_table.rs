//! Decapsulates packets from GTP, and learns the return tunnels.
//!
//! ```click
//! GTPTable(PING_DST [, KEYWORDS])
//! ```
//!
//! GTP packets, starting with their IP header, arrive at input 0 and leave by output 0 without the headers before the
//! user's packet, whose IP header is then marked. The element records through which tunnel the packets of each flow
//! arrive, for GTPLookup.
//!
//! The packets do not tell which tunnel leads back. As long as a tunnel's return tunnel is not known, each of its
//! packets is followed through the tunnel by an ICMP echo request from the user's address to PING_DST, which leaves
//! by output 1. The replies, inside the return tunnel, should be sent to input 1, and end here. It is FastClick's
//! element.
//!
//! Ports: 2 inputs, 2 outputs. Processing: push. Workers: shared; all use the same table.
//!
//! # Arguments
//! - `PING_DST` (IP address): the host that answers the echo requests.
//! - `CAPACITY` (integer, default 16384): the maximum number of tunnels, and of flows. Entries not used for five
//!   minutes may be replaced. FastClick has no limit.
//!
//! # Handlers
//! - `tunnels` (read): tunnels whose return tunnel is known. FastClick has no such handler.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> c :: IPClassifier(dst port 2152 and dst host 10.0.0.1, dst port 2152, -);
//! c[0] -> t :: GTPTable(8.8.8.8); c[1] -> [1]t; t[0] -> Discard; t[1] -> Discard;
//! c[2] -> GTPLookup(t) -> Discard;
//! ```
//!
//! # See also
//! GTPLookup, GTPDecap, GTPEncap

use super::gtp_decap::NO_HEADER;
use super::gtp_encap::HEADER_LEN;
use super::gtp_tunnels::{Known, Layout, Ping, Tunnel, Tunnels, tunnel_of};
use crate::flow::key::key;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Residency, TableSize, Verdict};
use std::net::Ipv4Addr;
use std::sync::Arc;
use wire::{icmpv4, ip_proto, ipv4, udp};

/// The class.
pub(crate) const CLASS: Class = Class::new("GTPTable", create)
    .ports("2/2")
    .processing("h/h")
    .flow("xy/xz")
    .residency(Residency::Shared)
    .doc(include_str!("gtp_table.rs"));

/// Bytes of a ping, and where its message is.
const PING_LEN: usize = 60;
const MESSAGE_AT: usize = ipv4::HEADER_LEN;
const TTL: u8 = 200;
/// Outputs.
const OUT: usize = 0;
const PINGS: usize = 1;

struct GtpTable {
    tunnels: Arc<Tunnels>,
    ping_dst: Ipv4Addr,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut ping_dst, mut capacity) = (Ipv4Addr::UNSPECIFIED, TableSize(16384));
    config.args().required("PING_DST", &mut ping_dst).keyword("CAPACITY", &mut capacity).finish()?;
    let tunnels = config.shared(|| Ok(Tunnels::new(capacity.0)))?;
    Ok(Box::new(GtpTable { tunnels, ping_dst }))
}

/// Writes an ICMP echo request with its IP header.
fn write_ping(
    bytes: &mut [u8; PING_LEN],
    src: Ipv4Addr,
    dst: Ipv4Addr,
    number: u32,
) -> Result<(), wire::Error> {
    bytes.fill(0);
    let (network, message) = bytes.split_at_mut(MESSAGE_AT);
    let mut ip = ipv4::Header::new_checked_mut(network)?;
    ip.set_version_and_header_len(ipv4::HEADER_LEN);
    ip.set_total_len(PING_LEN as u16);
    ip.set_id(number as u16 | 1);
    ip.set_ttl(TTL);
    ip.set_protocol(ip_proto::ICMP);
    ip.set_src(src);
    ip.set_dst(dst);
    ip.fill_checksum();
    let mut echo = icmpv4::Header::new_checked_mut(message)?;
    echo.set_kind(icmpv4::kind::ECHO);
    echo.set_rest(number);
    icmpv4::fill_checksum(message)
}

/// Has the headers in front say that a ping is behind them.
fn fit_headers(headers: &mut [u8], layout: Layout) -> Result<(), wire::Error> {
    let len =
        |from: usize| u16::try_from(headers.len() + PING_LEN - from).map_err(|_| wire::Error::BadLength);
    let (total_len, datagram_len, gtp_len) = (len(0)?, len(layout.udp)?, len(layout.gtp + HEADER_LEN)?);
    ipv4::Header::new_checked_mut(headers)?.set_total_len(total_len);
    ipv4::fill_checksum(headers)?;
    let mut datagram = udp::Header::new_checked_mut(&mut headers[layout.udp..])?;
    datagram.set_len(datagram_len);
    datagram.set_checksum(0);
    headers[layout.gtp + 2..layout.gtp + 4].copy_from_slice(&gtp_len.to_be_bytes());
    Ok(())
}

impl GtpTable {
    /// A ping that follows a packet through its tunnel.
    fn ping(&self, cx: &mut Cx<'_>, data: &[u8], layout: Layout, number: u32) -> Option<(Packet, Ping)> {
        let src = ipv4::Header::new_checked(data.get(layout.inner..)?).ok()?.src();
        let mut packet = cx.pool().alloc(DEFAULT_HEADROOM, layout.inner + PING_LEN)?;
        let (headers, ping) = packet.data_mut().split_at_mut(layout.inner);
        headers.copy_from_slice(data.get(..layout.inner)?);
        fit_headers(headers, layout).ok()?;
        write_ping(ping.first_chunk_mut()?, src, self.ping_dst, number).ok()?;
        packet.set_network(layout.inner as isize, ipv4::HEADER_LEN);
        packet.set_dst_ip(self.ping_dst);
        Some((packet, (src, number)))
    }

    /// Asks which tunnel leads back.
    #[cold]
    fn explore(&self, cx: &mut Cx<'_>, known: &mut Known, data: &[u8], tunnel: Tunnel, layout: Layout) {
        let number = cx.rng().u32(..);
        if let Some((packet, ping)) = self.ping(cx, data, layout, number) {
            known.add_ping(ping, tunnel, cx.now_ns());
            cx.emit_packet(PINGS, packet);
        }
    }

    /// Takes a user's packet out of its tunnel.
    fn leave(&self, cx: &mut Cx<'_>, known: &mut Known, packet: &mut Packet) -> Verdict {
        let Some((tunnel, layout)) = tunnel_of(packet.data()) else { return Verdict::Drop(NO_HEADER) };
        if !known.has_back(tunnel, cx.now_ns()) {
            self.explore(cx, known, packet.data(), tunnel, layout);
        }
        let _ = packet.pull(layout.inner); // there are as many
        let Ok(extent) = ipv4::check(packet.data(), false) else {
            return Verdict::Drop("no IP packet in GTP");
        };
        packet.set_network(0, extent.header_len);
        if let Some(key) = key(packet) {
            known.add_flow(key.map(), key.id().reversed(), tunnel, cx.now_ns());
        }
        Verdict::Output(OUT)
    }

    /// Learns from an answer. None if it is none.
    fn learn(&self, known: &mut Known, data: &[u8], now_ns: i64) -> Option<()> {
        let (back, layout) = tunnel_of(data)?;
        let inner = data.get(layout.inner..)?;
        let extent = ipv4::check(inner, false).ok()?;
        let ip = ipv4::Header::new_checked(inner).ok()?;
        let echo = icmpv4::Header::new_checked(inner.get(extent.header_len..)?).ok()?;
        let answers =
            ip.begins(ip_proto::ICMP) && echo.kind() == icmpv4::kind::ECHO_REPLY && ip.src() == self.ping_dst;
        (answers && known.answer((ip.dst(), echo.rest()), back, now_ns)).then_some(())
    }
}

impl Element for GtpTable {
    fn push(&mut self, cx: &mut Cx<'_>, port: usize, batch: Batch) {
        let mut known = self.tunnels.lock();
        if port == 0 {
            return cx.scatter(batch, |cx, packet| self.leave(cx, &mut known, packet));
        }
        let now_ns = cx.now_ns();
        let learnt =
            batch.iter().filter(|packet| self.learn(&mut known, packet.data(), now_ns).is_some()).count();
        cx.count_drops("no answer to a ping", (batch.len() - learnt) as u64);
        cx.consume(batch);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("tunnels", |e: &mut GtpTable, _| e.tunnels.lock().len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::gtp_encap::header;
    use super::*;

    /// A header in front of a ping counts what is behind it, options included.
    #[test]
    fn lengths() {
        let mut headers = vec![0; ipv4::HEADER_LEN + udp::HEADER_LEN + HEADER_LEN + 4];
        headers[0] = 0x45;
        headers[9] = ip_proto::UDP;
        headers[28..36].copy_from_slice(&header(5, 9));
        headers[28] |= 2;
        let layout = Layout { udp: 20, gtp: 28, inner: 40 };
        assert_eq!(fit_headers(&mut headers, layout), Ok(()));
        assert_eq!(
            (&headers[2..4], &headers[24..26], &headers[30..32]),
            (&[0, 100][..], &[0, 80][..], &[0, 64][..])
        );
        let mut packet = [headers, vec![0; PING_LEN]].concat();
        assert_eq!(tunnel_of(&packet).map(|(tunnel, at)| (tunnel.teid, at)), Some((5, layout)));
        packet.truncate(39);
        assert_eq!(tunnel_of(&packet), None);
    }
}
