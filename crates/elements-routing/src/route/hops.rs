//! The next hops of a table: equal ones share an id, which is reused when nothing leads to it and no worker may hold it.

use super::target::{Forwarding, Target};
use lpm::{Routes, RoutesError};
use rcu::{Domain, Token, Turn};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The next hops.
pub(super) struct Hops<A: Send + Sync + 'static> {
    forwarding: Routes<Forwarding<A>>,
    books: Mutex<Books<A>>,
}

/// What only writers need.
struct Books<A> {
    ids: HashMap<Target<A>, Entry>,
    by_id: HashMap<u32, Target<A>>,
    /// Targets that no prefix leads to any more: a worker may have looked one up in its current turn, so each stays
    /// until a grace period has passed. Token, id, and which release of that id this was.
    waiting: VecDeque<(Token, u32, u64)>,
    releases: u64,
}

/// What is known of a target.
struct Entry {
    id: u32,
    /// Prefixes that lead to it.
    uses: usize,
    /// Its latest release, by number.
    release: u64,
}

impl<A: Copy + Eq + Hash + Send + Sync + 'static> Hops<A> {
    pub(super) fn new(domain: &'static Domain) -> Self {
        Self::over(Routes::new(domain))
    }

    fn over(forwarding: Routes<Forwarding<A>>) -> Self {
        let books =
            Books { ids: HashMap::new(), by_id: HashMap::new(), waiting: VecDeque::new(), releases: 0 };
        Hops { forwarding, books: Mutex::new(books) }
    }

    fn books(&self) -> MutexGuard<'_, Books<A>> {
        // A writer that panicked left the books whole: each change is made in the vector first, then entered.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where an id leads, for packets.
    #[inline]
    pub(super) fn read<'t>(&'t self, id: u32, turn: Turn<'t>) -> Option<&'t Forwarding<A>> {
        self.forwarding.get(id, turn)
    }

    /// The same, for writers.
    pub(super) fn target(&self, id: u32) -> Option<Target<A>> {
        self.books().by_id.get(&id).cloned()
    }

    /// The ids of targets, each with one more prefix that leads to it; all or none.
    ///
    /// # Errors
    /// [`RoutesError`].
    pub(super) fn intern_all<'a>(
        &self,
        targets: impl Iterator<Item = Option<&'a Target<A>>>,
    ) -> Result<Vec<Option<u32>>, RoutesError>
    where
        A: 'a,
    {
        let mut books = self.books();
        let mut ids = Vec::with_capacity(targets.size_hint().0);
        for target in targets {
            match target.map(|target| self.intern(&mut books, target)).transpose() {
                Ok(id) => ids.push(id),
                Err(error) => {
                    for id in ids.into_iter().flatten() {
                        self.release(&mut books, id);
                    }
                    return Err(error);
                }
            }
        }
        Ok(ids)
    }

    fn intern(&self, books: &mut Books<A>, target: &Target<A>) -> Result<u32, RoutesError> {
        if let Some(entry) = books.ids.get_mut(target) {
            entry.uses += 1;
            return Ok(entry.id);
        }
        self.reclaim(books);
        let id = self.forwarding.insert(Forwarding::to(target))?;
        books.ids.insert(target.clone(), Entry { id, uses: 1, release: 0 });
        books.by_id.insert(id, target.clone());
        Ok(id)
    }

    /// One prefix less leads to each of these ids.
    pub(super) fn release_all(&self, ids: impl IntoIterator<Item = u32>) {
        let mut books = self.books();
        for id in ids {
            self.release(&mut books, id);
        }
        self.reclaim(&mut books);
    }

    fn release(&self, books: &mut Books<A>, id: u32) {
        let Some(entry) = books.by_id.get(&id).and_then(|target| books.ids.get_mut(target)) else { return };
        entry.uses = entry.uses.saturating_sub(1);
        if entry.uses == 0 {
            books.releases += 1;
            entry.release = books.releases;
            books.waiting.push_back((Domain::global().start(), id, entry.release));
        }
    }

    /// Removes the targets whose grace period has passed and that did not come back meanwhile.
    fn reclaim(&self, books: &mut Books<A>) {
        while let Some(&(token, id, release)) = books.waiting.front()
            && Domain::global().poll(token)
        {
            books.waiting.pop_front();
            let Some(target) = books.by_id.get(&id) else { continue };
            let unused =
                books.ids.get(target).is_some_and(|entry| entry.uses == 0 && entry.release == release);
            // Under back-pressure the id stays, unused, and is found again when the same target comes back.
            if unused && self.forwarding.remove(id).is_ok() {
                books.ids.remove(target);
                books.by_id.remove(&id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::Hop;
    use super::*;

    /// What does not fit is refused as a whole, and leaves room for what does.
    #[test]
    fn a_full_vector_refuses_all_or_nothing() {
        let domain = Domain::global();
        let hops = Hops::over(Routes::with_limit(domain, 2));
        let target = |port| Target::One(Hop { gateway: 0u32, port });
        let intern = |ports: &[u32]| {
            let targets: Vec<_> = ports.iter().map(|&port| target(port)).collect();
            hops.intern_all(targets.iter().map(Some)).map(|ids| ids.into_iter().flatten().collect::<Vec<_>>())
        };
        let kept = intern(&[1]).expect("room");
        assert_eq!(intern(&[1, 2, 3]), Err(RoutesError::Full { limit: 2 }));
        domain.synchronize();
        // The 2 that was refused is free again at the latest when a grace period passed after its removal, too.
        hops.release_all([]);
        domain.synchronize();
        let both = intern(&[4, 1, 4]).expect("room");
        assert_eq!((both[0], both[1]), (both[2], kept[0]));
        assert_eq!(hops.target(both[0]), Some(target(4)));
        let guard = domain.guard();
        let hop = hops.read(kept[0], guard.turn()).and_then(|forwarding| forwarding.pick(|| 0));
        assert_eq!(hop.map(|hop| hop.port), Some(1));
    }
}
