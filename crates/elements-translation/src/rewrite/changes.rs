//! Which flows of a lane are new, have changed or are gone, for who keeps a copy of the table at another node.
//!
//! Written where flows are made or end, with the lane's lock in hand, and only while it is wanted. Packets of known flows write nothing.

use elements_shared::flow_id::Key;

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
    list: Vec<Change>,
    is_lost: bool,
}

impl Changes {
    /// Says whether they are wanted from now on. What waits is forgotten.
    pub(super) fn want(&mut self, is_wanted: bool) {
        let room = if is_wanted { WAITING } else { 0 };
        *self = Changes { is_wanted, list: Vec::with_capacity(room), is_lost: false };
    }

    /// Adds a change. Beyond the bound it is lost, and so is what waits.
    #[inline]
    pub(super) fn add(&mut self, change: Change) {
        if self.is_wanted {
            self.write(change);
        }
    }

    #[cold]
    fn write(&mut self, change: Change) {
        if self.list.len() < WAITING {
            self.list.push(change);
        } else {
            self.is_lost = true;
        }
    }

    /// Exchanges the changes for an empty list with room. Whether others were lost.
    pub(super) fn take(&mut self, list: &mut Vec<Change>) -> bool {
        std::mem::swap(&mut self.list, list);
        std::mem::take(&mut self.is_lost)
    }
}
