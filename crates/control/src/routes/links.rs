//! This machine's interfaces, as link messages tell of them.
//!
//! A next hop behind an interface whose link is down is not used, whatever the routing suite says of it yet: the kernel itself keeps such
//! routes unless it is told to ignore them (`ignore_routes_with_linkdown`), and zebra needs a moment.

use super::listening;
use super::netlink::{Link, Message, RTM_GETLINK};
use crate::kernel::{Ear, End, Event, List};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// What the kernel reports: interfaces (`RTMGRP_LINK`).
const GROUPS: u32 = 1;
/// What is read of them.
const LISTS: &[List] = &[List::of(RTM_GETLINK)];
/// How long the kernel may take to list interfaces when they are first asked for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Hears of links, and remembers what they are like.
pub(super) struct Links {
    ear: Ear<Message>,
    known: Known,
    /// Interfaces heard of since the last listing of all began.
    listed: HashSet<u32>,
}

/// Interfaces by their numbers.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<u32, Link>);

impl Known {
    /// The name of an interface, and whether its link is up.
    pub(super) fn get(&self, interface: u32) -> Option<(&str, bool)> {
        self.0.get(&interface).map(|link| (link.name.as_str(), link.is_up))
    }

    /// The routing table of the VRF with a name.
    pub(super) fn vrf_table(&self, name: &str) -> Option<u32> {
        self.0.values().find(|link| link.name == name).and_then(|link| link.vrf_table)
    }

    /// Takes in what a message says; whether anything is different now.
    pub(super) fn take(&mut self, link: Link) -> bool {
        let index = link.index;
        let old = self.0.get(&index);
        let is_new = old != Some(&link);
        if is_new {
            self.0.insert(index, link);
        }
        is_new
    }
}

impl Links {
    /// All that there are now.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(super) fn new() -> Result<Links, String> {
        let ear = listening::ear(GROUPS, LISTS)?;
        let mut links = Links { ear, known: Known::default(), listed: HashSet::new() };
        let end = Instant::now() + PATIENCE;
        links.ear.want(Instant::now());
        links.changed();
        while links.ear.is_reading() && Instant::now() < end {
            let step = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
            // Interrupted, or nothing there: looks again.
            let _ = poll(&mut [PollFd::from_borrowed_fd(links.descriptor(), PollFlags::IN)], Some(&step));
            links.changed();
        }
        Ok(links)
    }

    /// What can be read when links have changed.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.ear.descriptor()
    }

    /// When to look for changes although there is nothing to be read.
    pub(super) fn next(&self) -> Option<Instant> {
        self.ear.next()
    }

    /// What is known of them.
    pub(super) fn known(&self) -> &Known {
        &self.known
    }

    /// Takes in what there is to hear; the numbers of interfaces that are another way than before.
    pub(super) fn changed(&mut self) -> Vec<u32> {
        let mut changed = Vec::new();
        for event in self.ear.hear() {
            changed.extend(self.take(event));
        }
        changed
    }

    /// Takes in an event; the numbers of interfaces that are another way than before.
    fn take(&mut self, event: Event<Message>) -> Vec<u32> {
        match event {
            Event::Message(Message::Link(link)) => {
                let index = link.index;
                self.listed.insert(index);
                if self.known.take(link) { vec![index] } else { Vec::new() }
            }
            Event::Message(Message::LinkGone(index)) => {
                self.listed.remove(&index);
                self.known.0.remove(&index).map(|_| index).into_iter().collect()
            }
            Event::Begun => {
                self.listed.clear();
                Vec::new()
            }
            Event::Ended(End::Whole) => self.forget_unlisted(),
            Event::Ended(_) | Event::Lost | Event::Message(_) => Vec::new(),
        }
    }

    /// All are listed: others are gone.
    fn forget_unlisted(&mut self) -> Vec<u32> {
        let listed = &self.listed;
        let gone: Vec<u32> = self.known.0.keys().copied().filter(|index| !listed.contains(index)).collect();
        gone.iter().for_each(|index| drop(self.known.0.remove(index)));
        gone
    }
}

/// The numbers and names of all interfaces.
pub(super) fn all() -> Vec<(u32, String)> {
    let links = device::links::all().unwrap_or_default();
    links.into_iter().map(|link| (link.index, link.name)).collect()
}
