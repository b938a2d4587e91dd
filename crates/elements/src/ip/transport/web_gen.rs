//! Requests pages from a web server, from many addresses.
//!
//! ```click
//! WebGen(PREFIX, DST, RATE)
//! ```
//!
//! Receives and sends TCP packets over IPv4. It opens RATE connections per second to port 80 of DST, each from a
//! random address of PREFIX, and requests a random page: `GET /spec/D/D-C-F HTTP/1.0`, where D is one of 10 folders,
//! C one of 3 classes and F one of 9 files. It acknowledges what it receives, and closes the connection when the
//! server does. Packets that are not answered within a second are retransmitted, six times; then the connection is
//! given up. Packets that belong to no connection are answered with RST.
//!
//! Every five seconds, and at the end, it prints how many connections were opened, completed, given up and reset.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: exclusive.
//!
//! # Arguments
//! - `PREFIX` (IP prefix): the client addresses.
//! - `DST` (IP address): the server.
//! - `RATE` (integer, at least 1): connections per second. At most 10 times as many are open at a time.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! kt :: KernelTap(11.11.0.0/16);
//! kt -> Strip(14) -> WebGen(11.11.0.0/16, 10.0.0.1, 5) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> kt;
//! ```
//!
//! # See also
//! ToyTCP, FastTCPFlows, TCPReflector, HTTPServer

use crate::ether::address::Prefix;
use packet::{Batch, DEFAULT_HEADROOM, Packet};
use router::{Activity, Class, Config, ConfigError, Cx, Element, Residency};
use std::collections::{HashMap, VecDeque};
use std::net::Ipv4Addr;
use std::time::Duration;
use wire::tcp::flag::{ACK, FIN, PSH, RST, SYN};
use wire::{ip_proto, ipv4, tcp};

/// The class.
pub(crate) const CLASS: Class = Class::new("WebGen", create)
    .processing("h/h")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("web_gen.rs"));

const NS_PER_US: i64 = 1000;
const US_PER_S: u32 = 1_000_000;
const TICK: Duration = Duration::from_millis(1);
/// When something is sent again, and how often.
const RESEND_NS: i64 = 1_000_000_000;
const RESENDS: u32 = 5;
const REPORT_NS: i64 = 5_000_000_000;
const HTTP: u16 = 80;
const TTL: u8 = 250;
const WINDOW: u16 = 60 * 1024;

/// The client's end of a connection.
type End = (Ipv4Addr, u16);

/// A connection.
struct Connection {
    request: String,
    /// The number of the SYN, the first that is not acknowledged, and the next.
    initial: u32,
    acknowledged: u32,
    next: u32,
    /// The server's next number, once it has accepted.
    expected: Option<u32>,
    /// Whether there is something to acknowledge.
    owes: bool,
    got_end: bool,
    sent_end: bool,
    resends: u32,
    sent_ns: i64,
}

/// What is printed.
#[derive(Default)]
struct Counts {
    opened: u32,
    completed: u32,
    given_up: u32,
    reset: u32,
}

struct WebGen {
    prefix: Prefix,
    server: Ipv4Addr,
    interval_ns: i64,
    /// Connections at a time.
    most: usize,
    connections: HashMap<End, Connection>,
    /// When connections last sent something; those that have sent since are there again.
    sent: VecDeque<(i64, End)>,
    start_ns: i64,
    report_ns: i64,
    counts: Counts,
    id: u16,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut prefix, mut server, mut rate) = (Prefix::default(), Ipv4Addr::UNSPECIFIED, 0u32);
    config
        .args()
        .required("PREFIX", &mut prefix)
        .required("DST", &mut server)
        .required("RATE", &mut rate)
        .finish()?;
    if !(1..=US_PER_S).contains(&rate) {
        return Err("RATE must be between 1 and 1000000".into());
    }
    let interval_us = US_PER_S / rate;
    Ok(Box::new(WebGen {
        prefix,
        server,
        interval_ns: i64::from(interval_us) * NS_PER_US,
        most: (2 * (US_PER_S / interval_us) * RESENDS) as usize,
        connections: HashMap::new(),
        sent: VecDeque::new(),
        start_ns: 0,
        report_ns: 0,
        counts: Counts::default(),
        id: 0,
    }))
}

/// What a packet is to say.
struct Segment<'a> {
    src: End,
    dst: End,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    data: &'a [u8],
}

impl Segment<'_> {
    fn write(&self, packet: &mut Packet, id: u16) -> Option<()> {
        let bytes = packet.data_mut();
        let (header, segment) = bytes.split_first_chunk_mut::<{ ipv4::HEADER_LEN }>()?;
        let mut ip = ipv4::Header::new(header);
        ip.set_version_and_header_len(ipv4::HEADER_LEN);
        ip.set_total_len((ipv4::HEADER_LEN + segment.len()) as u16);
        ip.set_id(id);
        ip.set_ttl(TTL);
        ip.set_protocol(ip_proto::TCP);
        ip.set_src(self.src.0);
        ip.set_dst(self.dst.0);
        ip.fill_checksum();
        segment.get_mut(tcp::HEADER_LEN..)?.copy_from_slice(self.data);
        let mut tcp = tcp::Header::new_checked_mut(&mut *segment).ok()?;
        tcp.set_src_port(self.src.1);
        tcp.set_dst_port(self.dst.1);
        tcp.set_sequence(self.sequence);
        tcp.set_acknowledgement(self.acknowledgement);
        tcp.set_header_len(tcp::HEADER_LEN);
        tcp.set_flags(self.flags);
        tcp.set_window(WINDOW);
        tcp::fill_checksum_v4(self.src.0, self.dst.0, segment).ok()?;
        packet.set_network(0, ipv4::HEADER_LEN);
        packet.set_dst_ip(self.dst.0);
        Some(())
    }
}

/// What came.
struct Received {
    src: End,
    dst: End,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    len: u32,
}

impl Received {
    fn of(packet: &Packet) -> Option<Received> {
        let bytes = packet.data();
        let ip = ipv4::Header::new_checked(bytes).ok().filter(|ip| ip.begins(ip_proto::TCP))?;
        let (start, end) = (ip.header_len(), usize::from(ip.total_len()));
        let segment = bytes.get(start..end).filter(|_| start >= ipv4::HEADER_LEN)?;
        let tcp = tcp::Header::new_checked(segment).ok()?;
        Some(Received {
            src: (ip.src(), tcp.src_port()),
            dst: (ip.dst(), tcp.dst_port()),
            sequence: tcp.sequence(),
            acknowledgement: tcp.acknowledgement(),
            flags: tcp.flags(),
            len: segment.len().saturating_sub(tcp.header_len()) as u32,
        })
    }
}

/// Whether a number comes behind another one; they start again at 0 behind the largest.
fn is_behind(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Connection {
    fn open(cx: &mut Cx<'_>) -> Connection {
        let (folder, class, file) = (cx.rng().u8(..10), cx.rng().u8(..3), cx.rng().u8(..9));
        let initial = cx.rng().u32(..0x1000_0000);
        Connection {
            request: format!("GET /spec/{folder}/{folder}-{class}-{file} HTTP/1.0\r\n\r\n"),
            initial,
            acknowledged: initial,
            next: initial,
            expected: None,
            owes: false,
            got_end: false,
            sent_end: false,
            resends: 0,
            sent_ns: 0,
        }
    }

    /// Takes what the server says, but for RST.
    fn take(&mut self, received: &Received) {
        let end = received.sequence.wrapping_add(received.len);
        let accepts = received.flags & ACK != 0 && received.acknowledgement == self.initial.wrapping_add(1);
        match &mut self.expected {
            None if accepts => {
                self.next = received.acknowledgement;
                self.acknowledged = self.next;
                self.expected = Some(received.sequence.wrapping_add(1));
                self.owes = true;
            }
            Some(expected) if received.len > 0 => {
                self.owes = true;
                if is_behind(end, *expected) {
                    *expected = end;
                }
            }
            _ => {}
        }
        if received.flags & ACK != 0 && is_behind(received.acknowledgement, self.acknowledged) {
            self.acknowledged = received.acknowledgement;
        }
        if received.flags & FIN != 0 && self.expected == Some(end) && !self.got_end {
            self.got_end = true;
            self.expected = Some(end.wrapping_add(1));
            self.owes = true;
        }
    }

    /// What there is to say: number, acknowledgement, flags, and whether the request goes with it.
    fn speech(&mut self) -> Option<(u32, u32, u8, bool)> {
        let first = self.initial.wrapping_add(1);
        let asks =
            self.expected.is_some() && self.acknowledged.wrapping_sub(first) < self.request.len() as u32;
        let mut sequence = self.next.wrapping_add(u32::from(self.sent_end));
        if asks {
            sequence = first;
            self.next = first.wrapping_add(self.request.len() as u32);
        }
        if self.expected.is_some() && !self.owes && !asks {
            return None;
        }
        self.owes = false;
        let Some(expected) = self.expected else { return Some((sequence, 0, SYN, false)) };
        let flags = ACK | if asks { PSH | FIN } else { 0 } | if self.got_end { FIN } else { 0 };
        self.sent_end |= flags & FIN != 0;
        Some((sequence, expected, flags, asks))
    }

    fn is_over(&self) -> bool {
        self.got_end && self.sent_end
    }
}

impl WebGen {
    fn emit(&mut self, cx: &mut Cx<'_>, segment: &Segment<'_>) {
        let len = ipv4::HEADER_LEN + tcp::HEADER_LEN + segment.data.len();
        let Some(mut packet) = cx.pool().alloc(DEFAULT_HEADROOM, len) else {
            return cx.count_drops("no buffer", 1);
        };
        packet.data_mut().fill(0);
        // The packet has room for the headers.
        let _ = segment.write(&mut packet, self.id);
        self.id = self.id.wrapping_add(1);
        cx.emit_packet(0, packet);
    }

    /// Has a connection say what it has to say, and ends it when that was the last.
    fn send(&mut self, cx: &mut Cx<'_>, end: End) {
        let Some(mut connection) = self.connections.remove(&end) else { return };
        connection.sent_ns = cx.now_ns();
        self.sent.push_back((connection.sent_ns, end));
        if let Some((sequence, acknowledgement, flags, asks)) = connection.speech() {
            let data = if asks { connection.request.as_bytes() } else { &[] };
            let dst = (self.server, HTTP);
            self.emit(cx, &Segment { src: end, dst, sequence, acknowledgement, flags, data });
            if connection.is_over() {
                self.counts.completed += 1;
                return;
            }
        }
        self.connections.insert(end, connection);
    }

    fn open(&mut self, cx: &mut Cx<'_>) {
        if self.connections.len() >= self.most {
            return cx.log("out of available CBs");
        }
        let Prefix { address, mask } = self.prefix;
        let src = Ipv4Addr::from(cx.rng().u32(..)) & !mask | address & mask;
        let end = (src, 1024 + cx.rng().u16(..60_000));
        let connection = Connection::open(cx);
        self.connections.insert(end, connection);
        self.counts.opened += 1;
        self.send(cx, end);
    }

    fn resend(&mut self, cx: &mut Cx<'_>) {
        let now_ns = cx.now_ns();
        while let Some(&(sent_ns, end)) = self.sent.front()
            && now_ns - sent_ns > RESEND_NS
        {
            self.sent.pop_front();
            let Some(connection) = self.connections.get_mut(&end).filter(|known| known.sent_ns == sent_ns)
            else {
                continue;
            };
            connection.resends += 1;
            if connection.resends > RESENDS + 1 {
                self.counts.given_up += 1;
                self.connections.remove(&end);
            } else {
                self.send(cx, end);
            }
        }
    }

    fn report(&mut self, cx: &Cx<'_>) {
        let Counts { opened, completed, given_up, reset } = std::mem::take(&mut self.counts);
        cx.log(&format!("init: {opened}  comp: {completed:5}  tmo: {given_up:5}  rst: {reset:5}"));
        self.report_ns = cx.now_ns();
    }

    fn take(&mut self, cx: &mut Cx<'_>, received: &Received) {
        let end = received.dst;
        let of_server = received.src == (self.server, HTTP);
        let Some(connection) = self.connections.get_mut(&end).filter(|_| of_server) else {
            let (sequence, acknowledgement) = (received.acknowledgement, received.sequence);
            let (src, dst) = (received.dst, received.src);
            return self.emit(cx, &Segment { src, dst, sequence, acknowledgement, flags: RST, data: &[] });
        };
        if received.flags & RST != 0 {
            self.connections.remove(&end);
            self.counts.reset += 1;
            return;
        }
        connection.take(received);
        self.send(cx, end);
    }
}

impl Element for WebGen {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.log(&format!("Allocated {} CBs", self.most));
        (self.start_ns, self.report_ns) = (cx.now_ns(), cx.now_ns());
        cx.timer_after(0, Duration::ZERO);
        Ok(())
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        while cx.now_ns() - self.start_ns > self.interval_ns {
            self.start_ns += self.interval_ns;
            self.open(cx);
        }
        self.resend(cx);
        if cx.now_ns() - self.report_ns > REPORT_NS {
            self.report(cx);
        }
        cx.timer_after(0, TICK);
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| match Received::of(&packet) {
            Some(received) => {
                self.take(cx, &received);
                cx.pool().free(packet);
            }
            None => cx.drop(packet, "no TCP packet"),
        });
        cx.consume(batch);
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.report(cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{errors, run};

    /// A server that answers everything: each connection asks, is answered, and ends.
    #[test]
    fn asks() {
        let config = "w :: WebGen(11.11.0.0/16, 10.0.0.1, 2) -> CheckIPHeader -> CheckTCPHeader -> c :: IPClassifier(syn, -);
                      c[0] -> IPPrint(syn, TIMESTAMP false) -> q :: Queue -> Unqueue -> TCPReflector -> w;
                      c[1] -> IPPrint(rest, TIMESTAMP false, PAYLOAD ASCII) -> q; Script(wait 1.7, stop)";
        let said = run(config);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[0], "Allocated 20 CBs");
        assert!(lines[1].starts_with("syn: 11.11.") && lines[1].contains(" > 10.0.0.1.80: S "), "{said}");
        assert!(said.contains("GET /spec/") || said.contains("GET /spe"), "{said}");
        assert_eq!(said.lines().filter(|line| line.starts_with("syn: ")).count(), 3, "{said}");
    }

    /// Nobody answers: a connection is given up after it has sent seven times.
    #[test]
    fn gives_up() {
        let config = "w :: WebGen(11.11.0.0/16, 10.0.0.1, 1) -> c :: Counter -> Discard; Idle -> w;
                      Script(wait 1.5, print c.count, wait 1, print c.count, wait 6, stop)";
        let said = run(config);
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines[..3], ["Allocated 10 CBs", "1", "3"], "{said}");
        assert!(said.contains("tmo:     0"), "{said}");
    }

    /// Strangers get RST.
    #[test]
    fn strangers() {
        let config =
            "s :: TCPIPSend -> w :: WebGen(11.11.0.0/16, 10.0.0.1, 1) -> IPPrint(TIMESTAMP false) -> Discard;
                      Script(write s.send 10.0.0.9 80 11.11.0.1 5 7 9 16, stop)";
        let said = run(config);
        assert!(said.contains("11.11.0.1.5 > 10.0.0.9.80: R 9:9(0,40,40) win 61440"), "{said}");
        assert!(errors("Idle -> WebGen(11.11.0.0/16, 10.0.0.1, 0) -> Discard").contains("RATE must be"));
    }
}
