//! What elements have in common that stand between a TCPIn and its TCPOut and see streams piece by piece.

use super::between::{CLOSED, Part, Role, make_rst, path};
use super::connections::{Connections, Path, connection, cut, edit};
use super::held::{Held, MOST, copy};
use super::messages::{Marks, Requests};
use super::segment::Segment;
use super::tcp_in::add;
use elements_shared::flow_id::FlowId;
use packet::{Batch, Packet, Pool};
use router::{ConfigError, Cx, Element, Handlers};
use std::any::Any;
use std::collections::VecDeque;
use wire::ipv4;
use wire::tcp::flag;

/// What an element knows of a stream.
pub(super) struct Watch<S> {
    /// The number up to which it was there.
    seen: u32,
    pub(super) held: Held,
    /// When packets came last.
    since_ns: i64,
    /// Whether there is a time at which to look at it.
    is_timed: bool,
    is_over: bool,
    pub(super) state: S,
}

/// What comes next in a stream.
pub(super) struct Next {
    pub(super) packet: Packet,
    pub(super) segment: Segment,
    /// Bytes of data, at the packet's end.
    pub(super) data: usize,
    /// Whether nothing comes behind it.
    pub(super) is_end: bool,
}

impl Next {
    pub(super) fn text(&self) -> &[u8] {
        &self.packet.data()[self.packet.len() - self.data..]
    }

    /// Keeps the first bytes of its data, if there are more: the rest, with numbers of its own in the sender's counting.
    pub(super) fn split(&mut self, pool: &mut Pool, at: usize) -> Result<Option<Next>, Whole> {
        if at >= self.data {
            return Ok(None);
        }
        let Segment { data: width, headers, start, flags, .. } = self.segment;
        // Where data was inserted or removed before, any number within is as good as another.
        let first = if width == self.data { at } else { at.min(width.saturating_sub(1)) };
        let mut rest = copy(pool, &mut self.packet).filter(|_| first > 0).ok_or(Whole)?;
        rest.network_mut().ok_or(Whole)?.copy_within(headers + at.., headers);
        cut(&mut rest, headers + self.data - at);
        cut(&mut self.packet, headers + at);
        edit(&mut rest, |tcp| tcp.set_sequence(start.wrapping_add(first as u32)));
        edit(&mut self.packet, |tcp| tcp.set_flags(flags & !(flag::FIN | flag::PSH)));
        let is_end = std::mem::take(&mut self.is_end);
        set_width(&mut rest, headers + width - first);
        set_width(&mut self.packet, headers + first);
        let data = self.data - at;
        self.data = at;
        self.segment = Segment::of(&self.packet).ok_or(Whole)?;
        let segment = Segment::of(&rest).ok_or(Whole)?;
        Ok(Some(Next { packet: rest, segment, data, is_end }))
    }
}

/// A packet cannot be split.
#[derive(Debug)]
pub(super) struct Whole;

/// Says how long a packet is to the sender, headers included.
fn set_width(packet: &mut Packet, len: usize) {
    let Some(bytes) = packet.network_mut() else { return };
    if let Ok(mut ip) = ipv4::Header::new_checked_mut(&mut *bytes) {
        ip.set_total_len(len as u16);
        // The header was read before.
        let _ = ipv4::fill_checksum(bytes);
    }
}

/// What is known of the messages in a stream.
pub(super) struct Http<'c> {
    pub(super) marks: &'c mut Marks,
    pub(super) requests: &'c mut Requests,
    /// The number up to which the stream has left.
    pub(super) left: u32,
    /// Packets of the stream that can be held.
    pub(super) room: usize,
}

/// What comes of a packet before it is settled what becomes of itself.
#[derive(Default)]
pub(super) struct Ready {
    /// Packets that leave.
    pub(super) on: Vec<Packet>,
    /// Packets that leave by output 1.
    pub(super) aside: Vec<Packet>,
    /// Packets that are dropped, and why.
    pub(super) dropped: Vec<(Packet, &'static str)>,
    /// What there is to say, and how often.
    pub(super) said: Option<(&'static str, u64)>,
}

/// What becomes of a packet.
pub(super) enum Outcome {
    Leaves(Packet),
    /// It waits, or has left.
    Held,
    /// This one is to say that the connection is closed.
    Closes(Packet),
}

impl Outcome {
    /// The same, unless more packets are held now than there is room for.
    fn within<S>(self, room: usize, watch: &mut Watch<S>) -> Outcome {
        if watch.held.len() <= room || matches!(self, Outcome::Closes(_)) {
            return self;
        }
        watch.held.take_first().map_or(self, Outcome::Closes)
    }
}

/// What is done to streams.
pub(super) trait Editor: Send + 'static {
    /// What is kept of each, beside the packets that are held.
    type State: Default + Send + 'static;

    /// How long packets are held when nothing comes; 0 for ever.
    fn timeout_ns(&self) -> i64 {
        0
    }

    /// Finds what it needs to know of the configuration.
    fn initialize(&mut self, _cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Takes what comes next.
    fn next(
        &mut self,
        pool: &mut Pool,
        watch: &mut Watch<Self::State>,
        http: Http<'_>,
        next: Next,
        ready: &mut Ready,
    ) -> Outcome;

    /// Nothing has come for so long.
    fn expire(
        &mut self,
        _pool: &mut Pool,
        _watch: &mut Watch<Self::State>,
        _http: Http<'_>,
        _ready: &mut Ready,
    ) -> Outcome {
        Outcome::Held
    }

    /// Declares the handlers.
    fn handlers(_h: &mut Handlers)
    where
        Self: Sized,
    {
    }
}

impl<S: Default> Watch<S> {
    pub(super) fn new(seen: u32) -> Watch<S> {
        Watch {
            seen,
            held: Held::default(),
            since_ns: 0,
            is_timed: false,
            is_over: false,
            state: S::default(),
        }
    }
}

impl<S> Watch<S> {
    /// Has an editor take a packet.
    pub(super) fn take<E: Editor<State = S>>(
        &mut self,
        editor: &mut E,
        pool: &mut Pool,
        http: Http<'_>,
        packet: Packet,
        ready: &mut Ready,
    ) -> Outcome {
        let Some(segment) = Segment::of(&packet) else { return Outcome::Leaves(packet) };
        let (role, seen) = Role::of(&packet, &segment, self.seen);
        self.seen = seen;
        match role {
            Role::Ends => {
                self.end(ready);
                Outcome::Leaves(packet)
            }
            _ if self.is_over => Outcome::Leaves(packet),
            Role::Passes => Outcome::Leaves(passing(packet, &segment, &self.held)),
            Role::Next { data } => {
                let next = Next { packet, segment, data, is_end: segment.has(flag::FIN) };
                let room = http.room;
                editor.next(pool, self, http, next, ready).within(room, self)
            }
        }
    }

    /// Nothing more passes of it.
    fn end(&mut self, ready: &mut Ready) {
        self.is_over = true;
        self.held.clear(|packet| ready.dropped.push((packet, CLOSED)));
    }

    /// The packet that leaves last, if one does.
    pub(super) fn settle(&mut self, outcome: Outcome, ready: &mut Ready) -> Option<Packet> {
        match outcome {
            Outcome::Held => None,
            Outcome::Leaves(packet) => Some(packet),
            Outcome::Closes(mut packet) => {
                self.end(ready);
                make_rst(&mut packet);
                Some(packet)
            }
        }
    }
}

impl<S: Send + 'static> Part for Watch<S> {
    fn held(&self) -> usize {
        self.held.len()
    }
}

/// Batches on their way.
struct Leaving {
    on: Batch,
    aside: Batch,
}

impl Leaving {
    fn new(cx: &mut Cx<'_>) -> Leaving {
        Leaving { on: cx.batch(), aside: cx.batch() }
    }

    /// Adds what is ready, and a packet behind it.
    fn add(&mut self, cx: &mut Cx<'_>, ready: &mut Ready, last: Option<Packet>) {
        ready.on.drain(..).chain(last).for_each(|packet| add(cx, 0, &mut self.on, packet));
        ready.aside.drain(..).for_each(|packet| add(cx, 1, &mut self.aside, packet));
        ready.dropped.drain(..).for_each(|(packet, reason)| cx.drop(packet, reason));
        if let Some((text, times)) = ready.said.take() {
            (0..times).for_each(|_| cx.log(text));
        }
    }

    fn emit(self, cx: &mut Cx<'_>) {
        for (output, batch) in [(0, self.on), (1, self.aside)] {
            if batch.is_empty() { cx.consume(batch) } else { cx.emit(output, batch) }
        }
    }
}

/// An element that edits streams.
pub(super) struct Editing<E> {
    /// Set by `initialize`.
    path: Option<Path>,
    pub(super) editor: E,
    /// When to look at which connections whose packets are held.
    due: VecDeque<(i64, FlowId)>,
    ready: Ready,
}

impl<E: Editor> Editing<E> {
    pub(super) fn new(editor: E) -> Editing<E> {
        Editing { path: None, editor, due: VecDeque::new(), ready: Ready::default() }
    }

    fn take(
        &mut self,
        cx: &mut Cx<'_>,
        connections: &mut Connections,
        direction: usize,
        packet: Packet,
        out: &mut Leaving,
    ) {
        let Some(id) = connection(&packet, direction) else { return add(cx, 0, &mut out.on, packet) };
        let Some(between) = connections.between(&id, direction) else {
            return add(cx, 0, &mut out.on, packet);
        };
        let (index, left) = (cx.index(), between.left);
        let Some(watch) = between.parts.of(index, || Watch::<E::State>::new(left)) else {
            return add(cx, 0, &mut out.on, packet);
        };
        let before = watch.held.len();
        if between.is_over {
            watch.end(&mut self.ready);
        }
        let room = (between.most + before).saturating_sub(*between.held).min(MOST);
        let http = Http { marks: between.marks, requests: between.requests, left, room };
        let outcome = watch.take(&mut self.editor, cx.pool(), http, packet, &mut self.ready);
        let last = watch.settle(outcome, &mut self.ready);
        out.add(cx, &mut self.ready, last);
        *between.held = (*between.held + watch.held.len()).saturating_sub(before);
        let timeout_ns = self.editor.timeout_ns();
        if !watch.held.is_empty() && timeout_ns > 0 {
            watch.since_ns = cx.now_ns();
            if !std::mem::replace(&mut watch.is_timed, true) {
                self.wait(cx, cx.now_ns() + timeout_ns, id);
            }
        }
    }

    /// Has a connection looked at when the time is over.
    fn wait(&mut self, cx: &mut Cx<'_>, at_ns: i64, id: FlowId) {
        if self.due.is_empty() {
            cx.timers().at(0, at_ns);
        }
        self.due.push_back((at_ns, id));
    }

    /// Lets packets go behind which nothing has come for long enough. If there are some that have to wait further: until when.
    fn release(
        &mut self,
        cx: &mut Cx<'_>,
        connections: &mut Connections,
        direction: usize,
        id: &FlowId,
        out: &mut Leaving,
    ) -> Option<i64> {
        let between = connections.between(id, direction)?;
        let watch = between.parts.of(cx.index(), || Watch::<E::State>::new(0))?;
        let until_ns = watch.since_ns + self.editor.timeout_ns();
        if !watch.held.is_empty() && cx.now_ns() < until_ns {
            return Some(until_ns);
        }
        watch.is_timed = false;
        let before = watch.held.len();
        let http = Http { marks: between.marks, requests: between.requests, left: between.left, room: 0 };
        let outcome = self.editor.expire(cx.pool(), watch, http, &mut self.ready);
        let last = watch.settle(outcome, &mut self.ready);
        out.add(cx, &mut self.ready, last);
        *between.held = (*between.held + watch.held.len()).saturating_sub(before);
        None
    }
}

/// A packet without data that passes: it says where the stream is that the receiver knows.
fn passing(mut packet: Packet, segment: &Segment, held: &Held) -> Packet {
    let is_bare = segment.data == 0 && !segment.has(flag::SYN | flag::FIN);
    if let Some(first) = held.first().filter(|_| is_bare).and_then(Segment::of) {
        edit(&mut packet, |tcp| tcp.set_sequence(first.start));
    }
    packet
}

impl<E: Editor> Element for Editing<E> {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.path = Some(path(cx.info(), cx.index())?);
        self.editor.initialize(cx)
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        let Some(path) = self.path.take() else { return cx.consume(batch) };
        let mut out = Leaving::new(cx);
        let mut connections = path.lock();
        batch.drain(|packet| self.take(cx, &mut connections, path.direction, packet, &mut out));
        drop(connections);
        self.path = Some(path);
        cx.consume(batch);
        out.emit(cx);
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        let Some(path) = self.path.take() else { return };
        let mut out = Leaving::new(cx);
        let mut connections = path.lock();
        for _ in 0..self.due.len() {
            let Some((_, id)) = self.due.pop_front_if(|(at_ns, _)| *at_ns <= cx.now_ns()) else { break };
            if let Some(at_ns) = self.release(cx, &mut connections, path.direction, &id, &mut out) {
                self.due.push_back((at_ns, id));
            }
        }
        drop(connections);
        self.path = Some(path);
        if let Some(&(at_ns, _)) = self.due.front() {
            cx.timers().at(0, at_ns);
        }
        out.emit(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        E::handlers(h);
    }

    fn target(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::stream::tests::Change;
    use super::*;
    use wire::{ip_proto, tcp};

    /// Bytes of headers in the packets here.
    const HEADERS: usize = 40;

    /// A TCP packet.
    pub(in super::super) fn packet(pool: &mut Pool, start: u32, data: &[u8], flags: u8) -> Packet {
        let mut bytes = vec![0; HEADERS];
        let mut ip = ipv4::Header::new_checked_mut(&mut bytes).unwrap();
        ip.set_version_and_header_len(ipv4::HEADER_LEN);
        ip.set_total_len((HEADERS + data.len()) as u16);
        ip.set_protocol(ip_proto::TCP);
        bytes[32] = 0x50;
        let mut header = tcp::Header::new_checked_mut(&mut bytes[ipv4::HEADER_LEN..]).unwrap();
        header.set_sequence(start);
        header.set_flags(flags);
        bytes.extend(data);
        let mut packet = pool.packet(&bytes).unwrap();
        packet.set_network(0, ipv4::HEADER_LEN);
        packet
    }

    /// An editor with what it knows of a stream.
    pub(in super::super) trait Station {
        fn take(&mut self, pool: &mut Pool, http: Http<'_>, packet: Packet, out: &mut Vec<Packet>);
        fn wait(&mut self, pool: &mut Pool, http: Http<'_>, out: &mut Vec<Packet>);
    }

    struct At<E: Editor>(E, Watch<E::State>);

    impl<E: Editor> At<E> {
        fn leave(&mut self, outcome: Outcome, mut ready: Ready, out: &mut Vec<Packet>) {
            assert!(!matches!(outcome, Outcome::Closes(_)));
            let last = self.1.settle(outcome, &mut ready);
            out.extend(ready.on.into_iter().chain(last));
        }
    }

    impl<E: Editor> Station for At<E> {
        fn take(&mut self, pool: &mut Pool, http: Http<'_>, packet: Packet, out: &mut Vec<Packet>) {
            let mut ready = Ready::default();
            let outcome = self.1.take(&mut self.0, pool, http, packet, &mut ready);
            self.leave(outcome, ready, out);
        }

        fn wait(&mut self, pool: &mut Pool, http: Http<'_>, out: &mut Vec<Packet>) {
            if self.0.timeout_ns() == 0 {
                return;
            }
            let mut ready = Ready::default();
            let outcome = self.0.expire(pool, &mut self.1, http, &mut ready);
            self.leave(outcome, ready, out);
        }
    }

    pub(in super::super) fn station<E: Editor>(editor: E, left: u32) -> Box<dyn Station> {
        Box::new(At(editor, Watch::new(left)))
    }

    /// Editors that a stream passes.
    pub(in super::super) struct Chain {
        pool: Pool,
        marks: Marks,
        requests: Requests,
        stations: Vec<Box<dyn Station>>,
    }

    impl Chain {
        pub(in super::super) fn new(stations: Vec<Box<dyn Station>>) -> Chain {
            let (marks, requests) = Default::default();
            Chain { pool: Pool::new(), marks, requests, stations }
        }

        fn run(&mut self, first: Vec<Packet>, waits: bool, left: u32) -> Vec<(u32, usize, Vec<u8>, bool)> {
            let mut packets = first;
            for station in &mut self.stations {
                let mut out = Vec::new();
                for packet in packets {
                    let (marks, requests) = (&mut self.marks, &mut self.requests);
                    station.take(
                        &mut self.pool,
                        Http { marks, requests, left, room: MOST },
                        packet,
                        &mut out,
                    );
                }
                if waits {
                    let (marks, requests) = (&mut self.marks, &mut self.requests);
                    station.wait(&mut self.pool, Http { marks, requests, left, room: MOST }, &mut out);
                }
                packets = out;
            }
            packets.iter().map(described).collect()
        }
    }

    fn described(packet: &Packet) -> (u32, usize, Vec<u8>, bool) {
        let segment = Segment::of(packet).unwrap();
        let data = packet.network().unwrap()[segment.headers..].to_vec();
        (segment.start, segment.data, data, segment.has(flag::FIN))
    }

    impl Change for Chain {
        fn take(
            &mut self,
            start: u32,
            data: &[u8],
            fin: bool,
            left: u32,
        ) -> Vec<(u32, usize, Vec<u8>, bool)> {
            let flags = flag::ACK | if fin { flag::FIN } else { 0 };
            let packet = packet(&mut self.pool, start, data, flags);
            self.run(vec![packet], false, left)
        }

        fn wait(&mut self, left: u32) -> Vec<(u32, usize, Vec<u8>, bool)> {
            self.run(Vec::new(), true, left)
        }
    }

    /// The parts of a packet that is split stand for as much as it did, where its data has another length, too.
    #[test]
    fn parts_stand_for_as_much_as_the_whole() {
        let mut pool = Pool::new();
        let mut parts = |width: usize, data: &[u8], at| {
            let mut packet = packet(&mut pool, 100, data, flag::ACK | flag::FIN);
            set_width(&mut packet, HEADERS + width);
            let segment = Segment::of(&packet).unwrap();
            let mut next = Next { packet, segment, data: data.len(), is_end: true };
            let rest = next.split(&mut pool, at).map_err(|Whole| "whole")?;
            Ok([Some(next), rest].into_iter().flatten().map(|next| described(&next.packet)).collect())
        };
        let (a, b) = (b"ab".to_vec(), b"cde".to_vec());
        assert_eq!(parts(5, b"abcde", 2), Ok(vec![(100, 2, a.clone(), false), (102, 3, b.clone(), true)]));
        assert_eq!(parts(2, b"abcde", 2), Ok(vec![(100, 1, a.clone(), false), (101, 1, b, true)]));
        assert_eq!(parts(5, b"ab", 2), Ok(vec![(100, 5, a, true)]));
        assert_eq!(parts(1, b"abcde", 2), Err("whole"));
    }
}
