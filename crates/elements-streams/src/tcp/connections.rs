//! The TCP connections whose streams elements may change: what TCPIn and TCPOut of both directions share.
//!
//! All four of them are on one worker, so no worker ever waits for the lock; it is taken once for a batch.

use super::between::{Between, Parts};
use super::held::copy;
use super::messages::{Marks, Requests};
use super::segment::{NO_TCP, Segment};
use super::stream::{Budget, Repeat, SegmentStatus, Stream};
use super::waiting::{Refusal, Waiting, before};
use elements_shared::flow_id::FlowId;
use elements_shared::flow_key::key;
use packet::{Packet, Pool};
use router::{ConfigError, Info};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wire::ipv4;
use wire::tcp::{self, flag, option};

/// Why packets are dropped.
const NO_SYN: &str = "connection without SYN";
const SHORT: &str = "shorter than its header says";
const STRAY: &str = "SYN within a connection";
const UNDERWAY: &str = "retransmission of what has not left";
const FULL: &str = "too much not acknowledged";
const CROWDED: &str = "no room for connections";
const NO_WAIT: &str = "no room to wait";
pub(super) const ENDED: &str = "connection ended";

/// How long a connection is remembered that is over, and how long one of which nothing comes keeps the memory for its data.
const OVER_NS: i64 = 30_000_000_000;
const IDLE_NS: i64 = 10_000_000_000;
/// How often a full table is looked through for connections that are over.
const SEARCH_NS: i64 = 100_000_000;

/// A connection, by the direction of the elements that it passes.
struct Connection {
    streams: [Stream; 2],
    /// What elements between keep of each.
    parts: [Parts; 2],
    /// Where the messages of HTTP are in each, and what was asked by them.
    marks: [Marks; 2],
    requests: Requests,
    /// A RST was there, or had to be sent: no more data passes.
    is_over: bool,
    seen_ns: i64,
    /// The direction of its first SYN, and whether the host that sent it has acknowledged the other one's: it is where it says it is.
    opener: usize,
    is_confirmed: bool,
    /// Its number among all.
    number: u64,
}

impl Connection {
    fn new(streams: [Stream; 2], opener: usize, number: u64) -> Connection {
        let (parts, marks, requests) = Default::default();
        let (is_over, is_confirmed) = (false, false);
        Connection { streams, parts, marks, requests, is_over, seen_ns: 0, opener, is_confirmed, number }
    }

    fn has_ended(&self) -> bool {
        self.is_over || self.streams.iter().all(Stream::has_ended)
    }
}

/// What becomes of a packet that comes in.
pub(super) enum Entry {
    Pass,
    /// It was there before.
    Again,
    /// It has to wait, as it starts too early.
    Early,
    Drop(&'static str),
}

/// What becomes of a packet that leaves.
pub(super) enum Exit {
    /// It passes, perhaps as several segments of at most so much data.
    Pass {
        most: usize,
    },
    /// The same; and its sender is to hear this, as the receiver will not learn of it.
    Answer(Answer),
    Drop(&'static str),
}

/// A segment to the sender of another one.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    number: u32,
    acknowledgement: u32,
    flags: u8,
    window: u16,
}

/// How much is kept, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) connections: usize,
    /// Bytes of a direction that are not acknowledged, and of all together.
    pub(super) buffer: usize,
    pub(super) memory: usize,
    /// Packets that wait; elements between can hold as many.
    pub(super) waiting: usize,
    /// Seconds after which a connection of which nothing comes is forgotten, 0 for never; and one that is half open.
    pub(super) timeout_s: u32,
    pub(super) syn_timeout_s: u32,
}

/// All connections of a pair of directions.
pub(super) struct Connections {
    table: HashMap<FlowId, Box<Connection>>,
    /// Those that were half open when this was last known, oldest first, with their numbers.
    half_open: VecDeque<(FlowId, u64)>,
    waiting: Waiting,
    /// Packets that elements between hold, and how many they can.
    held: usize,
    /// Packets that waited or were held when their connection ended.
    lost: u64,
    limits: Limits,
    budget: Arc<Budget>,
    /// Connections so far, and those that were half open when others took their places.
    opened: u64,
    displaced: u64,
    /// When the full table was last looked through.
    searched_ns: i64,
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Connections {
        Connections {
            table: HashMap::new(),
            half_open: VecDeque::new(),
            waiting: Waiting::new(limits.waiting),
            held: 0,
            lost: 0,
            limits,
            budget: Budget::new(limits.memory),
            opened: 0,
            displaced: 0,
            searched_ns: i64::MIN,
        }
    }

    /// Connections that are half open.
    pub(super) fn half_open(&self) -> usize {
        self.table.values().filter(|connection| !connection.is_confirmed).count()
    }

    /// Connections that were half open when others took their places.
    pub(super) fn displaced(&self) -> u64 {
        self.displaced
    }

    /// Bytes of memory for data that is not acknowledged.
    pub(super) fn memory(&self) -> usize {
        self.budget.used()
    }

    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Packets that wait, and those that elements between hold.
    pub(super) fn held(&self) -> usize {
        let parts = self.table.values().flat_map(|connection| &connection.parts);
        self.waiting.len() + parts.map(Parts::held).sum::<usize>()
    }

    /// Takes a packet of a direction in: maps what it acknowledges.
    pub(super) fn enter(&mut self, direction: usize, packet: &mut Packet, now_ns: i64) -> Entry {
        let (Some(segment), Some(id)) = (Segment::of(packet), connection(packet, direction)) else {
            return Entry::Drop(NO_TCP);
        };
        if packet.network().is_none_or(|bytes| bytes.len() < segment.headers + segment.data) {
            return Entry::Drop(SHORT);
        }
        let is_syn = segment.has(flag::SYN);
        // Frames may be padded; what else is behind the data is none.
        cut(packet, segment.headers + if is_syn { 0 } else { segment.data });
        if is_syn
            && !segment.has(flag::ACK | flag::RST)
            && let Err(reason) = self.open(id, direction, segment.start, now_ns)
        {
            return Entry::Drop(reason);
        }
        let known = self.table.get_mut(&id);
        let Some(connection) = known.filter(|c| is_syn || c.streams[direction].has_begun) else {
            return if segment.has(flag::RST) { Entry::Pass } else { Entry::Drop(NO_SYN) };
        };
        connection.seen_ns = now_ns;
        if segment.has(flag::ACK) {
            let other = &mut connection.streams[1 - direction];
            connection.is_confirmed |=
                direction == connection.opener && !is_syn && other.is_confirmed_by(segment.acknowledgement);
            if other.has_begun {
                let mapped = other.acknowledge(segment.acknowledgement);
                edit(packet, |tcp| tcp.set_acknowledgement(mapped));
            }
        }
        let stream = &mut connection.streams[direction];
        stream.window = segment.window;
        if segment.has(flag::RST) {
            connection.is_over = true;
            return Entry::Pass;
        }
        if is_syn {
            without_sack(packet, &segment);
            if !stream.has_begun {
                stream.begin(segment.start);
            } else if !stream.began_with(segment.start) {
                return Entry::Drop(STRAY);
            }
            return if stream.note_syn() { Entry::Pass } else { Entry::Again };
        }
        if connection.is_over {
            cut(packet, segment.headers);
            return Entry::Pass;
        }
        match stream.enter(segment.start, segment.data, segment.has(flag::FIN)) {
            SegmentStatus::Next => Entry::Pass,
            SegmentStatus::Again => Entry::Again,
            SegmentStatus::Early => Entry::Early,
            SegmentStatus::Underway => Entry::Drop(UNDERWAY),
            SegmentStatus::NoRoom => Entry::Drop(FULL),
        }
    }

    /// Makes a connection for a SYN, unless there is one that it belongs to.
    fn open(&mut self, id: FlowId, direction: usize, syn: u32, now_ns: i64) -> Result<(), &'static str> {
        if let Some(known) = self.table.get(&id) {
            let (stream, other) = (&known.streams[direction], &known.streams[1 - direction]);
            let is_open = stream.has_begun && other.has_begun && !known.has_ended();
            if stream.began_with(syn) && !known.has_ended() || !stream.has_begun && !known.has_ended() {
                return Ok(());
            }
            if is_open {
                return Err(STRAY);
            }
        } else if self.table.len() >= self.limits.connections {
            self.make_room(now_ns)?;
        }
        let stream = || Stream::new(self.limits.buffer, self.budget.clone());
        self.opened += 1;
        let mut new = Connection::new([stream(), stream()], direction, self.opened);
        new.streams[direction].begin(syn);
        if let Some(mut old) = self.table.insert(id, Box::new(new)) {
            self.lost += forget(&mut self.waiting, &mut self.held, &mut old);
        }
        self.note_half_open(id);
        Ok(())
    }

    /// Notes that the newest connection is half open. The list is cleared of others before it grows beyond twice the table.
    fn note_half_open(&mut self, id: FlowId) {
        self.half_open.push_back((id, self.opened));
        if self.half_open.len() > 2 * self.limits.connections {
            let is_half_open = |(id, number): &(FlowId, u64)| {
                self.table.get(id).is_some_and(|known| known.number == *number && !known.is_confirmed)
            };
            self.half_open.retain(is_half_open);
        }
    }

    /// Makes room for a connection in a full table: in place of the oldest one that is half open, or of those that are over. What is open
    /// stays.
    fn make_room(&mut self, now_ns: i64) -> Result<(), &'static str> {
        while let Some((id, number)) = self.half_open.pop_front() {
            let known = self.table.get(&id);
            if known.is_some_and(|known| known.number == number && !known.is_confirmed) {
                self.displaced += 1;
                if let Some(mut old) = self.table.remove(&id) {
                    self.lost += forget(&mut self.waiting, &mut self.held, &mut old);
                }
                return Ok(());
            }
        }
        if now_ns.saturating_sub(self.searched_ns) >= SEARCH_NS {
            self.searched_ns = now_ns;
            self.retain(|connection| !connection.has_ended());
        }
        if self.table.len() < self.limits.connections { Ok(()) } else { Err(CROWDED) }
    }

    /// Has a packet wait that came too early.
    pub(super) fn wait(&mut self, direction: usize, packet: Packet) -> Result<(), (Packet, &'static str)> {
        let (Some(segment), Some(id)) = (Segment::of(&packet), connection(&packet, direction)) else {
            return Err((packet, NO_TCP));
        };
        let Some(connection) = self.table.get_mut(&id) else { return Err((packet, NO_SYN)) };
        let list = &mut connection.streams[direction].waiting;
        self.waiting.insert(list, segment.span(), packet).map_err(|(packet, refusal)| match refusal {
            Refusal::Known => (packet, UNDERWAY),
            Refusal::Full => (packet, NO_WAIT),
        })
    }

    /// A packet that has waited for this one to come in.
    pub(super) fn next(&mut self, direction: usize, packet: &Packet) -> Option<Packet> {
        let stream = &mut self.table.get_mut(&connection(packet, direction)?)?.streams[direction];
        let start = self.waiting.start(&stream.waiting)?;
        if before(stream.expected(), start) {
            return None;
        }
        self.waiting.take(&mut stream.waiting).map(|(_, packet)| packet)
    }

    /// Gives a packet that was there before the form in which it left.
    pub(super) fn repeat(&mut self, direction: usize, packet: &mut Packet) -> Option<()> {
        let segment = Segment::of(packet)?;
        let stream = &self.table.get(&connection(packet, direction)?)?.streams[direction];
        fill(packet, &segment, stream)
    }

    /// Lets a packet of a direction leave: with our number, and right checksums.
    pub(super) fn leave(&mut self, direction: usize, packet: &mut Packet) -> Exit {
        let (Some(segment), Some(id)) = (Segment::of(packet), connection(packet, direction)) else {
            return Exit::Drop(NO_TCP);
        };
        let whole = Exit::Pass { most: usize::MAX };
        let Some(Connection { streams, is_over, .. }) = self.table.get_mut(&id).map(|c| &mut **c) else {
            return if segment.has(flag::RST) { whole } else { Exit::Drop(NO_SYN) };
        };
        let [first, second] = streams;
        let (stream, other) = if direction == 0 { (first, second) } else { (second, first) };
        let closes = segment.has(flag::RST) && !*is_over;
        *is_over |= segment.has(flag::RST);
        if before(segment.start, stream.left()) && !segment.has(flag::RST) {
            return if fill(packet, &segment, stream).is_some() { whole } else { Exit::Drop(NO_TCP) };
        }
        if *is_over {
            cut(packet, segment.headers);
            // What an element between has made stands for all that has not left.
            let number = if closes { stream.next() } else { stream.number(segment.start) };
            finish(packet, &segment, number);
            let answer = Answer::new(other, segment.start, flag::RST | flag::ACK);
            return if closes { Exit::Answer(answer) } else { whole };
        }
        let data = packet.network().and_then(|bytes| bytes.get(segment.headers..)).unwrap_or_default();
        let (is_empty, fin) = (data.is_empty(), segment.has(flag::FIN));
        let Some(number) = stream.leave(segment.start, segment.data, data, fin) else {
            return self.close(direction, id, packet, &segment);
        };
        if segment.data == 0 || !is_empty || fin {
            finish(packet, &segment, number);
            return Exit::Pass { most: stream.largest() };
        }
        // Nothing is left of it. A number that the receiver does not expect makes it acknowledge what it has.
        finish(packet, &segment, number.wrapping_sub(1));
        if !stream.is_acknowledged() {
            // What is before it may be lost yet, and must come again then.
            return whole;
        }
        let acknowledgement = stream.left();
        Exit::Answer(Answer::new(other, acknowledgement, flag::ACK))
    }

    /// Ends a connection with a RST in place of a packet.
    fn close(&mut self, direction: usize, id: FlowId, packet: &mut Packet, segment: &Segment) -> Exit {
        let Some(Connection { streams, is_over, .. }) = self.table.get_mut(&id).map(|c| &mut **c) else {
            return Exit::Drop(NO_SYN);
        };
        *is_over = true;
        cut(packet, segment.headers);
        edit(packet, |tcp| tcp.set_flags(segment.flags & !flag::FIN | flag::RST));
        finish(packet, segment, streams[direction].next());
        let other = &streams[1 - direction];
        Exit::Answer(Answer::new(other, segment.start, flag::RST | flag::ACK))
    }

    /// Notes that an answer is sent.
    pub(super) fn answered(&mut self, direction: usize, packet: &Packet) {
        let id = connection(packet, direction);
        if let Some(connection) = id.and_then(|id| self.table.get_mut(&id)) {
            connection.streams[direction].forge();
        }
    }

    /// Forgets connections that are over, or of which nothing came for long.
    pub(super) fn sweep(&mut self, now_ns: i64) {
        let seconds = |s: u32| if s == 0 { i64::MAX } else { i64::from(s) * 1_000_000_000 };
        let (open_ns, half_ns) = (seconds(self.limits.timeout_s), seconds(self.limits.syn_timeout_s));
        self.retain(|connection| {
            let most = match connection.is_confirmed {
                _ if connection.has_ended() => OVER_NS,
                true => open_ns,
                false => half_ns.min(open_ns),
            };
            let idle_ns = now_ns - connection.seen_ns;
            if idle_ns >= IDLE_NS {
                connection.streams.iter_mut().for_each(Stream::rest);
            }
            idle_ns < most
        });
    }

    /// Forgets all connections but these.
    fn retain(&mut self, mut stays: impl FnMut(&mut Connection) -> bool) {
        let (waiting, held, lost) = (&mut self.waiting, &mut self.held, &mut self.lost);
        self.table.retain(|_, connection| {
            let stays = stays(connection);
            if !stays {
                *lost += forget(waiting, held, connection);
            }
            stays
        });
    }

    /// What an element between sees of a direction of a connection.
    pub(super) fn between(&mut self, id: &FlowId, direction: usize) -> Option<Between<'_>> {
        let Connection { streams, parts, marks, requests, is_over, .. } = &mut **self.table.get_mut(id)?;
        Some(Between {
            left: streams[direction].left(),
            parts: &mut parts[direction],
            marks: &mut marks[direction],
            requests,
            is_over: *is_over,
            held: &mut self.held,
            most: self.limits.waiting,
        })
    }

    /// How many packets that waited have been dropped since it was last asked, as their connections ended.
    pub(super) fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }
}

impl Answer {
    fn new(other: &Stream, acknowledgement: u32, flags: u8) -> Answer {
        Answer { number: other.next(), acknowledgement, flags, window: other.window }
    }

    /// The packet to the sender of this one.
    pub(super) fn packet(self, pool: &mut Pool, of: &Packet) -> Option<Packet> {
        let segment = Segment::of(of)?;
        let mut packet = pool.copy(of)?;
        cut(&mut packet, segment.ip_header + tcp::HEADER_LEN);
        let bytes = packet.network_mut()?;
        let mut ip = ipv4::Header::new_checked_mut(&mut *bytes).ok()?;
        let (src, dst) = (ip.src(), ip.dst());
        ip.set_src(dst);
        ip.set_dst(src);
        edit(&mut packet, |tcp| {
            let (sport, dport) = (tcp.src_port(), tcp.dst_port());
            tcp.set_src_port(dport);
            tcp.set_dst_port(sport);
            tcp.set_acknowledgement(self.acknowledgement);
            tcp.set_header_len(tcp::HEADER_LEN);
            tcp.set_flags(self.flags);
            tcp.set_window(self.window);
            tcp.set_urgent_pointer(0);
        });
        finish(&mut packet, &segment, self.number);
        Some(packet)
    }
}

/// The connection of a packet, as packets of direction 0 name it.
pub(super) fn connection(packet: &Packet, direction: usize) -> Option<FlowId> {
    let id = key(packet)?.id();
    Some(if direction == 0 { id } else { id.reversed() })
}

/// Drops what waits or is held of a connection: how many packets.
fn forget(waiting: &mut Waiting, held: &mut usize, connection: &mut Connection) -> u64 {
    let mut all = waiting.len();
    for parts in &mut connection.parts {
        let parts = std::mem::take(parts);
        *held = held.saturating_sub(parts.held());
        all += parts.held();
    }
    for stream in &mut connection.streams {
        while waiting.take(&mut stream.waiting).is_some() {}
    }
    (all - waiting.len()) as u64
}

/// Leaves so many bytes from the IP header on.
pub(super) fn cut(packet: &mut Packet, len: usize) {
    let more = packet.network().map_or(0, |bytes| bytes.len().saturating_sub(len));
    // There are as many.
    let _ = packet.take(more);
}

/// Changes the TCP header.
pub(super) fn edit(packet: &mut Packet, change: impl FnOnce(&mut tcp::Header<&mut [u8; tcp::HEADER_LEN]>)) {
    if let Some(Ok(mut tcp)) = packet.transport_mut().map(tcp::Header::new_checked_mut) {
        change(&mut tcp);
    }
}

/// Takes the data away of a packet that was there, so that elements do not see it again; its length is still in the IP header.
pub(super) fn hide(packet: &mut Packet) {
    if let Some(segment) = Segment::of(packet) {
        cut(packet, segment.headers);
    }
}

/// Replaces the option that allows selective acknowledgements, whose numbers would not be mapped.
fn without_sack(packet: &mut Packet, segment: &Segment) {
    let Some(header) = packet.transport_mut().and_then(|b| b.get_mut(..segment.headers - segment.ip_header))
    else {
        return;
    };
    let mut at = tcp::HEADER_LEN;
    while let Some(&[kind, len]) = header.get(at..at + 2) {
        match (kind, usize::from(len)) {
            (option::END, _) => return,
            (option::NOP, _) => at += 1,
            (_, ..2) => return,
            (option::SACK_PERMITTED, 2) => {
                header[at..at + 2].fill(option::NOP);
                at += 2;
            }
            (_, len) => at += len,
        }
    }
}

/// Puts what left for a segment in its place.
fn fill(packet: &mut Packet, segment: &Segment, stream: &Stream) -> Option<()> {
    let data = if segment.has(flag::SYN) { 0 } else { segment.data };
    let Repeat { number, at, len, fin } = stream.again(segment.start, data, segment.has(flag::FIN));
    let present = packet.network()?.len().saturating_sub(segment.headers);
    if present > len {
        cut(packet, segment.headers + len);
    } else if !packet.put(len - present) {
        return None;
    }
    stream.read(at, packet.network_mut()?.get_mut(segment.headers..)?);
    let flags = segment.flags & !flag::FIN | if fin { flag::FIN } else { 0 };
    edit(packet, |tcp| tcp.set_flags(flags));
    finish(packet, segment, number);
    Some(())
}

/// Gives a packet its number, its length and its checksums.
fn finish(packet: &mut Packet, segment: &Segment, number: u32) {
    edit(packet, |tcp| tcp.set_sequence(number));
    let Some(bytes) = packet.network_mut() else { return };
    let len = bytes.len() as u16;
    let Ok(mut ip) = ipv4::Header::new_checked_mut(&mut *bytes) else { return };
    let (src, dst) = (ip.src(), ip.dst());
    if ip.total_len() != len {
        ip.set_total_len(len);
        // The header was read before.
        let _ = ipv4::fill_checksum(bytes);
    }
    if let Some(bytes) = bytes.get_mut(segment.ip_header..) {
        let _ = tcp::fill_checksum_v4(src, dst, bytes);
    }
}

/// Leaves a packet its first bytes of data; the packet of the rest.
pub(super) fn split(pool: &mut Pool, packet: &mut Packet, most: usize) -> Option<Packet> {
    let segment = Segment::of(packet).filter(|segment| segment.data > most)?;
    let mut rest = copy(pool, packet)?;
    let bytes = rest.network_mut()?;
    bytes.copy_within(segment.headers + most.., segment.headers);
    cut(&mut rest, segment.headers + segment.data - most);
    finish(&mut rest, &segment, segment.start.wrapping_add(most as u32));
    cut(packet, segment.headers + most);
    edit(packet, |tcp| tcp.set_flags(segment.flags & !(flag::FIN | flag::PSH)));
    finish(packet, &segment, segment.start);
    Some(rest)
}

/// What the instances of a TCPIn share with the TCPOut behind it, and with those of the other direction.
pub(super) struct Inlet {
    /// The TCPIn of the other direction, and the TCPOut behind this one if it is named.
    pub(super) back: String,
    pub(super) out: Option<String>,
    pub(super) direction: Option<usize>,
    pub(super) connections: Mutex<Connections>,
}

/// Where a TCPIn or TCPOut belongs.
pub(super) struct Path {
    inlet: Arc<Inlet>,
    pub(super) direction: usize,
}

impl Path {
    /// Of a TCPIn.
    pub(super) fn of_in(info: &Info, element: usize) -> Result<Path, ConfigError> {
        let (inlet, out) = (part(info, element)?, out_of(info, element)?);
        let back = back_of(info, element, &inlet)?;
        let Ok(other) = part(info, back) else {
            let node = &info.nodes[back];
            let text = format!(
                "Element \"{}\" is not a TCPIn element but a {} element.",
                node.name, node.class.name
            );
            return Err(text.into());
        };
        if back == element || back_of(info, back, &other)? != element {
            return Err(format!(
                "'{}' and '{}' are not RETURNNAME of each other",
                info.nodes[element].name, info.nodes[back].name
            )
            .into());
        }
        let own =
            inlet.direction.or(other.direction.map(|other| 1 - other)).unwrap_or(usize::from(back < element));
        if other.direction.is_some_and(|other| other == own) {
            return Err(format!(
                "Bad flow direction between {}={own} and {}={own}",
                info.nodes[element].name, info.nodes[back].name
            )
            .into());
        }
        let workers = &info.nodes[element].workers;
        if let Some(stranger) =
            [out, back, out_of(info, back)?].into_iter().find(|&at| info.nodes[at].workers != *workers)
        {
            let (name, other) = (&info.nodes[element].name, &info.nodes[stranger].name);
            let advice = "both directions of a connection have to run on one; place their sources with StaticThreadSched";
            return Err(format!("'{name}' and '{other}' run on different workers: {advice}").into());
        }
        let inlet = if back < element { other } else { inlet };
        Ok(Path { inlet, direction: own })
    }

    /// Of a TCPOut.
    pub(super) fn of_out(info: &Info, element: usize) -> Result<Path, ConfigError> {
        for at in 0..info.nodes.len() {
            if info.nodes[at].class.name == "TCPIn" && out_of(info, at)? == element {
                return Path::of_in(info, at);
            }
        }
        Err("needs a TCPIn".into())
    }

    /// The connections. No other worker has them, so there is nothing to wait for.
    pub(super) fn lock(&self) -> MutexGuard<'_, Connections> {
        self.inlet.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn part(info: &Info, element: usize) -> Result<Arc<Inlet>, ConfigError> {
    info.shared(element).ok_or_else(|| "is not a TCPIn element".into())
}

fn find(info: &Info, element: usize, name: &str) -> Result<usize, ConfigError> {
    info.find(name, Some(element)).ok_or_else(|| format!("no element named '{name}'").into())
}

/// The TCPIn of the other direction: the only one that can be if none is named.
fn back_of(info: &Info, element: usize, inlet: &Inlet) -> Result<usize, ConfigError> {
    if !inlet.back.is_empty() {
        return find(info, element, &inlet.back);
    }
    let fits = |&at: &usize| {
        let other = part(info, at).ok().filter(|_| at != element && info.nodes[at].class.name == "TCPIn");
        other.is_some_and(|other| {
            other.back.is_empty() || find(info, at, &other.back).is_ok_and(|back| back == element)
        })
    };
    let all: Vec<usize> = (0..info.nodes.len()).filter(fits).collect();
    match all[..] {
        [back] => Ok(back),
        _ => Err("RETURNNAME: required argument missing".into()),
    }
}

/// The TCPOut behind a TCPIn.
fn out_of(info: &Info, element: usize) -> Result<usize, ConfigError> {
    let is_out = |at: usize| info.nodes[at].class.name == "TCPOut";
    if let Some(name) = &part(info, element)?.out {
        let out = find(info, element, name)?;
        let class = info.nodes[out].class.name;
        let text = || format!("Element \"{name}\" is not a TCPOut element but a {class} element.");
        return if is_out(out) { Ok(out) } else { Err(text().into()) };
    }
    let (mut known, mut ahead, mut found) = (BTreeSet::from([element]), vec![element], Vec::new());
    while let Some(at) = ahead.pop() {
        for &(next, _) in info.nodes[at].outputs.iter().flat_map(|output| &output.peers) {
            match known.insert(next) {
                true if is_out(next) => found.push(next),
                true => ahead.push(next),
                false => {}
            }
        }
    }
    match found[..] {
        [out] => Ok(out),
        _ => Err("Found no or more than 1 TCPOut element. Specify which one to use with OUTNAME".into()),
    }
}
