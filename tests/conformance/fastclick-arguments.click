// What FastClick has added to the arguments of Click's elements.
InfiniteSource(LIMIT 20, BURST 20, HEADROOM 64) -> c :: Counter(NO_RATE true, BATCH_PRECISE true, ATOMIC 1) -> q :: ThreadSafeQueue(5, NOUSELESS true)
  -> u :: Unqueue(2, SIGNAL true) -> h :: HashSwitch(0, 4, MAX 1); h[0] -> a :: Discard; h[1] -> Discard;
// Sources wait for a queue that blocks, whatever its kind.
InfiniteSource(LIMIT 100) -> s :: SimpleQueue(4, BLOCKING true) -> Unqueue(1) -> b :: Discard;
RatedSource(RATE 10, LIMIT 3, HEADROOM 30) -> d :: Discard;
Script(wait 1, writeq s.config "6, true", stop);
//= q :: ThreadSafeQueue: overflow
//? c.count
//= 20
//? q.drops
//= 15
//? a.count
//= 5
//? s.drops
//= 0
//? b.count
//= 100
//? s.capacity
//= 6
//? d.count
//= 3
//! then
Idle -> NumberPacket(-1) -> Discard;
//! error Offset must be >= 0
//! then
InfiniteSource(LIMIT 3, STOP true) -> d :: DiscardNoFreeBuffer;
//? d.count
//= 3
