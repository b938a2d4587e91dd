//! A growable vector of values under ids: next hops, each with a gateway and a port.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock};

use rcu::{Account, Domain, OptionCell, Token, Turn, Updater, Weigh};

/// Slots of a segment.
const SEGMENT: usize = 1 << 10;

/// A segment of slots, which never moves.
type Segment<T> = Box<[OptionCell<T>]>;

/// Values under `u32` ids, read without locks while they change; the next hops of a
/// [`Table`](crate::Table).
///
/// An id that was removed is handed out again only after a grace period, so that a reader which got it from a
/// table before it was withdrawn finds the old value or nothing, never the value of another route.
pub struct Routes<T: Send + Sync + 'static> {
    segments: Box<[OnceLock<Segment<T>>]>,
    ids: Mutex<Ids>,
    domain: &'static Domain,
    /// One at a time: the caller holds `ids`.
    updater: Mutex<Updater>,
    limit: u32,
}

/// Values during a turn, see [`Routes::view`]. Where the first ids are is found out once; that is where most tables have all.
pub struct View<'t, T: Send + Sync + 'static> {
    first: &'t [OptionCell<T>],
    routes: &'t Routes<T>,
    turn: Turn<'t>,
}

impl<'t, T: Send + Sync + 'static> View<'t, T> {
    /// The value under `id`, for the rest of the turn.
    #[inline]
    pub fn get(&self, id: u32) -> Option<&'t T> {
        match self.first.get(id as usize) {
            Some(slot) => slot.read(self.turn),
            None => self.elsewhere(id),
        }
    }

    #[inline(never)] // the loop is for the first ids
    fn elsewhere(&self, id: u32) -> Option<&'t T> {
        self.routes.slot(id)?.read(self.turn)
    }
}

/// The writer's bookkeeping.
struct Ids {
    /// Ids below this one have been handed out at least once.
    fresh: u32,
    used: u32,
    free: Vec<u32>,
    /// Removed ids in the order of their grace periods.
    waiting: VecDeque<(Token, u32)>,
    /// What those take.
    account: Account,
}

/// Why a change was refused. The vector is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutesError {
    /// All ids are in use, or wait for a grace period.
    Full {
        /// The greatest number of values.
        limit: u32,
    },
    /// Too much memory waits to be reclaimed; try again later.
    Backpressure,
}

impl fmt::Display for RoutesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { limit } => write!(f, "route vector full ({limit} entries)"),
            Self::Backpressure => f.write_str("too many replaced routes wait for a grace period"),
        }
    }
}

impl std::error::Error for RoutesError {}

impl<T: Send + Sync + 'static> Routes<T> {
    fn slot(&self, id: u32) -> Option<&OptionCell<T>> {
        self.segments.get(id as usize / SEGMENT)?.get()?.get(id as usize % SEGMENT)
    }
}

impl<T: Weigh + Send + Sync + 'static> Routes<T> {
    /// The limit that [`Routes::new`] sets: 2^22 values.
    pub const DEFAULT_LIMIT: u32 = 1 << 22;

    /// An empty vector whose readers belong to `domain`.
    pub fn new(domain: &'static Domain) -> Self {
        Self::with_limit(domain, Self::DEFAULT_LIMIT)
    }

    /// An empty vector of at most `limit` values.
    pub fn with_limit(domain: &'static Domain, limit: u32) -> Self {
        let segments = (0..(limit as usize).div_ceil(SEGMENT)).map(|_| OnceLock::new()).collect();
        Self {
            segments,
            ids: Mutex::new(Ids::new(domain)),
            domain,
            updater: Mutex::new(domain.updater()),
            limit,
        }
    }

    /// The value under `id`, for the rest of the turn.
    #[inline]
    pub fn get<'t>(&'t self, id: u32, turn: Turn<'t>) -> Option<&'t T> {
        self.slot(id)?.read(turn)
    }

    /// The values during a turn, for many ids one after the other.
    #[inline]
    pub fn view<'t>(&'t self, turn: Turn<'t>) -> View<'t, T> {
        let first = self.segments.first().and_then(OnceLock::get);
        View { first: first.map_or(&[], |first| first), routes: self, turn }
    }

    /// Stores a value under a new id.
    ///
    /// # Errors
    /// [`RoutesError`]; nothing has changed then.
    pub fn insert(&self, value: T) -> Result<u32, RoutesError> {
        let mut ids = self.lock();
        ids.reclaim(self.domain);
        let recycled = ids.free.last().copied();
        let id = recycled.unwrap_or(ids.fresh);
        if id >= self.limit {
            return Err(RoutesError::Full { limit: self.limit });
        }
        self.segment(id).get_or_init(|| (0..SEGMENT).map(|_| OptionCell::new(None)).collect());
        self.put(id, Some(value))?;
        match recycled {
            Some(_) => drop(ids.free.pop()),
            None => ids.fresh += 1,
        }
        ids.used += 1;
        Ok(id)
    }

    /// Replaces the value under `id`; false if there is none.
    ///
    /// # Errors
    /// [`RoutesError::Backpressure`]; nothing has changed then.
    pub fn set(&self, id: u32, value: T) -> Result<bool, RoutesError> {
        let _ids = self.lock();
        let present = self.present(id);
        if present {
            self.put(id, Some(value))?;
        }
        Ok(present)
    }

    /// Removes the value under `id`; false if there is none. First withdraw the prefixes that lead to it.
    ///
    /// # Errors
    /// [`RoutesError::Backpressure`]; nothing has changed then.
    pub fn remove(&self, id: u32) -> Result<bool, RoutesError> {
        let mut ids = self.lock();
        if !self.present(id) {
            return Ok(false);
        }
        self.put(id, None)?;
        ids.used -= 1;
        ids.waiting.push_back((self.domain.start(), id));
        ids.weigh();
        Ok(true)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.lock().used as usize
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn segment(&self, id: u32) -> &OnceLock<Segment<T>> {
        &self.segments[id as usize / SEGMENT]
    }

    /// Whether `id` has a value. Only writers change that, so the writer needs no more than a moment's guard.
    fn present(&self, id: u32) -> bool {
        let guard = self.domain.guard();
        self.slot(id).is_some_and(|slot| slot.read(guard.turn()).is_some())
    }

    fn put(&self, id: u32, value: Option<T>) -> Result<(), RoutesError> {
        match self.slot(id) {
            Some(slot) => {
                let updater = self.updater.lock().expect("nothing panics with this lock");
                slot.replace(value.map(Box::new), &*updater).map_err(|_| RoutesError::Backpressure)
            }
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().expect("a panic inside a change is a defect of the vector itself")
    }
}

impl Ids {
    fn new(domain: &Domain) -> Self {
        let account = domain.account("ids");
        Self { fresh: 0, used: 0, free: Vec::new(), waiting: VecDeque::new(), account }
    }

    fn weigh(&mut self) {
        self.account.set(self.waiting.len() * size_of::<(Token, u32)>());
    }

    /// Makes the ids whose grace periods have passed free again.
    fn reclaim(&mut self, domain: &Domain) {
        while let Some(&(token, id)) = self.waiting.front()
            && domain.poll(token)
        {
            self.waiting.pop_front();
            self.free.push(id);
            self.weigh();
        }
    }
}

impl<T: Weigh + Send + Sync + 'static> fmt::Debug for Routes<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes").field("len", &self.len()).field("limit", &self.limit).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_reused_only_after_a_grace_period() {
        let domain = Domain::global();
        let routes = Routes::with_limit(domain, 1);
        let id = routes.insert("first").unwrap();
        {
            let guard = domain.guard();
            let held = routes.get(id, guard.turn());
            assert_eq!(routes.remove(id), Ok(true));
            assert_eq!(routes.insert("early"), Err(RoutesError::Full { limit: 1 }));
            assert_eq!(routes.get(id, guard.turn()), None);
            assert_eq!(held, Some(&"first"));
        }
        domain.synchronize();
        assert_eq!(routes.insert("second"), Ok(id));
        assert_eq!(routes.get(id, domain.guard().turn()), Some(&"second"));
    }

    /// A view that was made while the vector was empty finds what is inserted in its turn.
    #[test]
    fn a_view_sees_changes_of_its_turn() {
        let domain = Domain::global();
        let routes = Routes::new(domain);
        let guard = domain.guard();
        let view = routes.view(guard.turn());
        assert_eq!(view.get(0), None);
        let id = routes.insert("first").unwrap();
        assert_eq!((id, view.get(id)), (0, Some(&"first")));
        assert_eq!(routes.set(id, "second"), Ok(true));
        assert_eq!(view.get(id), Some(&"second"));
    }

    #[test]
    fn a_million_values_fit_and_absent_ids_are_nothing() {
        let domain = Domain::global();
        let routes = Routes::new(domain);
        for value in 0..1u32 << 20 {
            assert_eq!(routes.insert(value), Ok(value));
        }
        let guard = domain.guard();
        assert_eq!(routes.get(1 << 19, guard.turn()), Some(&(1 << 19)));
        let view = routes.view(guard.turn());
        for id in [0, SEGMENT as u32 - 1, SEGMENT as u32, 1 << 19] {
            assert_eq!(view.get(id), Some(&id));
        }
        for absent in [1 << 20, u32::MAX] {
            assert_eq!(routes.get(absent, guard.turn()), None);
            assert_eq!(routes.view(guard.turn()).get(absent), None);
            assert_eq!((routes.set(absent, 0), routes.remove(absent)), (Ok(false), Ok(false)));
        }
        assert_eq!(routes.len(), 1 << 20);
    }
}
