//! The next hops of a table, each under an id that prefixes lead to. An id is reused when nothing leads to it, no number names it, and
//! no worker may hold it.
//!
//! There are two kinds. Those of commands and files are shared: equal ones have one id. Those that a feed announces are objects: they
//! change while prefixes lead to them, each by one store, however many these are.

use super::family::Family;
use super::near::Near;
use super::target::{Forwarding, Target};
use lpm::{Routes, RoutesError, View};
use rcu::{Domain, Token, Turn};
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The next hops.
pub(super) struct Hops<F: Family> {
    forwarding: Routes<Forwarding<F>>,
    near: Near<F>,
    books: Mutex<Books<F>>,
}

/// Whose a next hop is, and so the routes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    /// The source of routes, by its number in the table.
    pub(super) origin: u16,
    /// The feed that announced it; 0 for those of commands, files, and tables of before a swap.
    pub(super) feed: u32,
}

/// What only writers need.
struct Books<F: Family> {
    /// By id.
    entries: Vec<Option<Entry<F>>>,
    /// The ids of those that are shared, by origin and target.
    shared: HashMap<(u16, Target<F::Gateway>), u32>,
    /// Targets that no prefix leads to any more: a worker may have looked one up in its current turn, so each stays
    /// until a grace period has passed. Token, id, and which release of that id this was.
    waiting: VecDeque<(Token, u32, u64)>,
    releases: u64,
}

/// What is known of an id.
struct Entry<F: Family> {
    target: Target<F::Gateway>,
    owner: Owner,
    /// Prefixes that lead to it.
    uses: usize,
    /// Whether a feed has a number for it.
    held: bool,
    /// Its latest release, by number.
    release: u64,
}

impl<F: Family> Books<F> {
    fn get(&self, id: u32) -> Option<&Entry<F>> {
        self.entries.get(id as usize)?.as_ref()
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Entry<F>> {
        self.entries.get_mut(id as usize)?.as_mut()
    }

    fn enter(&mut self, id: u32, entry: Entry<F>) {
        if self.entries.len() <= id as usize {
            self.entries.resize_with(id as usize + 1, || None);
        }
        self.entries[id as usize] = Some(entry);
    }

    /// One prefix less leads to an id.
    fn release(&mut self, id: u32) {
        let Some(entry) = self.get_mut(id) else { return };
        entry.uses = entry.uses.saturating_sub(1);
        self.retire(id);
    }

    /// Notes that an id may go, if it may.
    fn retire(&mut self, id: u32) {
        let release = self.releases + 1;
        let Some(entry) = self.get_mut(id).filter(|entry| entry.uses == 0 && !entry.held) else { return };
        entry.release = release;
        self.releases = release;
        self.waiting.push_back((Domain::global().start(), id, release));
    }
}

impl<F: Family> Hops<F> {
    pub(super) fn new(domain: &'static Domain) -> Self {
        Self::over(Routes::new(domain))
    }

    fn over(forwarding: Routes<Forwarding<F>>) -> Self {
        let books =
            Books { entries: Vec::new(), shared: HashMap::new(), waiting: VecDeque::new(), releases: 0 };
        Hops { forwarding, near: Near::new(), books: Mutex::new(books) }
    }

    fn books(&self) -> MutexGuard<'_, Books<F>> {
        // A writer that panicked left the books whole: each change is made in the vector first, then entered.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where an id leads, for packets.
    #[inline]
    pub(super) fn read<'t>(&'t self, id: u32, turn: Turn<'t>) -> Option<&'t Forwarding<F>> {
        self.forwarding.get(id, turn)
    }

    /// The same for many ids one after the other.
    #[inline]
    pub(super) fn view<'t>(&'t self, turn: Turn<'t>) -> View<'t, Forwarding<F>> {
        self.forwarding.view(turn)
    }

    /// Most next hops, without the way through memory.
    #[inline]
    pub(super) fn near(&self) -> &Near<F> {
        &self.near
    }

    /// The same, for writers.
    pub(super) fn target(&self, id: u32) -> Option<Target<F::Gateway>> {
        self.books().get(id).map(|entry| entry.target.clone())
    }

    /// Whose an id is.
    pub(super) fn owner(&self, id: u32) -> Option<Owner> {
        self.books().get(id).map(|entry| entry.owner)
    }

    /// How many prefixes lead to an id.
    pub(super) fn uses(&self, id: u32) -> usize {
        self.books().get(id).map_or(0, |entry| entry.uses)
    }

    /// The ids of targets of one origin, each with one more prefix that leads to it; all or none.
    ///
    /// # Errors
    /// [`RoutesError`].
    pub(super) fn intern_all<'a>(
        &self,
        origin: u16,
        targets: impl Iterator<Item = Option<&'a Target<F::Gateway>>>,
    ) -> Result<Vec<Option<u32>>, RoutesError> {
        let mut books = self.books();
        let mut ids = Vec::with_capacity(targets.size_hint().0);
        for target in targets {
            match target.map(|target| self.intern(&mut books, origin, target)).transpose() {
                Ok(id) => ids.push(id),
                Err(error) => {
                    ids.into_iter().flatten().for_each(|id| books.release(id));
                    return Err(error);
                }
            }
        }
        Ok(ids)
    }

    fn intern(
        &self,
        books: &mut Books<F>,
        origin: u16,
        target: &Target<F::Gateway>,
    ) -> Result<u32, RoutesError> {
        let key = (origin, target.clone());
        if let Some(&id) = books.shared.get(&key) {
            if let Some(entry) = books.get_mut(id) {
                entry.uses += 1;
            }
            return Ok(id);
        }
        self.reclaim(books);
        let id = self.insert(target)?;
        let (target, owner) = (target.clone(), Owner { origin, feed: 0 });
        books.enter(id, Entry { target, owner, uses: 1, held: false, release: 0 });
        books.shared.insert(key, id);
        Ok(id)
    }

    /// Stores a target under a new id.
    fn insert(&self, target: &Target<F::Gateway>) -> Result<u32, RoutesError> {
        let id = self.forwarding.insert(Forwarding::to(target))?;
        self.near.set(id, &Forwarding::to(target));
        Ok(id)
    }

    /// Makes an object, to which nothing leads yet, and which stays until it is [let go](Hops::let_go).
    ///
    /// # Errors
    /// [`RoutesError`].
    pub(super) fn announce(&self, owner: Owner, target: Target<F::Gateway>) -> Result<u32, RoutesError> {
        let mut books = self.books();
        self.reclaim(&mut books);
        let id = self.insert(&target)?;
        books.enter(id, Entry { target, owner, uses: 0, held: true, release: 0 });
        Ok(id)
    }

    /// Has an object lead elsewhere, with all prefixes that lead to it.
    ///
    /// # Errors
    /// [`RoutesError::Backpressure`]; nothing has changed then.
    pub(super) fn replace(&self, id: u32, target: Target<F::Gateway>) -> Result<(), RoutesError> {
        let mut books = self.books();
        if self.forwarding.set(id, Forwarding::to(&target))? {
            self.near.set(id, &Forwarding::to(&target));
        }
        if let Some(entry) = books.get_mut(id) {
            entry.target = target;
        }
        Ok(())
    }

    /// No number names an object any more: it goes when nothing leads to it.
    pub(super) fn let_go(&self, id: u32) {
        let mut books = self.books();
        if let Some(entry) = books.get_mut(id) {
            entry.held = false;
            books.retire(id);
        }
    }

    /// Prefixes lead from some ids to others.
    pub(super) fn moved(&self, moves: impl IntoIterator<Item = (Option<u32>, Option<u32>)>) {
        let mut books = self.books();
        for (from, to) in moves.into_iter().filter(|(from, to)| from != to) {
            if let Some(entry) = to.and_then(|id| books.get_mut(id)) {
                entry.uses += 1;
            }
            if let Some(id) = from {
                books.release(id);
            }
        }
        self.reclaim(&mut books);
    }

    /// One prefix less leads to each of these ids.
    pub(super) fn release_all(&self, ids: impl IntoIterator<Item = u32>) {
        let mut books = self.books();
        ids.into_iter().for_each(|id| books.release(id));
        self.reclaim(&mut books);
    }

    /// Of routes, those to the ids of whose owners this is true.
    pub(super) fn owned<K>(&self, routes: Vec<(K, u32)>, by: impl Fn(Owner) -> bool) -> Vec<K> {
        let books = self.books();
        let of = |id| books.get(id).is_some_and(|entry| by(entry.owner));
        routes.into_iter().filter(|&(_, id)| of(id)).map(|(key, _)| key).collect()
    }

    /// Removes the targets whose grace period has passed and that did not come back meanwhile.
    fn reclaim(&self, books: &mut Books<F>) {
        while let Some(&(token, id, release)) = books.waiting.front()
            && Domain::global().poll(token)
        {
            books.waiting.pop_front();
            let unused = |entry: &&Entry<F>| entry.uses == 0 && !entry.held && entry.release == release;
            let Some(entry) = books.get(id).filter(unused) else { continue };
            let key = (entry.owner.origin, entry.target.clone());
            match self.forwarding.remove(id) {
                Ok(_) => {
                    self.near.clear(id);
                    books.entries[id as usize] = None;
                    if books.shared.get(&key) == Some(&id) {
                        books.shared.remove(&key);
                    }
                }
                // Under back-pressure the id stays, unused: it is tried again later.
                Err(_) => {
                    books.retire(id);
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::{Gateway4, V4};
    use super::super::target::Hop;
    use super::*;
    use std::net::Ipv4Addr;

    /// The word of an id says where it leads, whatever that becomes, and goes with it.
    #[test]
    fn words_follow_their_next_hops() {
        let hops = Hops::<V4>::new(Domain::global());
        let to = |last| Ipv4Addr::new(192, 0, 2, last);
        let target = |last| Target::One(Hop { gateway: Gateway4::Near(to(last)), port: 1 });
        let id = hops.announce(Owner { origin: 1, feed: 1 }, target(1)).expect("room");
        let word = || hops.near().words().get(id).map(|hop| hop.gateway);
        assert_eq!(word(), Some(to(1)));
        for (next, expected) in [(target(2), Some(to(2))), (Target::Nowhere, None), (target(3), Some(to(3)))]
        {
            hops.replace(id, next).expect("room");
            assert_eq!(word(), expected);
        }
        hops.let_go(id);
        Domain::global().synchronize();
        hops.release_all([]);
        assert_eq!(word(), None);
    }

    /// What does not fit is refused as a whole, and leaves room for what does.
    #[test]
    fn a_full_vector_refuses_all_or_nothing() {
        let domain = Domain::global();
        let hops = Hops::<V4>::over(Routes::with_limit(domain, 2));
        let target = |port| Target::One(Hop { gateway: Gateway4::Near(Ipv4Addr::UNSPECIFIED), port });
        let intern = |ports: &[u32]| {
            let targets: Vec<_> = ports.iter().map(|&port| target(port)).collect();
            let ids = hops.intern_all(0, targets.iter().map(Some));
            ids.map(|ids| ids.into_iter().flatten().collect::<Vec<_>>())
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

    /// An object stays while a number names it, though nothing leads to it, and its id is reused a grace period after both ended.
    #[test]
    fn an_object_is_held_by_its_number() {
        let domain = Domain::global();
        let hops = Hops::<V4>::over(Routes::with_limit(domain, 1));
        let target = |port| Target::One(Hop { gateway: Gateway4::Near(Ipv4Addr::UNSPECIFIED), port });
        let owner = Owner { origin: 1, feed: 1 };
        let id = hops.announce(owner, target(1)).expect("room");
        hops.moved([(None, Some(id))]);
        hops.moved([(Some(id), None)]);
        domain.synchronize();
        hops.release_all([]);
        assert_eq!((hops.target(id), hops.uses(id)), (Some(target(1)), 0));
        hops.replace(id, target(2)).expect("room");
        assert_eq!((hops.target(id), hops.owner(id)), (Some(target(2)), Some(owner)));
        hops.let_go(id);
        domain.synchronize();
        hops.release_all([]);
        domain.synchronize();
        assert_eq!(hops.target(id), None);
        assert_eq!(hops.announce(owner, target(3)), Ok(id));
    }
}
