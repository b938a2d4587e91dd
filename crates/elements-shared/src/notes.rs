//! What has changed in a table, for a copy of it at another node: a bounded list that workers write without a lock.
//!
//! A note says only that something is new, has changed or is gone; who reads it looks at what is true then. So each change is made first
//! and noted afterwards, and whatever order two workers' notes come in, the last one of a thing tells its last state.
//!
//! Only what is confirmed is noted. Once the list is wide the rest is, too, as long as half of the room is free: then it costs what is
//! confirmed nothing.

use crate::state_port::Overrun;
use crossbeam_queue::ArrayQueue;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, fence};

/// The list. It takes memory once it is wanted for the first time.
pub struct Notes<T> {
    room: usize,
    is_wanted: AtomicBool,
    is_wide: AtomicBool,
    is_lost: AtomicBool,
    list: OnceLock<ArrayQueue<T>>,
}

impl<T> Notes<T> {
    /// A list of at most so many notes, which nothing asks for yet.
    pub const fn new(room: usize) -> Notes<T> {
        Notes {
            room,
            is_wanted: AtomicBool::new(false),
            is_wide: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            list: OnceLock::new(),
        }
    }

    fn list(&self) -> &ArrayQueue<T> {
        self.list.get_or_init(|| ArrayQueue::new(self.room.max(1)))
    }

    /// Says whether changes are noted from now on, of what is confirmed. What waits is forgotten.
    pub fn want(&self, is_wanted: bool) {
        self.is_wide.store(false, Relaxed);
        if is_wanted {
            // No packet is to wait for the memory.
            let _ = self.list();
            self.forget();
        }
        self.is_wanted.store(is_wanted, Relaxed);
        // Pairs with the fence of `add`: what is changed without a note is seen by who looks at everything from now on.
        fence(SeqCst);
        if !is_wanted {
            self.forget();
        }
    }

    /// Notes changes of what is not confirmed, too, from now on.
    pub fn widen(&self) {
        self.is_wide.store(true, Relaxed);
        fence(SeqCst);
    }

    /// Whether changes are noted.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Relaxed)
    }

    /// Notes a change that was made. Beyond the bound it is lost, and so is what waits. Whether it is of something confirmed is asked after
    /// the change can be seen.
    #[inline]
    pub fn add(&self, is_confirmed: impl FnOnce() -> bool, note: impl FnOnce() -> T) {
        fence(SeqCst);
        if self.is_wanted() && (is_confirmed() || self.has_spare_room()) {
            self.write(note());
        }
    }

    /// Whether changes of what is not confirmed are noted, too.
    pub fn is_wide(&self) -> bool {
        self.is_wide.load(Relaxed)
    }

    /// Whether there is room for what is not confirmed.
    fn has_spare_room(&self) -> bool {
        self.is_wide() && self.room() > self.room / 2
    }

    #[cold]
    fn write(&self, note: T) {
        if self.list().push(note).is_err() {
            self.lose();
        }
    }

    /// Says that changes were made that are not noted.
    pub fn lose(&self) {
        self.is_lost.store(true, Release);
    }

    /// How many notes have room still.
    pub fn room(&self) -> usize {
        self.list.get().map_or(self.room, |list| list.capacity() - list.len())
    }

    /// How many notes wait.
    pub fn len(&self) -> usize {
        self.list.get().map_or(0, ArrayQueue::len)
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes what has been noted until now, `most` notes at most. How many those were.
    ///
    /// # Errors
    /// Something was lost before: then all of it is worth nothing, and `each` is told nothing. What is lost meanwhile is said the next time.
    pub fn take(&self, most: usize, mut each: impl FnMut(T)) -> Result<usize, Overrun> {
        if self.is_lost() {
            self.forget();
            return Err(Overrun);
        }
        let Some(list) = self.list.get() else { return Ok(0) };
        // What comes meanwhile waits for the next time.
        Ok((0..list.len().min(most)).map_while(|_| list.pop()).map(&mut each).count())
    }

    /// Whether anything was lost since this was last said.
    pub fn is_lost(&self) -> bool {
        self.is_lost.load(Acquire)
    }

    /// Forgets what waits, and that anything was lost: all that is there is looked at anew.
    pub fn forget(&self) {
        if let Some(list) = self.list.get() {
            while list.pop().is_some() {}
        }
        self.is_lost.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, AtomicUsize};

    fn taken(notes: &Notes<u32>) -> (Vec<u32>, bool) {
        let mut all = Vec::new();
        let is_lost = notes.take(usize::MAX, |note| all.push(note)).is_err();
        (all, is_lost)
    }

    impl Notes<u32> {
        fn confirmed(&self, note: u32) {
            self.add(|| true, || note);
        }
    }

    /// Only what is wanted is noted, in its order; what was noted before is not told to who asks next.
    #[test]
    fn notes_are_for_who_asks() {
        let notes = Notes::new(4);
        notes.confirmed(1);
        assert_eq!(taken(&notes), (vec![], false));
        notes.want(true);
        (2..4).for_each(|note| notes.confirmed(note));
        assert_eq!((taken(&notes), taken(&notes)), ((vec![2, 3], false), (vec![], false)));
        (4..9).for_each(|note| notes.confirmed(note));
        notes.want(false);
        assert!(notes.is_empty() && !notes.is_lost());
        notes.want(true);
        assert_eq!(taken(&notes), (vec![], false));
        // Who asks anew looks at everything, also where none has said before that it wants no more.
        (9..14).for_each(|note| notes.confirmed(note));
        notes.want(true);
        assert_eq!(taken(&notes), (vec![], false));
    }

    /// A list that nothing has asked for takes no memory, also when it is said again that nothing does.
    #[test]
    fn what_is_not_wanted_takes_no_memory() {
        let notes = Notes::<u32>::new(4);
        notes.want(false);
        assert!(notes.list.get().is_none());
        notes.want(true);
        assert!(notes.list.get().is_some(), "before the first note");
    }

    /// Too many are said to be lost, once.
    #[test]
    fn too_many_are_lost() {
        let notes = Notes::new(4);
        notes.want(true);
        (0..4).for_each(|note| notes.confirmed(note));
        assert_eq!((notes.room(), taken(&notes).1), (0, false));
        (0..5).for_each(|note| notes.confirmed(note));
        assert_eq!((taken(&notes), taken(&notes)), ((vec![], true), (vec![], false)));
        notes.lose();
        assert_eq!((taken(&notes), taken(&notes).1), ((vec![], true), false));
    }

    /// No more is taken at once than is asked for; the rest waits in its order.
    #[test]
    fn what_is_taken_is_bounded() {
        let notes = Notes::new(8);
        notes.want(true);
        (0..5).for_each(|note| notes.confirmed(note));
        let mut first = Vec::new();
        assert_eq!(notes.take(2, |note| first.push(note)), Ok(2));
        assert_eq!((first, notes.len(), taken(&notes).0), (vec![0, 1], 3, vec![2, 3, 4]));
    }

    /// Who takes notes while others are written comes to an end.
    #[test]
    fn what_comes_meanwhile_waits() {
        let notes = Notes::new(8);
        notes.want(true);
        (0..3).for_each(|note| notes.confirmed(note));
        let taken_at_once = notes.take(100, |note| notes.confirmed(note + 10));
        assert_eq!((taken_at_once, taken(&notes).0), (Ok(3), vec![10, 11, 12]));
    }

    /// What is not confirmed is noted only in a wide list, and leaves half of it to what is.
    #[test]
    fn what_is_not_confirmed_has_half_the_room() {
        let notes = Notes::new(8);
        notes.want(true);
        let flood = || (0..20).for_each(|note| notes.add(|| false, || note));
        flood();
        assert_eq!(taken(&notes), (vec![], false));
        notes.widen();
        flood();
        (90..94).for_each(|note| notes.confirmed(note));
        assert_eq!(taken(&notes), (vec![0, 1, 2, 3, 90, 91, 92, 93], false));
        notes.want(true);
        flood();
        assert_eq!(taken(&notes), (vec![], false));
    }

    /// Who takes notes while threads change things knows the last state of each, unless it is told that something was lost.
    #[test]
    fn the_last_state_is_known() {
        const THINGS: usize = 8;
        let (notes, left) = (Notes::new(64), AtomicUsize::new(3));
        let things: [AtomicU32; THINGS] = Default::default();
        let mut known = [0; THINGS];
        notes.want(true);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for at in 0..3000 {
                        things[at % THINGS].fetch_add(1, Relaxed);
                        notes.add(|| true, || at % THINGS);
                    }
                    left.fetch_sub(1, SeqCst);
                });
            }
            loop {
                let is_last = left.load(SeqCst) == 0;
                if notes.take(7, |at| known[at] = things[at].load(Relaxed)).is_err() {
                    known = std::array::from_fn(|at| things[at].load(Relaxed));
                }
                if is_last && notes.is_empty() && !notes.is_lost() {
                    break;
                }
            }
        });
        assert_eq!(known, things.map(|thing| thing.load(Relaxed)));
    }
}
