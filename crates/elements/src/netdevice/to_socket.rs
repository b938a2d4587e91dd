//! Hands IP packets to the kernel through a raw socket, to be sent.
//!
//! ```click
//! ToSocket([BURST])
//! ```
//!
//! Sends IPv4 packets, which begin with their IP header, to their destination annotation; the kernel finds the way, the neighbour
//! and the link-layer header by its own tables. Needs root, or the capability CAP_NET_RAW.
//!
//! Ports: 1 input, no outputs. Processing: agnostic; a pull input is asked for packets as fast as possible. Workers: replicated, a
//! socket for each.
//!
//! # Arguments
//! - `BURST` (integer, default: packets in a batch): packets asked for at a time.
//!
//! # Handlers
//! - `count` (read): packets sent. `reset_counts` (write, button): sets it to zero.
//!
//! # Example
//! ```click
//! ICMPPingSource(10.0.0.1, 10.0.0.2) -> ToSocket
//! ```
//!
//! # See also
//! FromSocket, Socket, ToDevice

use super::from_socket::open;
use crate::pulling;
use device::Trouble;
use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Handlers, Pull};
use rustix::io::Errno;
use rustix::net::SendFlags;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

/// The class.
pub(crate) const CLASS: Class = Class::new("ToSocket", create)
    .ports("1/0")
    .activity(Activity::IfPullInput)
    .doc(include_str!("to_socket.rs"));

/// The protocol number of sockets that take packets with their headers.
const WITH_HEADER: u8 = 255;

struct ToSocket {
    fd: Option<OwnedFd>,
    pulls: bool,
    burst: usize,
    failing: bool,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut burst = config.vector();
    config.args().keyword("BURST", &mut burst).finish()?;
    if burst == 0 {
        return Err("BURST out of range".into());
    }
    let pulls = pulling::pulls(config);
    Ok(Box::new(ToSocket { fd: None, pulls, burst: burst.min(BATCH_MAX), failing: false, count: 0 }))
}

impl ToSocket {
    fn send(&mut self, cx: &mut Cx<'_>, batch: Batch) {
        let Some(fd) = &self.fd else { return cx.drop_batch(batch, "not open") };
        for packet in batch.iter() {
            let to = SocketAddrV4::new(packet.dst_ip(), 0);
            match rustix::net::sendto(fd, packet.data(), SendFlags::NOSIGNAL, &to) {
                Ok(_) => {
                    self.count += 1;
                    self.failing = false;
                }
                Err(error) => {
                    cx.count_drops("the kernel did not take it", 1);
                    let full = matches!(error, Errno::AGAIN | Errno::NOBUFS);
                    if !full && !std::mem::replace(&mut self.failing, true) {
                        let trouble = Trouble::at_socket(&format!("sending to {}", to.ip()), error.into());
                        cx.log(&format!("{} :: ToSocket: {trouble}", cx.name()));
                    }
                }
            }
        }
        cx.consume(batch);
    }
}

impl Element for ToSocket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.fd = Some(open(WITH_HEADER)?);
        pulling::begin(cx, self.pulls);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.send(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, self.burst);
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        pulling::go_on(cx, &batch);
        self.send(cx, batch);
        Pull::Nothing
    }

    fn handlers(&self, h: &mut Handlers) {
        h.count("reset_counts", |e: &mut ToSocket| &mut e.count);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;

    #[test]
    fn arguments() {
        assert!(errors("Idle -> ToSocket(BURST 0)").contains("BURST out of range"));
    }
}
