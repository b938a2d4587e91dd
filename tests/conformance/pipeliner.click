// Packets are handed over to another worker, if there is one; what fits into the ring arrives in order.
//! workers 1
a :: InfiniteSource(DATA 1, LIMIT 2) -> p :: Pipeliner(BLOCKING true) -> c :: Counter -> Print -> d :: Discard;
InfiniteSource(LIMIT 8) -> q :: Pipeliner(8, DIRECT_TRAVERSAL false, NOUSELESS true) -> e :: Discard;
InfiniteSource(LIMIT 20, BURST 20) -> r :: Pipeliner(CAPACITY 16, DIRECT_TRAVERSAL false, ACTIVE false, VERBOSE false) -> f :: Discard;
Script(wait 1, write r.active true, wait 1, stop);
//= p :: Pipeliner : Pipeline from 0 to 0
//= config:3: While initializing 'p :: Pipeliner':
//=   warning: Useless Pipeliner element ! Packets on the input come from the same thread that the scheduling thread. If this is intended, set NOUSELESS to true but I seriously doubt that.
//= q :: Pipeliner : Pipeline from 0 to 0
//= r :: Pipeliner : Pipeline from 0 to 0
//= config:5: While initializing 'r :: Pipeliner':
//=   warning: Useless Pipeliner element ! Packets on the input come from the same thread that the scheduling thread. If this is intended, set NOUSELESS to true but I seriously doubt that.
//=    1 | 31
//=    1 | 31
//? d.count
//= 2
//? p.dropped
//= 0
//? e.count
//= 8
//? q.count
//= 8
//? r.dropped
//= 4
//? f.count
//= 16
//! then
InfiniteSource -> p :: Pipeliner(BLOCKING true, DIRECT_TRAVERSAL false) -> Discard;
//! error Possible deadlock ! Pipeliner is served by thread 0, and the same thread can push packets to it. As Pipeliner is in blocking mode without direct traversal, it could block trying to push a packet, preventing the very same thread to drain the queue.
//! then
Idle -> p :: Pipeliner(3) -> Discard;
//! error Pipeliner ring size must be at least 4
