//! Which flows of a lane are new, have changed or are gone, for who keeps a copy of the table at another node.
//!
//! Written where flows are confirmed or end, with the lane's lock in hand, and only while it is wanted. Packets of confirmed flows write
//! nothing, nor do the first packets of flows: a flood of them costs the copy nothing.

use elements_shared::flow_id::Key;
use std::collections::VecDeque;

/// Changes that wait in a lane, at most.
pub(super) const WAITING: usize = 16384;

/// A change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// The flow in this record, if it is still there.
    Put(u32),
    /// The flow with this forward key.
    Gone(Key),
}

/// The changes of a lane that have not been taken yet.
#[derive(Default)]
pub(super) struct Changes {
    is_wanted: bool,
    is_wide: bool,
    list: VecDeque<Change>,
    is_lost: bool,
}

impl Changes {
    /// Says whether they are wanted from now on, of confirmed flows. What waits is forgotten.
    pub(super) fn want(&mut self, is_wanted: bool) {
        let room = if is_wanted { WAITING } else { 0 };
        *self = Changes { is_wanted, list: VecDeque::with_capacity(room), ..Changes::default() };
    }

    /// Those of other flows are wanted, too, as long as half of the room is free.
    pub(super) fn widen(&mut self) {
        self.is_wide = true;
    }

    /// Adds a change of a flow that is confirmed, or of one that is not. Beyond the bound it is lost, and so is what waits.
    #[inline]
    pub(super) fn add(&mut self, is_confirmed: bool, change: Change) {
        if self.is_wanted && (is_confirmed || self.is_wide) {
            self.write(is_confirmed, change);
        }
    }

    #[cold]
    fn write(&mut self, is_confirmed: bool, change: Change) {
        match self.list.len() {
            len if len < WAITING / 2 || is_confirmed && len < WAITING => self.list.push_back(change),
            _ => self.is_lost |= is_confirmed,
        }
    }

    /// Moves the oldest `most` changes to a list.
    pub(super) fn take(&mut self, most: usize, list: &mut Vec<Change>) {
        list.extend(self.list.drain(..most.min(self.list.len())));
    }

    /// Whether changes wait.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether changes were lost.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Forgets what waits, and that changes were lost.
    pub(super) fn forget(&mut self) {
        self.list.clear();
        self.is_lost = false;
    }
}
