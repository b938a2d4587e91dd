//! How often readers and writers try to take a reader-writer lock until they have it: the thesis' Figures 12 and 14.
//!
//! The lock is one word, as Click's: an attempt reads it and changes it by one atomic operation, which fails if another thread changed it meanwhile or
//! holds the lock. It protects nothing: the table under it looks after itself.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The word of a lock that a writer holds; otherwise it is the number of readers.
const WRITER: u32 = u32::MAX;

/// A lock that counts attempts.
#[derive(Default)]
pub(crate) struct Word(AtomicU32);

impl Word {
    /// Takes the lock as a reader. Says how many attempts that took.
    pub(crate) fn read(&self) -> u64 {
        self.attempt(|held| (held != WRITER).then(|| held + 1))
    }

    /// Gives it back.
    pub(crate) fn end_read(&self) {
        self.0.fetch_sub(1, Release);
    }

    /// Takes it as a writer.
    pub(crate) fn write(&self) -> u64 {
        self.attempt(|held| (held == 0).then_some(WRITER))
    }

    /// Gives it back.
    pub(crate) fn end_write(&self) {
        self.0.store(0, Release);
    }

    fn attempt(&self, next: impl Fn(u32) -> Option<u32>) -> u64 {
        for attempts in 1u64.. {
            let held = self.0.load(Relaxed);
            if next(held).is_some_and(|next| self.0.compare_exchange(held, next, Acquire, Relaxed).is_ok()) {
                return attempts;
            }
            match attempts % 64 {
                // The holder may need this processor.
                0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
        unreachable!("u64 has no end that a thread would see")
    }
}

#[cfg(test)]
mod tests {
    use super::Word;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Alone the first attempt succeeds; with writers beside readers no section of a writer meets another.
    #[test]
    fn a_writer_is_alone() {
        let word = Word::default();
        assert_eq!((word.read(), word.read()), (1, 1));
        word.end_read();
        word.end_read();
        let inside = [AtomicU64::new(0), AtomicU64::new(0)];
        std::thread::scope(|scope| {
            for at in 0..4 {
                let (word, [readers, writers]) = (&word, &inside);
                scope.spawn(move || {
                    for _ in 0..2_000 {
                        if at == 0 {
                            assert!(word.write() > 0);
                            assert_eq!((writers.fetch_add(1, Relaxed), readers.load(Relaxed)), (0, 0));
                            writers.fetch_sub(1, Relaxed);
                            word.end_write();
                        } else {
                            assert!(word.read() > 0);
                            readers.fetch_add(1, Relaxed);
                            assert_eq!(writers.load(Relaxed), 0);
                            readers.fetch_sub(1, Relaxed);
                            word.end_read();
                        }
                    }
                });
            }
        });
    }
}
