//! Exchanges packets with all members of a multicast group, over UDP.
//!
//! ```click
//! McastSocket(MCASTIP, MCASTPORT [, SOURCEIP, SOURCEPORT, KEYWORDS])
//! ```
//!
//! Joins the IPv4 group MCASTIP, sends it the data of packets at the input, as datagrams to MCASTPORT, and emits what its members send there.
//! Several programs on one machine may be members.
//!
//! With SOURCEIP, datagrams leave from this address, and go out of and come in on its interface only; what the element has sent itself is
//! dropped when it comes back. Without, the kernel's routes choose the interface, and datagrams come back unless LOOP is false.
//!
//! Unlike Click's, which stops the router while the socket is full, up to 1000 packets that were pushed wait, and further ones are dropped.
//!
//! Ports: up to 1 input and 1 output. Processing: agnostic input, push output; a pull input is asked for packets as fast as possible.
//! Workers: exclusive.
//!
//! # Arguments
//! - `MCASTIP`, `MCASTPORT` (IPv4 multicast address, port): the group.
//! - `SOURCEIP` (IPv4 address of this machine): the address to send from. The default is chosen by the kernel, as if it were 0.0.0.0.
//! - `SOURCEPORT` (port, default 0): with SOURCEIP, the port to send from. With 0 the kernel chooses.
//! - `LOOP` (boolean, default true): let members on this machine have what is sent, the element itself too.
//! - `SNAPLEN` (integer, default 2048): bytes of a packet that is received, at most; the extra-length annotation says how many more it had.
//! - `HEADROOM` (integer, at most 8192, default 128): free bytes in front of a packet that is received.
//! - `SNDBUF`, `RCVBUF` (integer): bytes of the sockets' buffers.
//! - `TIMESTAMP` (boolean, default true): set the time of packets that are received.
//!
//! # Example
//! ```click
//! FromDevice(eth0, PROMISC true) -> McastSocket(239.0.0.1, 1234, 192.0.2.1) -> ToDevice(eth0);
//! ```
//!
//! # See also
//! Socket, RawSocket

use super::sockets::{Buffers, FLAGS, Outbox, Receiver, failed};
use elements_shared::pulling;
use packet::{BATCH_MAX, Batch};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Interest, IpPort, Pull, Residency};
use rustix::net::{AddressFamily, SendFlags, SocketType, bind, getsockname, sendto, socket_with, sockopt};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("McastSocket", create)
    .ports("0-1/0-1")
    .processing("a/h")
    .flow("x/y")
    .activity(Activity::Always)
    .residency(Residency::Exclusive)
    .makes("packets")
    .absorbs("packets")
    .holds("packets that wait to be sent")
    .doc(router::manual!("mcast_socket.rs"));

struct McastSocket {
    group: SocketAddrV4,
    /// Where datagrams are sent from, if that was said.
    source: Option<SocketAddrV4>,
    /// Whether datagrams are handed to members on this machine.
    loops: bool,
    buffers: Buffers,
    receiver: Receiver,
    outbox: Outbox,
    /// Where datagrams come from.
    from: Option<Arc<OwnedFd>>,
    /// Where datagrams go.
    to: Option<Arc<OwnedFd>>,
    inputs: usize,
    outputs: usize,
    pulls: bool,
    burst: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut group, mut port) = (Ipv4Addr::UNSPECIFIED, IpPort(0));
    let (mut source, mut source_port) = (Ipv4Addr::UNSPECIFIED, IpPort(0));
    let (mut receiver, mut buffers, mut loops) = (Receiver::default(), Buffers::default(), true);
    let args = config
        .args()
        .required("MCASTIP", &mut group)
        .required("MCASTPORT", &mut port)
        .positional("SOURCEIP", &mut source)
        .positional("SOURCEPORT", &mut source_port)
        .keyword("LOOP", &mut loops);
    buffers.arguments(receiver.arguments(args)).finish()?;
    if !group.is_multicast() {
        return Err(format!("MCASTIP: {group} is not a multicast address").into());
    }
    Ok(Box::new(McastSocket {
        group: SocketAddrV4::new(group, port.0),
        source: Some(SocketAddrV4::new(source, source_port.0)).filter(|source| !source.ip().is_unspecified()),
        loops,
        buffers,
        receiver: receiver.checked()?,
        outbox: Outbox::default(),
        from: None,
        to: None,
        inputs: config.inputs(),
        outputs: config.outputs(),
        pulls: pulling::pulls(config),
        burst: config.vector().min(BATCH_MAX),
    }))
}

impl McastSocket {
    /// Opens a socket, which has this address if there is one. Others may have it too: members, and a router that takes this one's place.
    fn open(&self, address: Option<SocketAddrV4>) -> Result<OwnedFd, String> {
        let fd =
            socket_with(AddressFamily::INET, SocketType::DGRAM, FLAGS, None).map_err(failed("socket"))?;
        self.buffers.set(&fd)?;
        if let Some(address) = address {
            sockopt::set_socket_reuseaddr(&fd, true).map_err(failed("setsockopt(SO_REUSEADDR)"))?;
            bind(&fd, &address).map_err(failed(&format!("{address}: bind")))?;
        }
        Ok(fd)
    }

    /// Opens the socket that is a member of the group.
    fn join(&self) -> Result<OwnedFd, String> {
        let fd = self.open(Some(self.group))?;
        let interface = self.source.map_or(Ipv4Addr::UNSPECIFIED, |source| *source.ip());
        sockopt::set_ip_add_membership(&fd, self.group.ip(), &interface)
            .map_err(failed(&format!("{}: joining the group", self.group.ip())))?;
        Ok(fd)
    }

    /// Opens the socket that sends, and finds out its port.
    fn open_to_send(&mut self) -> Result<OwnedFd, String> {
        let fd = self.open(self.source)?;
        if let Some(source) = self.source {
            let bound = getsockname(&fd).map_err(failed("getsockname"))?;
            self.source = SocketAddrV4::try_from(bound).ok();
            sockopt::set_ip_multicast_if(&fd, source.ip()).map_err(failed("setsockopt(IP_MULTICAST_IF)"))?;
        }
        sockopt::set_ip_multicast_loop(&fd, self.loops).map_err(failed("setsockopt(IP_MULTICAST_LOOP)"))?;
        Ok(fd)
    }

    fn receive(&mut self, cx: &mut Cx<'_>) {
        let Some(fd) = &self.from else { return };
        let own = self.source;
        self.receiver.emit_datagrams(cx, fd, self.burst, |cx, (packet, from)| {
            let from = from.and_then(|from| SocketAddrV4::try_from(from).ok());
            if own.is_some() && from == own {
                cx.drop(packet, "sent by this element itself");
                return None;
            }
            Some(packet)
        });
    }

    /// Sends what waits; whether all is sent.
    fn send(&mut self, cx: &mut Cx<'_>) -> bool {
        let Some(fd) = &self.to else { return true };
        let group = self.group;
        self.outbox.send_datagrams(cx, |packet| sendto(fd, packet.data(), SendFlags::NOSIGNAL, &group));
        if !self.outbox.is_empty() {
            cx.tasks().schedule_when(fd, Interest::Writable);
        }
        self.outbox.is_empty()
    }
}

impl Element for McastSocket {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.inputs > 0 {
            self.to = Some(Arc::new(self.open_to_send()?));
        }
        if self.outputs > 0 {
            self.from = Some(Arc::new(self.join()?));
            cx.tasks().schedule();
        }
        pulling::begin(cx, self.pulls);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.outbox.put(cx, batch);
        self.send(cx);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        self.receive(cx);
        if self.send(cx) && self.pulls {
            cx.ask(0, self.burst);
        }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        pulling::go_on(cx, &batch);
        self.outbox.put(cx, batch);
        self.send(cx);
        Pull::Nothing
    }

    fn held(&self) -> usize {
        self.outbox.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_at, errors};
    use router::{Call, Clock, Resources, Router};

    /// A port of a group that no socket on this machine has.
    fn free_port() -> u16 {
        std::net::UdpSocket::bind("0.0.0.0:0").expect("a port").local_addr().expect("an address").port()
    }

    /// A router with members of a group on the loopback interface, unless the kernel has no multicast there.
    fn build(config: &str) -> Option<Router> {
        match build_at(config, 1, 32, Clock::real(), Resources::default()) {
            Ok(router) => Some(router),
            Err(error) if error.contains("joining the group") => {
                println!("skipped: no multicast on the loopback interface: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        for (arguments, error) in [
            ("239.0.0.1", "MCASTPORT: required argument missing"),
            ("10.0.0.1, 1234", "MCASTIP: 10.0.0.1 is not a multicast address"),
            ("239.0.0.1, 1234, 127.0.0.1, 0, 0", "too many arguments"),
            ("239.0.0.1, 1234, HEADROOM 9000", "HEADROOM out of range"),
            ("239.0.0.1, 1234, LOOP 7", "LOOP: "),
            (
                "239.0.0.1, 1234, 192.0.2.83",
                "192.0.2.83:0: bind: Cannot assign requested address; this machine does not have this address",
            ),
        ] {
            let said = errors(&format!("Idle -> McastSocket({arguments}) -> Discard"));
            assert!(said.contains(error), "{said}");
        }
    }

    /// Where the kernel finds no interface for the group, the message says what it looked for.
    #[test]
    fn no_interface() {
        let said = errors("McastSocket(239.0.0.1, 1234, 192.0.2.83) -> Discard");
        assert!(
            said.contains("239.0.0.1: joining the group: No such device; no interface has the address"),
            "{said}"
        );
    }

    /// What a member sends all others on this machine receive, also those with a source port of their own, but not the member itself; long
    /// packets lose their ends, and say how much.
    #[test]
    fn all_other_members_receive_a_packet() {
        let port = free_port();
        let group = format!("239.83.75.1, {port}, 127.0.0.1");
        let config = format!(
            "TimedSource(0.01, hello) -> one :: McastSocket({group}) -> own :: Counter -> Print(own) -> Discard;
             two :: McastSocket({group}) -> Counter(COUNT_CALL 5 stop) -> Print(two) -> Discard;
             Idle -> McastSocket({group}, SOURCEPORT {port}, SNAPLEN 2) -> Print(short) -> Pad -> Print(padded) -> Discard;
             Script(wait 10, stop)"
        );
        let Some(mut router) = build(&config) else { return };
        router.run();
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!(read("own.count"), "0");
        assert!(read("one.drop_reasons").contains("sent by this element itself"));
        let said = router.info().log.text();
        assert!(said.matches("two:    5 | 68656c6c 6f").count() >= 4, "{said}");
        assert!(said.contains("short:    2 | 6865") && said.contains("padded:    5 | 6865"), "{said}");
    }

    /// LOOP is the kernel's to obey, which the loopback interface does not show: what is sent there comes back in any case.
    #[test]
    fn loop_sets_the_socket_option() {
        for loops in [true, false] {
            let mut socket = McastSocket {
                group: SocketAddrV4::new(Ipv4Addr::new(239, 83, 75, 3), 1234),
                source: None,
                loops,
                buffers: Buffers::default(),
                receiver: Receiver::default(),
                outbox: Outbox::default(),
                from: None,
                to: None,
                inputs: 1,
                outputs: 0,
                pulls: false,
                burst: 1,
            };
            let fd = socket.open_to_send().expect("a socket");
            assert_eq!(sockopt::ip_multicast_loop(&fd), Ok(loops));
        }
    }

    /// A queue in front is emptied, and what comes later is sent, too.
    #[test]
    fn a_queue_in_front_is_emptied() {
        let group = format!("239.83.75.2, {}, 127.0.0.1", free_port());
        let config = format!(
            "RatedSource(LENGTH 100, RATE 2000, LIMIT 300) -> Queue(1000) -> McastSocket({group});
             McastSocket({group}, RCVBUF 1000000) -> got :: Counter(COUNT_CALL 300 stop) -> Discard;
             Script(wait 10, stop)"
        );
        let Some(mut router) = build(&config) else { return };
        router.run();
        assert_eq!(router.call(Call::read("got.count", "")).unwrap(), "300");
    }
}
