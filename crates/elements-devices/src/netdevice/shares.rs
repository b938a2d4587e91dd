//! The sockets of FromDevice's instances while a configuration takes the place of another one.
//!
//! Sockets move as they are, with the frames in their rings, so that a frame is received once. A packet socket that is opened beside
//! them would get each frame again, and a group of sockets cannot be left: so instances that are fewer than before go on with the sockets
//! of several, and instances that are more join the group.

use device::Trouble;
use device::packet_socket::Group;
use device::port::Rx;

/// What the instances of an element have in common.
#[derive(Default)]
pub(super) struct Shares {
    /// Those who divide the frames of an interface between them.
    pub(super) group: Group,
    /// The sockets of the old instances, one by one.
    handed: Vec<Option<Rx>>,
    /// Whether the group is that of the old instances by now.
    is_founded: bool,
    /// Whether old instances received with other options, until now.
    pub(super) closed: bool,
    /// Instances that have taken theirs.
    settled: usize,
}

/// Who takes a share of packet sockets: which of how many.
pub(super) type Place = (usize, usize);

impl Shares {
    /// Adds an old instance's sockets.
    pub(super) fn hand(&mut self, rx: Rx) {
        self.handed.extend(rx.split().into_iter().map(Some));
    }

    /// Whether old instances had any.
    pub(super) fn any(&self) -> bool {
        !self.handed.is_empty()
    }

    /// The sockets that an instance goes on with: those of its queues, or its share of packet sockets.
    pub(super) fn take(&mut self, place: Option<Place>, queues: &[u32]) -> Option<Rx> {
        let mut taken = None::<Rx>;
        for (at, slot) in self.handed.iter_mut().enumerate() {
            let is_mine = |rx: &Rx| match rx.queues().next() {
                Some(queue) => queues.contains(&queue),
                None => place.is_some_and(|(place, of)| at % of == place),
            };
            if !slot.as_ref().is_some_and(is_mine) {
                continue;
            }
            match (&mut taken, slot.take()) {
                (Some(taken), Some(rx)) => taken.append(rx),
                (none, rx) => *none = rx,
            }
        }
        taken
    }

    /// Makes the group that of the old instances, which those join that get none of the sockets. To be called before any is taken.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub(super) fn found(&mut self, interface: &str) -> Result<(), Trouble> {
        if std::mem::replace(&mut self.is_founded, true) {
            return Ok(());
        }
        self.handed.iter_mut().flatten().try_for_each(|rx| rx.share(interface, &mut self.group))
    }

    /// An instance has taken its share. After the last of so many, what no instance took is closed.
    pub(super) fn settle(&mut self, instances: usize) {
        self.settled += 1;
        if self.settled >= instances {
            self.handed.clear();
        }
    }
}
