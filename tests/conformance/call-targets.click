// Handlers that are to be called one day are looked for at the start; the first element that lacks one says so.
Idle -> c :: Counter(COUNT_CALL 3 nobody.reset) -> Discard; InfiniteSource(END_CALL nothing) -> Discard;
//! error While initializing 'c :: Counter':
//! error no element named 'nobody'
//! then
Idle -> Counter(COUNT_CALL 1 reset) -> Counter(BYTE_COUNT_CALL 9 c.count) -> c :: Counter -> Discard;
//! error no 'c.count' write handler
//! then
Idle -> AggregateCounter(COUNT_CALL 5 c.bytes) -> c :: Counter -> Discard;
//! error no 'c.bytes' write handler
//! then
Idle -> TimeFilter(END_CALL c.time) -> c :: Counter -> Discard;
//! error no 'c.time' write handler
//! then
InfiniteSource(END_CALL nothing) -> Discard;
//! error no 'nothing' write handler
//! then
RatedSource(END_CALL d.fetch) -> d :: Discard;
//! error no 'd.fetch' write handler
//! then
// An element's own handlers need no name, those of the router may have a dot.
InfiniteSource(LIMIT 7) -> c :: Counter(COUNT_CALL 5 reset) -> Discard;
Script(wait 1, write c.count_call 3 c.nothing, write c.count_call 3 nobody.reset, write .stop);
//= While executing 'Script@4 :: Script':
//=   While calling 'c.count_call 3 c.nothing':
//=     no 'c.nothing' write handler
//=   While calling 'c.count_call 3 nobody.reset':
//=     no element named 'nobody'
//? c.count
//= 2
