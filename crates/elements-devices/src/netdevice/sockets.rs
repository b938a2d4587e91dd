//! What elements that carry packets over sockets have in common: their arguments, receiving, and the packets that wait to be sent.

use device::Trouble;
use packet::{Anno, BATCH_MAX, Batch, DEFAULT_HEADROOM, Packet};
use router::{Args, ConfigError, Cx, Interest, Level};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SocketAddrAny, SocketFlags, sockopt};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Sockets that do not block.
pub(super) const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Bytes of a packet that is received, unless SNAPLEN says otherwise.
const SNAPLEN: usize = 2048;
/// Bytes of the longest datagram.
const LONGEST: usize = 65_535;
/// Packets that wait for the socket, at most, when they are pushed.
const WAITING_MAX: usize = 1000;

/// An error of a system call, explained.
pub(super) fn failed(call: &str) -> impl Fn(Errno) -> String {
    move |error| Trouble::at_socket(call, error.into()).to_string()
}

/// The element's name and class, for messages.
pub(super) fn declaration(cx: &Cx<'_>) -> String {
    cx.info().nodes[cx.index()].declaration()
}

/// Sizes of the kernel's buffers, as far as the arguments say.
#[derive(Default)]
pub(super) struct Buffers {
    send: Option<usize>,
    receive: Option<usize>,
}

impl Buffers {
    pub(super) fn arguments<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.keyword("SNDBUF", &mut self.send).keyword("RCVBUF", &mut self.receive)
    }

    /// Gives a socket buffers of these sizes.
    pub(super) fn set(&self, fd: &OwnedFd) -> Result<(), String> {
        if let Some(size) = self.send {
            sockopt::set_socket_send_buffer_size(fd, size).map_err(failed("setsockopt(SO_SNDBUF)"))?;
        }
        if let Some(size) = self.receive {
            sockopt::set_socket_recv_buffer_size(fd, size).map_err(failed("setsockopt(SO_RCVBUF)"))?;
        }
        Ok(())
    }
}

/// A packet that was received, and from whom.
type Received = (Packet, Option<SocketAddrAny>);

/// How packets are received.
pub(super) struct Receiver {
    snaplen: usize,
    headroom: usize,
    timestamp: bool,
    /// Where a packet is received before its length is known, so that its buffer fits.
    space: Vec<u8>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver { snaplen: SNAPLEN, headroom: DEFAULT_HEADROOM, timestamp: true, space: vec![0; SNAPLEN] }
    }
}

impl Receiver {
    pub(super) fn arguments<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.keyword("SNAPLEN", &mut self.snaplen)
            .keyword("HEADROOM", &mut self.headroom)
            .keyword("TIMESTAMP", &mut self.timestamp)
    }

    /// The receiver with its arguments checked, once they are read.
    pub(super) fn checked(mut self) -> Result<Receiver, ConfigError> {
        if self.headroom > 8192 {
            return Err("HEADROOM out of range".into());
        }
        self.snaplen = self.snaplen.clamp(1, LONGEST);
        self.space = vec![0; self.snaplen];
        Ok(self)
    }

    /// Takes a datagram from a socket; nothing if there is no memory for it.
    pub(super) fn datagram(&mut self, cx: &mut Cx<'_>, fd: &OwnedFd) -> Result<Option<Received>, Errno> {
        self.receive(cx, fd, RecvFlags::TRUNC)
    }

    /// Takes a piece of a stream, of no bytes at its end; nothing if there was no memory for it, and the stream is broken.
    pub(super) fn piece(&mut self, cx: &mut Cx<'_>, fd: &OwnedFd) -> Result<Option<Received>, Errno> {
        self.receive(cx, fd, RecvFlags::empty())
    }

    fn receive(
        &mut self,
        cx: &mut Cx<'_>,
        fd: &OwnedFd,
        flags: RecvFlags,
    ) -> Result<Option<Received>, Errno> {
        let (kept, len, from) = rustix::net::recvfrom(fd, &mut self.space[..], flags)?;
        let Some(mut packet) = cx.pool().alloc(self.headroom, kept) else {
            cx.count_drops("no buffer for a received packet", 1);
            return Ok(None);
        };
        packet.data_mut().copy_from_slice(&self.space[..kept]);
        packet.set_anno(Anno::EXTRA_LENGTH, (len - kept) as u64);
        if self.timestamp {
            packet.set_timestamp_ns(cx.now_ns());
        }
        Ok(Some((packet, from)))
    }

    /// Takes the datagrams that have come, at most `burst`, emits them as far as `keep` lets them pass, and has the task run when there are more.
    /// How many it emitted.
    pub(super) fn emit_datagrams(
        &mut self,
        cx: &mut Cx<'_>,
        fd: &Arc<OwnedFd>,
        burst: usize,
        mut keep: impl FnMut(&mut Cx<'_>, Received) -> Option<Packet>,
    ) -> u64 {
        let mut batch = cx.batch();
        let mut more = true;
        for _ in 0..burst.min(BATCH_MAX) {
            match self.datagram(cx, fd) {
                Ok(Some(received)) => batch.extend(keep(cx, received)),
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => {
                    more = false;
                    break;
                }
            }
        }
        let count = batch.len() as u64;
        if batch.is_empty() {
            cx.consume(batch)
        } else {
            cx.emit(0, batch)
        }
        if more {
            cx.tasks().schedule()
        } else {
            cx.tasks().schedule_when(fd, Interest::Readable)
        }
        count
    }
}

/// Packets that wait until a socket takes them.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: VecDeque<Packet>,
    /// Whether a datagram was refused: only the first is reported.
    failing: bool,
    /// Packets that were sent.
    pub(super) sent: u64,
    /// Packets that could not be sent.
    pub(super) refused: u64,
}

impl Outbox {
    /// Packets that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Puts packets behind those that wait, as long as there is room.
    pub(super) fn put(&mut self, cx: &mut Cx<'_>, mut batch: Batch) {
        batch.drain(|packet| {
            if self.waiting.len() < WAITING_MAX {
                self.waiting.push_back(packet);
            } else {
                self.refused += 1;
                cx.drop(packet, "the socket is full");
            }
        });
        cx.consume(batch);
    }

    /// Drops all packets.
    pub(super) fn clear(&mut self, cx: &mut Cx<'_>, reason: &'static str) {
        let waiting = self.waiting.len() as u64;
        self.waiting.drain(..).for_each(|packet| cx.pool().free(packet));
        cx.count_drops(reason, waiting);
    }

    /// Sends datagrams, as far as `send` takes them now. One that it refuses is lost, and the next one's turn comes.
    pub(super) fn send_datagrams(&mut self, cx: &mut Cx<'_>, send: impl Fn(&Packet) -> Result<usize, Errno>) {
        while let Some(packet) = self.waiting.front() {
            match send(packet) {
                Ok(_) => self.is_sent(cx),
                Err(Errno::AGAIN | Errno::NOBUFS) => return,
                Err(Errno::INTR) => {}
                Err(error) => self.is_refused(cx, error),
            }
        }
    }

    /// Sends the packets' bytes, as far as `send` takes them now; an error if it never will.
    pub(super) fn send_stream(
        &mut self,
        cx: &mut Cx<'_>,
        send: impl Fn(&Packet) -> Result<usize, Errno>,
    ) -> Result<(), Errno> {
        while let Some(packet) = self.waiting.front_mut() {
            match send(packet) {
                Ok(len) if packet.len() > len => {
                    let _ = packet.pull(len); // a shorter piece of it than there is
                }
                Ok(_) => self.is_sent(cx),
                Err(Errno::AGAIN | Errno::NOBUFS) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn is_sent(&mut self, cx: &mut Cx<'_>) {
        self.sent += 1;
        self.waiting.pop_front().into_iter().for_each(|packet| cx.pool().free(packet));
    }

    fn is_refused(&mut self, cx: &mut Cx<'_>, error: Errno) {
        if !std::mem::replace(&mut self.failing, true) {
            let trouble = failed("sending")(error);
            cx.say(Level::Warning, format_args!("{}: {trouble} (said once)", declaration(cx)));
        }
        self.refused += 1;
        let lost = self.waiting.pop_front();
        lost.into_iter().for_each(|packet| cx.drop(packet, "the socket did not take it"));
    }
}
