//! Exchanges IP packets with the kernel through a raw socket.
//!
//! ```click
//! RawSocket(TYPE [, PORT, KEYWORDS])
//! FromRawSocket(TYPE [, PORT, KEYWORDS])
//! ToRawSocket(TYPE [, PORT, KEYWORDS])
//! ```
//!
//! Emits the IPv4 packets of one protocol that are addressed to this machine, with their IP headers marked and their
//! destination annotations set. The kernel processes these packets too. IPv4 packets at the input, which start with
//! their IP header, are sent to their destination; the kernel determines the route, the neighbour and the link-layer
//! header by its own tables. Needs root, or the capability CAP_NET_RAW.
//!
//! FromRawSocket has an output only, ToRawSocket an input only.
//!
//! Ports: up to 1 input and 1 output. Processing: agnostic input, push output; packets are pulled as fast
//! as possible from a pull input. Workers: exclusive.
//!
//! # Arguments
//! - `TYPE` (protocol name or number): the protocol.
//! - `PORT` (port): with TCP and UDP, a port to bind, so that no other program uses it. Ignored with other protocols,
//!   and if 0.
//! - `SNAPLEN` (integer, default 2048): the maximum number of bytes of a received packet; the extra-length annotation
//!   tells how many more it had.
//! - `HEADROOM` (integer, at most 8192, default 128): free bytes before each packet.
//! - `BURST` (integer, default: packets in a batch): packets received or pulled at a time.
//! - `TIMESTAMP` (boolean, default true): whether to set timestamps.
//!
//! # Handlers
//! - `count` (read): packets received and sent. `reset_counts` (write, button): sets it to zero.
//!
//! # Example
//! ```click
//! FromRawSocket(icmp) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! Socket, FromDevice, ToDevice

use super::sockets::{FLAGS, Receiver, declaration, failed};
use device::Trouble;
use device::capture::LinkType;
use elements_shared::encap;
use elements_shared::ip_numbers::IpProtocol;
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, IpPort, Pull, Residency, metric};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketType, bind, socket_with, sockopt};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use wire::{ip_proto, ipv4};

/// The class.
pub(crate) const CLASS: Class = Class::new("RawSocket", create)
    .ports("0-1/0-1")
    .processing("a/h")
    .flow("x/y")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .makes("packets")
    .absorbs("packets")
    .doc(router::manual!("raw_socket.rs"));
/// The half that receives.
pub(crate) const FROM: Class = Class { name: "FromRawSocket", ports: "0/1", ..CLASS };
/// The half that sends.
pub(crate) const TO: Class = Class { name: "ToRawSocket", ports: "1/0", ..CLASS };

/// The link type of bare IP packets.
const RAW_IP: u32 = 101;
/// The protocol number of sockets that take packets with their headers.
const WITH_HEADER: u8 = 255;

/// Opens a socket that does not block.
fn open(kind: SocketType, protocol: u8) -> Result<OwnedFd, String> {
    let number = NonZeroU32::new(protocol.into()).map(Protocol::from_raw);
    socket_with(AddressFamily::INET, kind, FLAGS, number).map_err(failed("socket"))
}

/// Why a packet is not sent.
const SHORT: &str = "too short for an IP packet";

struct RawSocket {
    protocol: u8,
    port: u16,
    receiver: Receiver,
    burst: usize,
    pulls: bool,
    inputs: usize,
    outputs: usize,
    /// Where packets come from.
    from: Option<Arc<OwnedFd>>,
    /// Where packets go.
    to: Option<OwnedFd>,
    /// Has the port, and nothing else to do.
    claim: Option<OwnedFd>,
    /// Whether the kernel refused the last packet: only the first of a series is reported.
    failing: bool,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut protocol, mut port, mut burst) = (IpProtocol::default(), IpPort(0), config.vector());
    let mut receiver = Receiver::default();
    let args = config
        .args()
        .required("TYPE", &mut protocol)
        .positional("PORT", &mut port)
        .keyword("BURST", &mut burst);
    receiver.arguments(args).finish()?;
    if burst == 0 {
        return Err("BURST out of range".into());
    }
    Ok(Box::new(RawSocket {
        protocol: protocol.octet()?,
        port: port.0,
        receiver: receiver.checked()?,
        burst: burst.min(BATCH_MAX),
        pulls: pulling::pulls(config),
        inputs: config.inputs(),
        outputs: config.outputs(),
        from: None,
        to: None,
        claim: None,
        failing: false,
        count: 0,
    }))
}

/// Binds the port of a protocol that has ports.
fn claim(protocol: u8, port: u16) -> Result<Option<OwnedFd>, String> {
    let kind = match protocol {
        ip_proto::TCP => SocketType::STREAM,
        ip_proto::UDP => SocketType::DGRAM,
        _ => return Ok(None),
    };
    if port == 0 {
        return Ok(None);
    }
    let fd = open(kind, protocol)?;
    // Click says so whatever the port is for.
    let doing = format!("port {port}: Bind for planetlab port registration failed");
    bind(&fd, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)).map_err(failed(&doing))?;
    Ok(Some(fd))
}

impl RawSocket {
    /// Emits the IP packets that have come.
    fn receive(&mut self, cx: &mut Cx<'_>) {
        let Some(fd) = &self.from else { return };
        let link = LinkType::from_code(RAW_IP);
        self.count += self.receiver.emit_datagrams(cx, fd, self.burst, |cx, (mut packet, _)| {
            if encap::mark_ip(&mut packet, link) {
                return Some(packet);
            }
            cx.drop(packet, "not an IP packet");
            None
        });
    }

    /// Sends a packet, unless it is too short to say where to.
    fn send(&mut self, cx: &mut Cx<'_>, fd: &OwnedFd, data: &[u8]) {
        let Ok(ip) = ipv4::Header::new_checked(data) else {
            cx.count_drops(SHORT, 1);
            return cx.complain(format_args!("runt IP packet ({} bytes)", data.len()), SHORT);
        };
        let to = SocketAddrV4::new(ip.dst(), 0);
        let Err(error) = rustix::net::sendto(fd, data, SendFlags::NOSIGNAL, &to) else {
            self.count += 1;
            self.failing = false;
            return;
        };
        cx.count_drops("the kernel did not take it", 1);
        let full = matches!(error, Errno::AGAIN | Errno::NOBUFS);
        if !full && !std::mem::replace(&mut self.failing, true) {
            let trouble = Trouble::at_socket(&format!("sending to {}", to.ip()), error.into());
            cx.error(format_args!("{}: {trouble}", declaration(cx)));
        }
    }

    fn send_all(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let Some(fd) = self.to.take() else { return cx.drop_batch(batch, "not open") };
        batch.iter().for_each(|packet| self.send(cx, &fd, packet.data()));
        self.to = Some(fd);
        cx.consume(batch);
    }
}

impl Element for RawSocket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.claim = claim(self.protocol, self.port)?;
        if self.outputs > 0 {
            self.from = Some(Arc::new(open(SocketType::RAW, self.protocol)?));
            cx.tasks().schedule();
        }
        if self.inputs > 0 {
            let fd = open(SocketType::RAW, WITH_HEADER)?;
            sockopt::set_socket_broadcast(&fd, true).map_err(|error| format!("SO_BROADCAST: {error}"))?;
            self.to = Some(fd);
        }
        pulling::begin(cx, self.pulls);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.send_all(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.receive(cx);
        if self.pulls {
            cx.ask(0, self.burst);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        pulling::go_on(cx, &batch);
        self.send_all(cx, batch);
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.count("reset_counts", |e: &mut RawSocket| &mut e.count).measures(&metric::PACKETS);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, errors};
    use router::{Clock, Resources};

    #[test]
    fn bad_arguments_are_refused() {
        assert!(errors("FromRawSocket(icmp, BURST 0) -> Discard").contains("BURST out of range"));
        assert!(errors("FromRawSocket(ICMP, HEADROOM 9000) -> Discard").contains("HEADROOM out of range"));
        assert!(errors("FromRawSocket(frog) -> Discard").contains("TYPE: parse error"));
        assert!(errors("FromRawSocket(300) -> Discard").contains("bad IP protocol"));
        assert!(errors("FromRawSocket() -> Discard").contains("TYPE: required argument missing"));
        assert!(errors("Idle -> ToRawSocket(UDP, 70000)").contains("PORT: "));
    }

    /// What is sent through one socket to this machine itself comes in through others, as far as they want.
    #[test]
    fn there_and_back() {
        // A protocol for experiments (RFC 3692), which no host answers.
        let config = "from :: FromRawSocket(253) -> got :: Counter(COUNT_CALL 3 stop) -> Print(got) -> Discard;
             RatedSource(\\<01020304>, RATE 100) -> IPEncap(253, 127.0.0.1, 127.0.0.1) -> Tee -> ToRawSocket(253);
             Idle -> RawSocket(253, 7, SNAPLEN 21) -> Print(short) -> Pad -> Print(padded) -> Discard";
        let built = build_at(config, 1, 32, Clock::real(), Resources::default());
        let mut router = match built {
            Ok(router) => router,
            Err(error) if error.contains("run as root") => {
                return println!("skipped: raw sockets need root");
            }
            Err(error) => panic!("{error}"),
        };
        router.run();
        let log = router.info().log.text();
        assert!(log.matches("got:   24 | 45000018").count() >= 3, "{log}");
        assert!(log.contains("short:   21 | 45000018") && log.contains("padded:   24 | 45000018"), "{log}");
    }

    #[test]
    fn a_port_in_use_is_refused() {
        let taken = std::net::UdpSocket::bind("0.0.0.0:0").expect("a port");
        let port = taken.local_addr().expect("an address").port();
        let said = errors(&format!("FromRawSocket(UDP, {port}) -> Discard"));
        assert!(
            said.contains(&format!(
                "port {port}: Bind for planetlab port registration failed: Address already in use"
            )),
            "{said}"
        );
    }
}
