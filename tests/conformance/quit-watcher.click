// The driver stops when one of the sources has nothing left to do.
s :: InfiniteSource(LIMIT 20) -> c :: Counter -> Discard; t :: RatedSource -> Discard; QuitWatcher(t, s);
//! workers 1
//? c.count
//= 20
