//! A socket that hears of changes, and by which tables are read.

use super::reading::{Ask, End, Head, List, Reading, Step};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use std::time::Instant;

/// Bytes of one datagram, at most.
const CHUNK: usize = 1 << 17;
/// Datagrams that are read at a time, so that what they say is acted upon in between.
const AT_ONCE: usize = 16;
/// Bytes of a message's head.
const HEAD: usize = 16;

/// A socket that hears of changes; `groups` are bits as `RTMGRP_LINK` and its like. So many bytes of messages may wait, if the kernel allows.
pub(crate) fn open(protocol: Option<Protocol>, groups: u32, waiting: usize) -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // No protocol means NETLINK_ROUTE, whose number is 0.
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
    // Without the right to exceed the limit: as much as it allows.
    let _ = sockopt::set_socket_recv_buffer_size_force(&socket, waiting)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, waiting));
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups))?;
    Ok(socket)
}

/// How one talks to the kernel of some kind of table.
pub(crate) struct Language<M> {
    /// A request for a list.
    pub(crate) request: fn(Ask) -> Vec<u8>,
    /// What a datagram says.
    pub(crate) messages: fn(&[u8]) -> Vec<M>,
}

/// What there is to hear.
#[derive(Debug)]
pub(crate) enum Event<M> {
    Message(M),
    /// Messages were lost because too many waited. Everything is read again.
    Lost,
    /// Everything is read from now on.
    Begun,
    /// That is over.
    Ended(End),
}

/// Asks the kernel, and hears its answers and what changes.
pub(crate) struct Ear<M> {
    socket: OwnedFd,
    buffer: Vec<u8>,
    language: Language<M>,
    reading: Reading,
}

impl<M> Ear<M> {
    /// One whose table has these lists.
    pub(crate) fn new(socket: OwnedFd, language: Language<M>, lists: &'static [List]) -> Ear<M> {
        Ear { socket, buffer: vec![0; CHUNK], language, reading: Reading::new(lists) }
    }

    /// What can be read when there is something to hear.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Everything is to be read at this time, or before. If it is being read already: once more.
    pub(crate) fn want(&mut self, at: Instant) {
        self.reading.want(at);
    }

    /// A reading that is under way is worth nothing: everything is read once more behind it.
    pub(crate) fn spoil(&mut self) {
        self.reading.spoil(Instant::now());
    }

    /// Whether everything is being read.
    pub(crate) fn is_reading(&self) -> bool {
        self.reading.is_under_way()
    }

    /// Whether there is a time at which everything is read again.
    pub(crate) fn is_planned(&self) -> bool {
        self.reading.is_planned()
    }

    /// When to hear although there is nothing to be read.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.reading.next()
    }

    /// What there is to hear, at most some of it. Begins a reading if its time has come.
    pub(crate) fn hear(&mut self) -> Vec<Event<M>> {
        let mut events = Vec::new();
        for _ in 0..AT_ONCE {
            match rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((len, _)) => self.take(len.min(CHUNK), &mut events),
                Err(Errno::NOBUFS) => {
                    self.reading.overrun(Instant::now());
                    events.push(Event::Lost);
                }
                Err(Errno::AGAIN) => {
                    self.reading.dry();
                    break;
                }
                Err(_) => break,
            }
        }
        if let Some(ask) = self.reading.begin(Instant::now()) {
            events.push(Event::Begun);
            self.ask(ask, &mut events);
        }
        events
    }

    /// Takes in a datagram: first what it says, then what follows for the reading.
    fn take(&mut self, len: usize, events: &mut Vec<Event<M>>) {
        let said = &self.buffer[..len];
        events.extend((self.language.messages)(said).into_iter().map(Event::Message));
        let (reading, now) = (&mut self.reading, Instant::now());
        let steps: Vec<Step> =
            heads(said).map(|head| reading.hear(head, now)).filter(|step| *step != Step::Nothing).collect();
        // There may be keys in it.
        self.buffer[..len].fill(0);
        for step in steps {
            match step {
                Step::Nothing => {}
                Step::Ask(ask) => self.ask(ask, events),
                Step::End(end) => events.push(Event::Ended(end)),
            }
        }
    }

    fn ask(&mut self, ask: Ask, events: &mut Vec<Event<M>>) {
        let request = (self.language.request)(ask);
        if let Err(error) = rustix::net::send(&self.socket, &request, SendFlags::empty()) {
            events.push(Event::Ended(self.reading.fail(error, Instant::now())));
        }
    }
}

/// The heads of the messages in some bytes.
fn heads(mut bytes: &[u8]) -> impl Iterator<Item = Head> {
    std::iter::from_fn(move || {
        let &[l0, l1, l2, l3, k0, k1, f0, f1, s0, s1, s2, s3, ..] = bytes.first_chunk::<HEAD>()?;
        let len = u32::from_ne_bytes([l0, l1, l2, l3]) as usize;
        let body = bytes.get(HEAD..len)?;
        let code = body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code));
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        let (kind, flags) = (u16::from_ne_bytes([k0, k1]), u16::from_ne_bytes([f0, f1]));
        Some(Head { kind, flags, sequence: u32::from_ne_bytes([s0, s1, s2, s3]), code })
    })
}
