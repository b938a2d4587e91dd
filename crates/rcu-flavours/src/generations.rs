//! Garbage that waits for two boundaries.
//!
//! A boundary means that every reader has been quiescent since the previous boundary. Garbage is retired at some time
//! between two boundaries; a reader may have been quiescent *before* that and still count for the next boundary. So the
//! next boundary does not free it, and the one after does: between these two, every reader has been quiescent.

use crate::garbage::Garbage;

/// Two generations of garbage, told apart by the boundary that each came in after.
///
/// Two are enough, however late the reclaimer is: garbage from before the last boundary is one generation, which
/// waits for as long as its youngest member has to.
#[derive(Debug, Default)]
pub(crate) struct Generations {
    /// What came in after boundary `boundary`, and waits for two more.
    later: Vec<Garbage>,
    /// What came in before it.
    now: Vec<Garbage>,
    boundary: u64,
}

impl Generations {
    /// Adds something that was unlinked before boundary `boundary + 1`.
    pub(crate) fn push(&mut self, boundary: u64, garbage: Garbage) {
        self.age(boundary);
        self.later.push(garbage);
    }

    /// Takes what has waited for two boundaries, now that `boundary` is the last. It is for the caller to drop it,
    /// once it holds no lock that a callback may want.
    #[must_use]
    pub(crate) fn take(&mut self, boundary: u64) -> Vec<Garbage> {
        let mut ready = Vec::new();
        // What came in after boundary b has waited for b + 1 and b + 2.
        if boundary >= self.boundary + 2 {
            ready.append(&mut self.now);
            ready.append(&mut self.later);
        } else if boundary > self.boundary {
            ready.append(&mut self.now);
        }
        self.age(boundary);
        ready
    }

    /// Lets the generations move up if there was a boundary since the last call.
    fn age(&mut self, boundary: u64) {
        if boundary > self.boundary {
            self.now.append(&mut self.later);
            self.boundary = boundary;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.later.is_empty() && self.now.is_empty()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Whatever is pushed and taken at whatever boundaries, nothing is handed out before it has waited for two.
    #[test]
    fn nothing_is_ready_before_two_boundaries() {
        let ready = Arc::new(Mutex::new(Vec::new()));
        let garbage = |name| {
            let ready = ready.clone();
            Garbage::from_fn(0, move || ready.lock().unwrap().push(name))
        };
        let mut generations = Generations::default();
        let take = |generations: &mut Generations, boundary| {
            drop(generations.take(boundary));
            std::mem::take(&mut *ready.lock().unwrap())
        };
        generations.push(5, garbage("a"));
        assert!(take(&mut generations, 5).is_empty());
        assert!(take(&mut generations, 6).is_empty(), "one boundary is not enough");
        generations.push(6, garbage("b"));
        assert_eq!(take(&mut generations, 7), ["a"]);
        // A reclaimer that sleeps through boundaries finds all that has waited long enough, in order.
        generations.push(7, garbage("c"));
        assert_eq!(take(&mut generations, 9), ["b", "c"]);
        // Pushes alone move the generations up as well, and the older waits with the younger.
        generations.push(9, garbage("d"));
        generations.push(10, garbage("e"));
        generations.push(11, garbage("f"));
        assert_eq!(take(&mut generations, 12), ["d", "e"]);
        assert_eq!(take(&mut generations, 13), ["f"]);
        assert!(generations.is_empty());
    }
}
