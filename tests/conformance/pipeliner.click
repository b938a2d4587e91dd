// Packets are handed over to another worker, if there is one; what fits into the ring arrives in order.
a :: InfiniteSource(DATA 1, LIMIT 2) -> p :: Pipeliner(BLOCKING true) -> c :: Counter -> Print -> d :: Discard;
InfiniteSource(LIMIT 100) -> q :: Pipeliner(8, BLOCKING true, DIRECT_TRAVERSAL false) -> e :: Discard;
InfiniteSource(LIMIT 20, BURST 20) -> r :: Pipeliner(CAPACITY 16, DIRECT_TRAVERSAL false, ACTIVE false, VERBOSE false) -> f :: Discard;
StaticThreadSched(p 0/1);
Script(wait 1, write r.active true, wait 1, stop);
//=    1 | 31
//=    1 | 31
//? d.count
//= 2
//? p.dropped
//= 0
//? e.count
//= 100
//? q.count
//= 100
//? r.dropped
//= 4
//? f.count
//= 16
