//! Control frames through a socket of their own.
//!
//! The ring is short and looked at first. If more wait than a router has use for, the oldest frames about neighbours' addresses go: a flood
//! of ARP requests neither keeps hellos waiting nor takes their places. Broadcasts and multicasts are refused first: what is sent to this
//! host alone are answers that it waits for, and questions of hosts that know it and ask whether it is still there.

use super::filter::{self, Wanted};
use super::{Door, Losses, Options, Queued, door_of, spill};
use crate::control;
use crate::frame::Frame;
use crate::rule::Rule;
use crate::trouble::Trouble;
use packet::Packet;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Frames that the ring holds, of the usual size.
const FRAMES: usize = 2048;
/// With more than so many waiting, frames about neighbours' addresses are refused if they are broadcasts or multicasts; with twice as many, all.
const CROWD: usize = 256;
/// Frames that are refused in one call, at most.
const REFUSED_MAX: usize = FRAMES;

/// What came of looking for control frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlTaken {
    /// Frames that were handed over.
    pub taken: usize,
    /// Frames about neighbours' addresses that were refused because too many frames wait.
    pub refused: usize,
}

/// Receives the control frames of an interface.
pub struct ControlRx {
    pub(super) door: Door,
    pub(super) losses: Losses,
    /// Packets of a long frame that did not fit into a batch.
    pub(crate) spill: VecDeque<Packet>,
}

impl ControlRx {
    /// Opens an interface, but for frames that the rules leave to the kernel.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub(crate) fn open(
        interface: &str,
        index: i32,
        snaplen: usize,
        options: &Options,
        left: &[Rule],
    ) -> Result<ControlRx, Trouble> {
        // They do not wait for company.
        let options = Options { wait_ms: 0, ..options.clone() };
        let door = door_of(interface, index, (FRAMES, snaplen), &options)?;
        filter::open(&door.fd, (options.queue, None), Some(Wanted::These(&control::rules(), left)))
            .map_err(Trouble::at(interface, "choosing control frames"))?;
        let spill = spill(&door);
        Ok(ControlRx { door, losses: Losses::default(), spill })
    }

    /// What is readable when there are frames.
    pub(crate) fn fd(&self) -> &Arc<OwnedFd> {
        &self.door.fd
    }

    pub(super) fn close(&self) -> io::Result<()> {
        filter::close(&self.door.fd)
    }

    pub(super) fn skip(&mut self) {
        self.spill.clear();
        self.door.receive(FRAMES, |_, _| true);
    }

    /// Hands up to `max` frames to `f`, until it says that it wants no more; as [`super::PacketRx::receive`] does.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        max: usize,
        mut f: impl FnMut(Frame<'_>, &mut Queued<'_>, &mut VecDeque<Packet>) -> bool,
    ) -> ControlTaken {
        let spill = &mut self.spill;
        receive(&mut self.door, max, |frame, queued| f(frame, queued, spill))
    }

    /// Frames that were lost because the ring was full, since this was asked last.
    pub(crate) fn take_losses(&mut self) -> u64 {
        self.losses.take(&self.door.fd)
    }
}

/// Where frames wait.
trait Waiting {
    /// Whether more than so many wait.
    fn has_more_than(&self, count: usize) -> bool;

    /// Hands the next one to `f`; false if there is none.
    fn next(&mut self, f: impl FnMut(Frame<'_>, &mut Queued<'_>) -> bool) -> bool;
}

impl Waiting for Door {
    #[inline]
    fn has_more_than(&self, count: usize) -> bool {
        self.ring.has_more_than(count)
    }

    #[inline]
    fn next(&mut self, f: impl FnMut(Frame<'_>, &mut Queued<'_>) -> bool) -> bool {
        self.receive(1, f) > 0
    }
}

/// Hands frames to `f`, until it says that it wants no more.
#[inline]
fn receive(
    ring: &mut impl Waiting,
    max: usize,
    mut f: impl FnMut(Frame<'_>, &mut Queued<'_>) -> bool,
) -> ControlTaken {
    let mut count = ControlTaken::default();
    while count.taken < max && count.refused < REFUSED_MAX && ring.has_more_than(0) {
        let (crowded, full) = (ring.has_more_than(CROWD), ring.has_more_than(2 * CROWD));
        let mut goes_on = true;
        let found = ring.next(|frame, queued| {
            let is_for_all = frame.data.first().is_some_and(|first| first & 1 == 1);
            if crowded && (full || is_for_all) && control::is_about_neighbours(frame.data) {
                count.refused += 1;
            } else {
                count.taken += 1;
                goes_on = f(frame, queued);
            }
            true
        });
        if !found || !goes_on {
            break;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    struct Queue(VecDeque<Vec<u8>>);

    impl Waiting for Queue {
        fn has_more_than(&self, count: usize) -> bool {
            self.0.len() > count
        }

        fn next(&mut self, mut f: impl FnMut(Frame<'_>, &mut Queued<'_>) -> bool) -> bool {
            self.0.pop_front().map(|frame| f(Frame::plain(&frame), &mut Queued::none())).is_some()
        }
    }

    /// A broadcast.
    fn frame(ether_type: [u8; 2], number: u8) -> Vec<u8> {
        [&[0xff; 12][..], &ether_type, &[number]].concat()
    }

    const ARP: [u8; 2] = [0x08, 0x06];
    const LLDP: [u8; 2] = [0x88, 0xcc];

    /// Few frames come in order, so many at a time.
    #[test]
    fn frames_come_in_order_by_the_budget() {
        let mut queue = Queue((0..100).map(|i| frame(if i % 3 == 0 { LLDP } else { ARP }, i)).collect());
        let mut seen = Vec::new();
        for turn in 0..7 {
            let count = receive(&mut queue, 16, |frame, _| {
                seen.push(frame.data[14]);
                true
            });
            assert_eq!(count, ControlTaken { taken: if turn < 6 { 16 } else { 4 }, refused: 0 });
        }
        assert_eq!(receive(&mut queue, 16, |_, _| true), ControlTaken::default());
        assert_eq!(seen, (0..100).collect::<Vec<u8>>());
    }

    /// In a flood of ARP requests what this host is sent alone comes, and no more of that than there is time for.
    #[test]
    fn a_flood_of_broadcasts_does_not_take_the_place_of_answers() {
        let answer = || [&[0; 12][..], &ARP, &[1]].concat();
        let mut queue = Queue(VecDeque::new());
        let mut answers = 0;
        for _ in 0..1000 {
            (0..100).for_each(|_| queue.0.push_back(frame(ARP, 0)));
            queue.0.push_back(answer());
            receive(&mut queue, 16, |frame, _| {
                answers += usize::from(frame.data[14]);
                true
            });
        }
        assert!(answers > 990, "{answers}");
        for _ in 0..100 {
            (0..100).for_each(|_| queue.0.push_back(answer()));
            receive(&mut queue, 16, |_, _| true);
        }
        assert!(queue.0.len() <= 2 * CROWD + 101, "{}", queue.0.len());
    }

    /// In a flood of ARP requests not one hello is lost, none waits for long, and what is refused is counted.
    #[test]
    fn a_flood_does_not_take_the_place_of_hellos() {
        let (mut queue, mut hellos, mut requests, mut refused) = (Queue(VecDeque::new()), 0, 0, 0);
        for turn in 0..1000 {
            (0..100).for_each(|_| queue.0.push_back(frame(ARP, 0)));
            if turn % 10 == 0 {
                queue.0.push_back(frame(LLDP, 0));
            }
            let count = receive(&mut queue, 16, |frame, _| {
                *(if frame.data[12..14] == LLDP { &mut hellos } else { &mut requests }) += 1;
                true
            });
            refused += count.refused;
            assert!(count.taken <= 16 && queue.0.len() <= CROWD + 101, "{count:?}, {}", queue.0.len());
        }
        let waiting = queue.0.iter().filter(|frame| frame[12..14] == LLDP).count();
        assert_eq!(hellos + waiting, 100);
        assert!(waiting < 5, "{waiting}");
        assert_eq!(requests + refused + queue.0.len() - waiting, 100_000);
        assert!(requests > 10_000, "{requests}");
    }
}
