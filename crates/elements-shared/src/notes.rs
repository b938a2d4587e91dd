//! What has changed in a table, for a copy of it at another node: a bounded list that workers write without a lock.
//!
//! A note says only that something is new, has changed or is gone; who reads it looks at what is true then. So each change is made first
//! and noted afterwards, and whatever order two workers' notes come in, the last one of a thing tells its last state.

use crossbeam_queue::ArrayQueue;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, fence};

/// The list. It takes memory once it is wanted for the first time.
pub struct Notes<T> {
    room: usize,
    is_wanted: AtomicBool,
    is_lost: AtomicBool,
    list: OnceLock<ArrayQueue<T>>,
}

impl<T> Notes<T> {
    /// A list of at most so many notes, which nothing asks for yet.
    pub const fn new(room: usize) -> Notes<T> {
        Notes {
            room,
            is_wanted: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            list: OnceLock::new(),
        }
    }

    fn list(&self) -> &ArrayQueue<T> {
        self.list.get_or_init(|| ArrayQueue::new(self.room.max(1)))
    }

    /// Says whether changes are noted from now on. What waits is forgotten.
    pub fn want(&self, is_wanted: bool) {
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

    /// Whether changes are noted.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Relaxed)
    }

    /// Notes a change that was made. Beyond the bound it is lost, and so is what waits.
    #[inline]
    pub fn add(&self, note: impl FnOnce() -> T) {
        fence(SeqCst);
        if self.is_wanted() {
            self.write(note());
        }
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

    /// Takes what has been noted until now. Whether anything was lost before: then all of it is worth nothing, and `each` is told nothing.
    /// What is lost meanwhile is said the next time.
    pub fn take(&self, mut each: impl FnMut(T)) -> bool {
        if self.is_lost() {
            self.forget();
            return true;
        }
        if let Some(list) = self.list.get() {
            // What comes meanwhile waits for the next time.
            (0..list.len()).map_while(|_| list.pop()).for_each(&mut each);
        }
        false
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
        let is_lost = notes.take(|note| all.push(note));
        (all, is_lost)
    }

    /// Only what is wanted is noted, in its order; what was noted before is not told to who asks next.
    #[test]
    fn notes_are_for_who_asks() {
        let notes = Notes::new(4);
        notes.add(|| 1);
        assert_eq!(taken(&notes), (vec![], false));
        notes.want(true);
        (2..4).for_each(|note| notes.add(|| note));
        assert_eq!((taken(&notes), taken(&notes)), ((vec![2, 3], false), (vec![], false)));
        (4..9).for_each(|note| notes.add(|| note));
        notes.want(false);
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
        (0..4).for_each(|note| notes.add(|| note));
        assert_eq!((notes.room(), taken(&notes).1), (0, false));
        (0..5).for_each(|note| notes.add(|| note));
        assert_eq!((taken(&notes), taken(&notes)), ((vec![], true), (vec![], false)));
        notes.lose();
        assert_eq!((taken(&notes), taken(&notes).1), ((vec![], true), false));
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
                        notes.add(|| at % THINGS);
                    }
                    left.fetch_sub(1, SeqCst);
                });
            }
            loop {
                let is_last = left.load(SeqCst) == 0;
                if notes.take(|at| known[at] = things[at].load(Relaxed)) {
                    known = std::array::from_fn(|at| things[at].load(Relaxed));
                }
                if is_last {
                    break;
                }
            }
        });
        assert_eq!(known, things.map(|thing| thing.load(Relaxed)));
    }
}
