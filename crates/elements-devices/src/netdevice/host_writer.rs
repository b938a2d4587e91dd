//! Writes packets to TUN and TAP interfaces: consecutive segments of a TCP flow as one long frame.

use super::host_port::{GONE, is_gone};
use device::segments::{HEADERS_MOST, Link, Note, Train};
use packet::{BATCH_MAX, Batch, Packet};
use router::Cx;
use rustix::io::Errno;
use std::io::IoSlice;
use std::os::fd::OwnedFd;

/// Writes to the interfaces of an element.
pub(super) struct Writer {
    /// What is in front of IP headers; none if nothing is merged.
    link: Option<Link>,
    /// Packets that went as parts of long ones.
    pub(super) merged: u64,
}

impl Writer {
    pub(super) fn new(link: Option<Link>) -> Writer {
        Writer { link, merged: 0 }
    }

    /// Writes packets to a descriptor of an interface; counts those that it does not take.
    pub(super) fn write(&mut self, cx: &mut Cx<'_>, fd: &OwnedFd, batch: Batch) -> Result<(), Errno> {
        let mut result = Ok(());
        let mut left = batch.packets();
        while let [packet, rest @ ..] = left {
            let train = self.link.and_then(|link| train(packet, rest, link));
            let (count, written) = match &train {
                Some(train) => (train.frames(), write_train(fd, train, left)),
                // Nothing is left to the kernel to do.
                None => (1, write_pieces(fd, &[&[0; Note::LEN][..], packet.data()].map(IoSlice::new))),
            };
            match written {
                Ok(()) if count > 1 => self.merged += count as u64,
                Ok(()) => {}
                Err(Errno::INVAL) if count > 1 => {
                    // It does not take long ones.
                    self.link = None;
                    continue;
                }
                Err(error) => {
                    cx.count_drops(reason(error), count as u64);
                    result = Err(error);
                }
            }
            left = &left[count..];
        }
        cx.consume(batch);
        result
    }
}

/// A packet and those that follow, as far as they make a long one.
fn train<'a>(first: &'a Packet, rest: &[Packet], link: Link) -> Option<Train<'a>> {
    rest.first()?;
    // The kernel's end receives what fits into a frame of any length.
    let mut train = Train::begin(first.data(), link, usize::MAX)?;
    for packet in rest {
        if !train.take(packet.data(), link) {
            break;
        }
    }
    (train.frames() > 1).then_some(train)
}

/// Writes a train, which is at the start of these packets.
fn write_train(fd: &OwnedFd, train: &Train<'_>, packets: &[Packet]) -> Result<(), Errno> {
    let (mut head, header) = ([0; Note::LEN + HEADERS_MOST], train.header());
    let note = train.finish(&mut head[Note::LEN..]);
    head[..Note::LEN].copy_from_slice(&note.bytes());
    let mut pieces = [IoSlice::new(&[]); BATCH_MAX + 1];
    pieces[0] = IoSlice::new(&head[..Note::LEN + header]);
    for (piece, packet) in pieces[1..].iter_mut().zip(&packets[..train.frames()]) {
        *piece = IoSlice::new(&packet.data()[header..]);
    }
    write_pieces(fd, &pieces[..=train.frames()])
}

fn write_pieces(fd: &OwnedFd, pieces: &[IoSlice<'_>]) -> Result<(), Errno> {
    rustix::io::writev(fd, pieces).map(drop)
}

/// Why packets are dropped, by what the kernel said.
fn reason(error: Errno) -> &'static str {
    match error {
        Errno::AGAIN | Errno::NOBUFS => "the kernel's queue is full",
        Errno::IO => "the interface is down",
        error if is_gone(error) => GONE,
        _ => "the kernel did not take it",
    }
}
