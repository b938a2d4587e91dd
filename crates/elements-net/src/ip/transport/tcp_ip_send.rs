//! Sends TCP packets on request.
//!
//! ```click
//! TCPIPSend
//! ```
//!
//! Each write to its handler emits a TCP packet over IPv4 without data or options, with TTL 255, "don't fragment"
//! set, and a window of 32,120 bytes.
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `send` (write, `SRC SPORT DST DPORT SEQNO ACKNO FLAGS [COUNT [STOP]]`): emits COUNT packets, by default one, at most 4,096,
//!   with these addresses, ports and numbers; FLAGS is the octet of TCP flags (SYN is 2, ACK 16). If STOP is true,
//!   the driver is stopped afterwards.
//!
//! # Example
//! ```click
//! s :: TCPIPSend -> IPPrint -> Discard;
//! Script(write s.send 1.0.0.1 1024 2.0.0.2 80 1000 0 2)
//! ```
//!
//! # See also
//! FastTCPFlows, ICMPPingSource

use router::{Args, Class, Config, ConfigError, Cx, Element, Handlers, IpPort, Residency};
use std::net::Ipv4Addr;
use wire::{ip_proto, ipv4, tcp};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPIPSend", create)
    .ports("0/1")
    .processing("/h")
    .residency(Residency::Exclusive)
    .makes("packets")
    .doc(router::manual!("tcp_ip_send.rs"));

/// Packets that are sent at once, at most: they all lie in memory before the first is treated.
const COUNT_MAX: u32 = 4_096;
const TTL: u8 = 255;
const WINDOW: u16 = 32_120;
const LEN: usize = ipv4::HEADER_LEN + tcp::HEADER_LEN;

struct TcpIpSend;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(TcpIpSend))
}

/// What a packet is to say.
struct Wanted {
    ends: [(Ipv4Addr, IpPort); 2],
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    count: u32,
    stop: bool,
}

impl Wanted {
    fn read(cx: &Cx<'_>, text: &str) -> Result<Wanted, String> {
        let (mut src, mut dst) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::UNSPECIFIED);
        let (mut sport, mut dport) = (IpPort(0), IpPort(0));
        let (mut sequence, mut acknowledgement, mut flags, mut count, mut stop) = (0, 0, 0, 1, false);
        Args::new(lang::conf::split_spaces(text), router::scope(cx))
            .required("SRC", &mut src)
            .required("SPORT", &mut sport)
            .required("DST", &mut dst)
            .required("DPORT", &mut dport)
            .required("SEQNO", &mut sequence)
            .required("ACKNO", &mut acknowledgement)
            .required("FLAGS", &mut flags)
            .positional("COUNT", &mut count)
            .positional("STOP", &mut stop)
            .finish()
            .map_err(|error| error.to_string())?;
        if count > COUNT_MAX {
            return Err(format!("COUNT: out of range, bound {COUNT_MAX}"));
        }
        Ok(Wanted { ends: [(src, sport), (dst, dport)], sequence, acknowledgement, flags, count, stop })
    }

    fn bytes(&self) -> [u8; LEN] {
        let [(src, sport), (dst, dport)] = self.ends;
        let mut bytes = [0; LEN];
        if let Ok(mut ip) = ipv4::Header::new_checked_mut(&mut bytes) {
            ip.set_version_and_header_len(ipv4::HEADER_LEN);
            ip.set_total_len(LEN as u16);
            ip.set_fragment_field(ipv4::FLAG_DF);
            ip.set_ttl(TTL);
            ip.set_protocol(ip_proto::TCP);
            ip.set_src(src);
            ip.set_dst(dst);
            ip.fill_checksum();
        }
        let segment = &mut bytes[ipv4::HEADER_LEN..];
        if let Ok(mut header) = tcp::Header::new_checked_mut(segment) {
            header.set_src_port(sport.0);
            header.set_dst_port(dport.0);
            header.set_sequence(self.sequence);
            header.set_acknowledgement(self.acknowledgement);
            header.set_header_len(tcp::HEADER_LEN);
            header.set_flags(self.flags);
            header.set_window(WINDOW);
        }
        // The segment is a whole header, so this cannot fail.
        let _ = tcp::fill_checksum_v4(src, dst, segment);
        bytes
    }
}

impl Element for TcpIpSend {
    fn handlers(&self, h: &mut Handlers) {
        h.write("send", |_: &mut TcpIpSend, cx, text| {
            let wanted = Wanted::read(cx, text)?;
            let bytes = wanted.bytes();
            for _ in 0..wanted.count {
                let mut packet = cx.pool().packet(&bytes).ok_or("no memory for a packet")?;
                packet.set_network(0, ipv4::HEADER_LEN);
                cx.emit_packet(0, packet);
            }
            if wanted.stop {
                cx.info().please_end();
            }
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, run};

    #[test]
    fn sends_the_segment_that_is_written() {
        let said =
            run("s :: TCPIPSend -> CheckIPHeader -> CheckTCPHeader -> IPPrint(TTL true, TIMESTAMP false)
             -> Print(MAXLENGTH 40) -> Discard;
             Script(write s.send 1.0.0.1 1024 2.0.0.2 80 1000 7 18, stop)");
        let hex = "45000028 00004000 ff0678cd 01000001 02000002 04000050 000003e8 00000007 50127d78 27190000";
        assert!(
            said.starts_with("ttl 255 1.0.0.1.1024 > 2.0.0.2.80: S 1000:1001(1,40,40) ack 7 win 32120"),
            "{said}"
        );
        assert!(said.contains(hex), "{said}");
    }

    #[test]
    fn bad_values() {
        let mut router = build("s :: TCPIPSend -> Discard", 1, 1).unwrap_or_else(|errors| panic!("{errors}"));
        for (text, error) in [
            ("1.0.0.1 1", "DST: required argument missing"),
            ("1.0.0.1 1 2.0.0.2 x 1 2 3", "DPORT: "),
            ("1.0.0.1 1 2.0.0.2 2 1 2 300", "FLAGS: "),
        ] {
            let said = router.call(router::Call::write("s.send", text));
            assert!(said.as_ref().is_err_and(|said| said.message.contains(error)), "{said:?}");
        }
    }
}
