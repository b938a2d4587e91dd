// Over the upper threshold everything is dropped, at output 1.
InfiniteSource(LIMIT 100) -> r :: RED(10, 20, 0, STABILITY 0, GENTLE false) -> q :: Queue(100) -> Idle;
r[1] -> d :: Discard;
Script(wait 1, stop);
//? q.length
//= 21
//? d.count
//= 79
//? r.queues
//= q
//? r.stats
//= 21 current queue
//= 21 avg queue
//= 79 drops
//? r.config
//= 10, 20, 0, QUEUES q, STABILITY 0, GENTLE false
