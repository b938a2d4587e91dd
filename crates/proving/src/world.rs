//! The world: hosts, links and routers under one simulated clock, on one thread.

use crate::contents::{Bystander, Contents};
use crate::datagram::{Datagram, Frame, Mac, Segment, ether_type, protocol, tcp_flags};
use crate::host::{Host, Received};
use crate::ledger::{Arrived, Complaint, Ledger, Look, Sent};
use crate::link::{Link, Station};
use crate::machine::Machine;
use crate::message::Message;
use crate::oracle::Judge;
use crate::pace::STRIDE_MAX_NS;
use crate::trace::Trace;
use router::{Clock, Standing};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Rounds that a router gets in one moment. Whatever needs more goes on a little later.
pub const ROUNDS: usize = 2_000;
/// How much later.
const LATER_NS: i64 = 1_000;
/// Moments in which nothing moved before strides get longer.
const QUIET: u32 = 8;
/// Moments of a story, at most: every run ends.
const MOMENTS_MAX: u64 = 3_000_000;
/// The port of the echo service (RFC 862).
pub const ECHO_PORT: u16 = 7;

/// What a family builds a story's world of.
pub struct Network {
    /// The hosts.
    pub hosts: Vec<Host>,
    /// The wires between them and the routers.
    pub links: Vec<Link>,
    /// The routers' names, and how many interfaces each has.
    pub machines: Vec<(String, usize)>,
}

/// What the messages of a flow travel in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UDP; it is answered at the echo port.
    Udp,
    /// TCP: a SYN, data, a FIN, each answered. Nothing is repeated.
    Tcp,
    /// ICMP echo requests.
    Ping,
}

/// Messages that a host is to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The sender's number.
    pub from: usize,
    /// To whom.
    pub to: IpAddr,
    /// In what.
    pub kind: Kind,
    /// How many.
    pub count: u32,
    /// Bytes of payload in each.
    pub size: usize,
    /// Time between two.
    pub gap_ns: i64,
    /// TTL, or hop limit.
    pub ttl: u8,
    /// The mark of explicit congestion notification.
    pub ecn: u8,
    /// Source and destination port; of pings, the first is the identifier.
    pub ports: [u16; 2],
    /// Whether each message comes from the next port: each is a flow of its own to routers.
    pub spread: bool,
    /// Whether routers may not cut the packets.
    pub whole: bool,
}

/// What a host says of a packet in its header.
struct Manner {
    ttl: u8,
    ecn: u8,
    whole: bool,
}

/// Hosts, links and routers.
pub struct World {
    /// The time.
    pub clock: Clock,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// The wires.
    pub links: Vec<Link>,
    /// The routers.
    pub machines: Vec<Machine>,
    /// All messages so far.
    pub ledger: Ledger,
    /// Who says what is wrong.
    pub judge: Judge,
    /// A digest of all frames so far.
    pub trace: Trace,
    flows: Vec<Flow>,
    /// Messages to send, by time and order of planning: the flow and the message's number.
    plans: BTreeMap<(i64, u64), (u32, u32)>,
    /// Frames on links, by the time at which they come out, in the order in which they were sent.
    flights: BTreeMap<(i64, u64), (Station, Vec<u8>)>,
    count: u64,
    moments: u64,
    rng: fastrand::Rng,
    bystander: Bystander,
    /// When a host last said its Ethernet address by neighbour discovery, by its number.
    said_ns: BTreeMap<usize, i64>,
    /// Ethernet addresses that hosts had, of which routers may have read later than of those that followed.
    outrun: BTreeSet<Mac>,
}

impl World {
    /// A world in which nothing has happened.
    pub fn new(network: Network, machines: Vec<Machine>, judge: Judge, clock: Clock, seed: u64) -> World {
        World {
            clock,
            hosts: network.hosts,
            links: network.links,
            machines,
            ledger: Ledger::default(),
            judge,
            trace: Trace::default(),
            flows: Vec::new(),
            plans: BTreeMap::new(),
            flights: BTreeMap::new(),
            count: 0,
            moments: 0,
            rng: fastrand::Rng::with_seed(seed),
            bystander: Bystander::default(),
            said_ns: BTreeMap::new(),
            outrun: BTreeSet::new(),
        }
    }

    /// The time, in nanoseconds.
    pub fn now_ns(&self) -> i64 {
        self.clock.now_ns()
    }

    /// Plans the messages of a flow, the first for now.
    pub fn begin(&mut self, flow: Flow) {
        let number = self.flows.len() as u32;
        for message in 0..flow.count {
            let at_ns = self.now_ns() + i64::from(message) * flow.gap_ns;
            self.plans.insert((at_ns, self.count), (number, message));
            self.count += 1;
        }
        self.flows.push(flow);
    }

    /// When the last message is sent that is planned so far.
    pub fn planned_until_ns(&self) -> Option<i64> {
        self.plans.keys().next_back().map(|&(at_ns, _)| at_ns)
    }

    /// Lets time pass, and hosts, links and routers act.
    pub fn advance(&mut self, until_ns: i64) {
        let (mut quiet, mut stride_ns) = (0, 0);
        loop {
            let before = self.count;
            let next_ns = self.moment();
            self.moments += 1;
            if self.moments > MOMENTS_MAX {
                self.judge.find(self.now_ns(), "the story does not come to its end".into());
                return;
            }
            quiet = if before == self.count && self.flights.is_empty() { quiet + 1 } else { 0 };
            stride_ns = if quiet > QUIET { (stride_ns * 2).clamp(LATER_NS, STRIDE_MAX_NS) } else { 0 };
            // No router sleeps past what hosts are about to do.
            let at_ns = (self.now_ns() + stride_ns).min(self.due_ns().unwrap_or(i64::MAX)).max(next_ns);
            if at_ns > until_ns {
                self.clock.jump(until_ns);
                return;
            }
            self.clock.jump(at_ns);
        }
    }

    /// The clock leaps while all routers sleep, as when a machine was suspended.
    pub fn leap(&mut self, by_ns: i64) {
        self.clock.jump(self.now_ns() + by_ns);
    }

    /// What is on its way arrives now, and waits where it is for a router: the moment before a swap is a busy one.
    pub fn rush(&mut self) {
        for (_, (station, frame)) in std::mem::take(&mut self.flights) {
            match station {
                Station::Port(machine, port) => self.router_receives(machine, port, &frame),
                Station::Host(host) => self.host_receives(host, &frame),
            }
        }
    }

    fn router_receives(&mut self, machine: usize, port: usize, frame: &[u8]) {
        if !self.machines[machine].receive(port, frame) {
            self.lose(frame); // the card's queue is full
        }
    }

    /// An interface of a router vanishes with what it has received.
    pub fn pull_out(&mut self, machine: usize, port: usize) {
        for frame in self.machines[machine].pull_out(port) {
            self.lose(&frame);
        }
    }

    /// What a router has just not sent because an interface was gone may be missing.
    fn note_unsent(&mut self, machine: usize) {
        let (now_ns, unsent) = (self.now_ns(), self.machines[machine].newly_unsent());
        if unsent > 0 {
            self.judge.excuses.allow(now_ns, now_ns, unsent);
            // Questions for neighbours may have been among them.
            self.judge.excuses.lose(now_ns, Contents::Neighbours);
        }
    }

    /// As many messages may be missing as a router has just dropped because others overtook them, if it may.
    fn note_overtaken(&mut self, machine: usize) {
        let (now_ns, reasons) = (self.now_ns(), self.judge.history.current().overtaken(machine));
        if !reasons.is_empty() {
            let overtaken = self.machines[machine].newly_overtaken(reasons);
            self.judge.excuses.allow(now_ns, now_ns, overtaken);
        }
    }

    /// A frame is lost where frames may be lost.
    fn lose(&mut self, frame: &[u8]) {
        let (now_ns, contents) = (self.now_ns(), self.bystander.look(frame));
        self.judge.excuses.lose(now_ns, contents);
    }

    /// Whether frames are on their way, or will be because a question for a neighbour or its answer was lost.
    pub fn is_moving(&self) -> bool {
        let asking = self.hosts.iter().any(|host| host.next_ns().is_some());
        !self.flights.is_empty() || asking && self.judge.excuses.is_silenced()
    }

    /// A host gets another Ethernet address, and says so.
    pub fn change_mac(&mut self, host: usize, mac: Mac) {
        let (mut out, now_ns) = (Vec::new(), self.now_ns());
        if self.said_ns.get(&host).is_some_and(|&at_ns| self.judge.excuses.may_be_unread(at_ns, now_ns)) {
            self.outrun.insert(self.hosts[host].mac);
        }
        self.hosts[host].change_mac(now_ns, mac, &mut out);
        self.transmit(Station::Host(host), out);
    }

    /// All that happens at this time. Returns when something happens next.
    fn moment(&mut self) -> i64 {
        let now_ns = self.now_ns();
        while let Some(entry) = self.flights.first_entry().filter(|entry| entry.key().0 <= now_ns) {
            let (station, frame) = entry.remove();
            match station {
                Station::Host(host) => self.host_receives(host, &frame),
                Station::Port(machine, port) => self.router_receives(machine, port, &frame),
            }
        }
        while let Some(entry) = self.plans.first_entry().filter(|entry| entry.key().0 <= now_ns) {
            let (flow, number) = entry.remove();
            self.send_planned(flow, number);
        }
        for host in 0..self.hosts.len() {
            if self.hosts[host].next_ns().is_some_and(|at| at <= now_ns) {
                let mut out = Vec::new();
                self.hosts[host].tick(now_ns, &mut out);
                self.transmit(Station::Host(host), out);
                for packet in self.hosts[host].given_up() {
                    let contents = self.bystander.packet(&packet);
                    self.judge.excuses.lose(now_ns, contents);
                }
            }
        }
        let mut next_ns = self.due_ns().unwrap_or(i64::MAX);
        for machine in 0..self.machines.len() {
            let standing = self.machines[machine].work(ROUNDS);
            self.note_unsent(machine);
            self.note_overtaken(machine);
            let mut sent = Vec::new();
            self.machines[machine].sent(|port, frame| sent.push((port, frame)));
            for (port, frame) in sent {
                self.carry(Station::Port(machine, port), frame);
            }
            next_ns = next_ns.min(match standing {
                Standing::Busy => now_ns + LATER_NS,
                Standing::Resting(at) => at.unwrap_or(i64::MAX),
                Standing::Halted => i64::MAX,
            });
        }
        next_ns.min(self.due_ns().unwrap_or(i64::MAX)).max(now_ns)
    }

    /// When links and hosts want to act next.
    fn due_ns(&self) -> Option<i64> {
        let flight = self.flights.keys().next().map(|key| key.0);
        let plan = self.plans.keys().next().map(|key| key.0);
        let hosts = self.hosts.iter().filter_map(Host::next_ns);
        hosts.chain(flight).chain(plan).min()
    }

    fn send_planned(&mut self, number: u32, message: u32) {
        let flow = self.flows[number as usize].clone();
        let Some(from) = self.hosts[flow.from].address_for(flow.to) else { return };
        let id = Message { flow: number, number: message, answer: false };
        let data = id.to_bytes(flow.size);
        let step = if flow.spread { message as u16 } else { 0 };
        let ports = [flow.ports[0].wrapping_add(step), flow.ports[1]];
        let segment = match flow.kind {
            Kind::Udp => Segment::Udp { ports, data },
            Kind::Ping => Segment::Echo { reply: false, id: ports[0], sequence: message as u16, data },
            Kind::Tcp => {
                let flags = match message {
                    0 => tcp_flags::SYN,
                    _ if message + 1 == flow.count => tcp_flags::FIN | tcp_flags::ACK,
                    _ => tcp_flags::ACK,
                };
                let sequence = (message.wrapping_mul(flow.size as u32)).wrapping_add(u32::from(message > 0));
                let acknowledges = u32::from(message > 0);
                Segment::Tcp { ports, sequence, acknowledges, flags, data }
            }
        };
        let manner = Manner { ttl: flow.ttl, ecn: flow.ecn, whole: flow.whole };
        self.send(flow.from, id, [from.ip, flow.to], manner, &segment);
    }

    fn send(
        &mut self,
        host: usize,
        message: Message,
        [src, dst]: [IpAddr; 2],
        manner: Manner,
        segment: &Segment,
    ) {
        let Manner { ttl, ecn, whole } = manner;
        let (payload, whole) = (segment.to_bytes(src, dst), whole || src.is_ipv6());
        let packet = Datagram {
            src,
            dst,
            ttl,
            ecn,
            protocol: segment.protocol(src),
            id: 0,
            fragment: None,
            whole,
            payload,
        };
        let (at_ns, look) = (self.now_ns(), Look::of(&packet, segment));
        let sent = Sent { message, at_ns, host, look };
        self.judge.history.current_mut().sends(&sent);
        self.ledger.send(sent);
        let mut out = Vec::new();
        // What the sender itself cuts may be cut again.
        self.hosts[host].send(at_ns, packet, &mut out);
        self.transmit(Station::Host(host), out);
    }

    fn transmit(&mut self, from: Station, frames: Vec<Frame>) {
        for frame in frames {
            let bytes = frame.to_bytes();
            if let Station::Host(host) = from
                && frame.ether_type == ether_type::IPV6
                && self.bystander.look(&bytes) == Contents::Neighbours
            {
                self.said_ns.insert(host, self.now_ns());
            }
            self.carry(from, bytes);
        }
    }

    /// A frame goes onto the link at which a station is.
    fn carry(&mut self, from: Station, frame: Vec<u8>) {
        let now_ns = self.now_ns();
        let Some(at) = self.links.iter().position(|link| link.stations.contains(&from)) else { return };
        let link = &mut self.links[at];
        if link.is_read {
            self.ledger.note(&frame);
        }
        self.trace.add(now_ns, at, &frame);
        self.count += 1;
        self.bystander.look(&frame);
        let is_modelled = link.is_modelled;
        let Some(arrives_ns) = link.carry(now_ns, &mut self.rng) else {
            if !is_modelled {
                self.lose(&frame);
            }
            return;
        };
        for to in link.targets(from, &frame) {
            self.count += 1;
            self.flights.insert((arrives_ns, self.count), (to, frame.clone()));
        }
    }

    fn host_receives(&mut self, host: usize, bytes: &[u8]) {
        let now_ns = self.now_ns();
        let mut out = Vec::new();
        let mac = bytes.first_chunk().copied().unwrap_or_default();
        if let Some(until_ns) = self.hosts[host].had_until_ns(mac) {
            let contents = self.bystander.look(bytes);
            if self.outrun.contains(&mac) || self.judge.excuses.may_be_meant_for(until_ns, now_ns, &contents)
            {
                self.judge.excuses.lose(now_ns, contents);
            }
        }
        let received = match Frame::parse(bytes) {
            Ok(frame) => self.hosts[host].receive(now_ns, &frame, &mut out),
            Err(error) => Received::Damaged(error),
        };
        self.transmit(Station::Host(host), out);
        match received {
            Received::Nothing => {}
            Received::Again(_) if self.may_come_again(bytes) => {}
            Received::Damaged(what) | Received::Again(what) => {
                self.judge.find(now_ns, format!("at '{}': {what}", self.hosts[host].name))
            }
            Received::Packet(packet, segment) => self.host_reads(host, &packet, &segment),
        }
    }

    /// Whether the part of a message that is in a frame may arrive more than once.
    fn may_come_again(&mut self, frame: &[u8]) -> bool {
        match self.bystander.look(frame) {
            Contents::Message(message) => self.judge.may_come_again(&self.ledger, message),
            _ => false,
        }
    }

    fn host_reads(&mut self, host: usize, packet: &Datagram, segment: &Segment) {
        let now_ns = self.now_ns();
        if let Segment::Icmp { kind, code, rest } = segment {
            let quoted = rest.get(4..).and_then(|bytes| Datagram::parse_quoted(bytes).ok());
            let is_later = |packet: &Datagram| packet.fragment.is_some_and(|part| part.offset > 0);
            if packet.src.is_ipv4() && quoted.as_ref().is_some_and(is_later) {
                // RFC 1122, section 3.2.2. IPv6 has no such rule.
                self.judge.find(now_ns, format!("{} complains of a later fragment", packet.src));
            }
            let about = quoted.and_then(|packet| {
                let segment = Segment::parse_quoted(&packet).ok()?;
                let message = Message::of(&segment)?;
                Some((message, (packet.src, packet.dst, segment.ports())))
            });
            if let Some((message, quoted)) = about {
                let (kind, from) = ((*kind, *code), packet.src);
                let complaint = Complaint { at_ns: now_ns, host, kind, from, quoted };
                self.ledger.complain(message, complaint.clone());
                self.judge.complaint(&self.ledger, message, &complaint);
            }
            return;
        }
        let message = match Message::parse(segment.data()) {
            Ok(Some(message)) => message,
            Ok(None) => return,
            Err(what) => return self.judge.find(now_ns, what),
        };
        let replies = matches!(segment, Segment::Echo { reply: true, .. });
        let message = if replies { message.answered() } else { message };
        let arrived = Arrived { at_ns: now_ns, host, look: Look::of(packet, segment) };
        let is_spread = self.flows.get(message.flow as usize).is_some_and(|flow| flow.spread);
        let overtaken = self
            .ledger
            .arrive(message, arrived.clone())
            .filter(|_| !is_spread && !self.judge.history.current().lets_overtake(&mut self.machines));
        self.judge.arrival(&self.ledger, message, &arrived, overtaken);
        if !message.answer {
            self.answer(host, message, packet, segment);
        }
    }

    /// A host answers what it is asked.
    fn answer(&mut self, host: usize, message: Message, packet: &Datagram, segment: &Segment) {
        let answer = message.answered();
        let data = answer.to_bytes(segment.data().len());
        let reply = match segment {
            Segment::Udp { ports: [from, to @ ECHO_PORT], .. } => Segment::Udp { ports: [*to, *from], data },
            Segment::Echo { reply: false, id, sequence, data } => {
                Segment::Echo { reply: true, id: *id, sequence: *sequence, data: data.clone() }
            }
            Segment::Tcp { ports: [from, to], sequence, acknowledges, flags, .. } => {
                let taken =
                    segment.data().len() as u32 + u32::from(flags & (tcp_flags::SYN | tcp_flags::FIN) != 0);
                Segment::Tcp {
                    ports: [*to, *from],
                    sequence: *acknowledges,
                    acknowledges: sequence.wrapping_add(taken),
                    flags: tcp_flags::ACK | flags & (tcp_flags::SYN | tcp_flags::FIN),
                    data,
                }
            }
            _ => return,
        };
        debug_assert!(packet.protocol != protocol::FRAGMENT);
        let manner = Manner { ttl: 64, ecn: 0, whole: false };
        self.send(host, answer, [packet.dst, packet.src], manner, &reply);
    }
}
