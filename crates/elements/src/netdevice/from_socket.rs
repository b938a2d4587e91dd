//! Receives IP packets from the kernel through a raw socket.
//!
//! ```click
//! FromSocket(PROTOCOL [, BURST, HEADROOM, TIMESTAMP])
//! ```
//!
//! Emits the IPv4 packets of a protocol that this machine's kernel receives for itself, with their IP headers marked and their source left as it
//! is; the destination annotation is set. The kernel handles these packets, too. Needs root, or the capability CAP_NET_RAW.
//!
//! Ports: no inputs, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `PROTOCOL` (protocol name or number): the protocol.
//! - `BURST` (integer, default: packets in a batch): packets taken at a time.
//! - `HEADROOM` (integer, at most 8192, default 128): free bytes in front of each packet.
//! - `TIMESTAMP` (boolean, default true): set the time.
//!
//! # Handlers
//! - `count` (read): packets received. `reset_counts` (write, button): sets it to zero.
//!
//! # Example
//! ```click
//! FromSocket(icmp) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ToSocket, Socket, FromDevice

use crate::capture::encap;
use device::Trouble;
use device::capture::LinkType;
use packet::{BATCH_MAX, DEFAULT_HEADROOM};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Interest, Residency};
use rustix::io::Errno;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SocketFlags, SocketType};
use std::num::NonZeroU32;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("FromSocket", create)
    .ports("0/1")
    .processing("h/h")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .doc(include_str!("from_socket.rs"));

/// The link type of bare IP packets.
const RAW_IP: u32 = 101;
/// Bytes of the longest IPv4 packet.
const LONGEST: usize = 65_535;

/// Opens a raw socket that does not block.
pub(super) fn open(protocol: u8) -> Result<OwnedFd, String> {
    let (family, kind) = (AddressFamily::INET, SocketType::RAW);
    let number = NonZeroU32::new(protocol.into()).map(Protocol::from_raw);
    let opened = rustix::net::socket_with(family, kind, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, number);
    opened.map_err(|error| Trouble::at_socket("opening a raw socket", error.into()).to_string())
}

struct FromSocket {
    protocol: u8,
    headroom: usize,
    timestamp: bool,
    burst: usize,
    fd: Option<Arc<OwnedFd>>,
    /// Where a packet is received before its length is known.
    space: Vec<u8>,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut protocol, mut burst) = (String::new(), config.vector());
    let (mut headroom, mut timestamp) = (DEFAULT_HEADROOM, true);
    config
        .args()
        .required("PROTOCOL", &mut protocol)
        .keyword("BURST", &mut burst)
        .keyword("HEADROOM", &mut headroom)
        .keyword("TIMESTAMP", &mut timestamp)
        .finish()?;
    if burst == 0 {
        return Err("BURST out of range".into());
    }
    if headroom > 8192 {
        return Err("HEADROOM out of range".into());
    }
    let protocol = wire::describe::protocol(&protocol).and_then(|number| u8::try_from(number).ok());
    let protocol = protocol.ok_or("bad IP protocol")?;
    Ok(Box::new(FromSocket {
        protocol,
        headroom,
        timestamp,
        burst: burst.min(BATCH_MAX),
        fd: None,
        space: vec![0; LONGEST],
        count: 0,
    }))
}

impl Element for FromSocket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.fd = Some(Arc::new(open(self.protocol)?));
        cx.schedule();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        let Some(fd) = self.fd.clone() else { return };
        let mut batch = cx.batch();
        let mut more = true;
        while more && batch.len() < self.burst {
            let len = match rustix::net::recv(&fd, &mut self.space[..], RecvFlags::empty()) {
                Ok((_, len)) => len.min(LONGEST),
                Err(Errno::INTR) => continue,
                Err(_) => {
                    more = false;
                    continue;
                }
            };
            let Some(mut packet) = cx.pool().alloc(self.headroom, len) else {
                cx.count_drops("no buffer for a received packet", 1);
                continue;
            };
            packet.data_mut().copy_from_slice(&self.space[..len]);
            if self.timestamp {
                packet.set_timestamp_ns(cx.now_ns());
            }
            if encap::mark_ip(&mut packet, LinkType::from_code(RAW_IP)) {
                batch.push(packet);
            } else {
                cx.drop(packet, "not an IP packet");
            }
        }
        self.count += batch.len() as u64;
        if batch.is_empty() {
            cx.consume(batch)
        } else {
            cx.emit(0, batch)
        }
        if more { cx.schedule() } else { cx.schedule_when(&fd, Interest::Readable) }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.count("reset_counts", |e: &mut FromSocket| &mut e.count);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build_at, errors};
    use router::{Clock, Resources};

    #[test]
    fn arguments() {
        assert!(errors("FromSocket(icmp, BURST 0) -> Discard").contains("BURST out of range"));
        assert!(errors("FromSocket(icmp, HEADROOM 9000) -> Discard").contains("HEADROOM out of range"));
        assert!(errors("FromSocket(frog) -> Discard").contains("bad IP protocol"));
        assert!(errors("FromSocket() -> Discard").contains("PROTOCOL: required argument missing"));
    }

    /// What is sent through one socket to this machine itself comes in through another.
    #[test]
    fn there_and_back() {
        // A protocol for experiments (RFC 3692), which nobody answers.
        let config = "from :: FromSocket(253) -> got :: Counter(COUNT_CALL 3 stop) -> Print(got) -> Discard;
             RatedSource(\\<01020304>, RATE 100) -> IPEncap(253, 127.0.0.1, 127.0.0.1) -> ToSocket";
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
    }
}
