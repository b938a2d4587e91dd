// What is on an emulated line counts as stored: for RED, PI and CoDel that are told so.
InfiniteSource(LIMIT 20, LENGTH 100) -> Queue -> l :: LinkUnqueue(1, 8kbps) -> Discard;
Idle -> r :: RED(5, 50, 0.5, QUEUES l) -> Discard;
Idle -> p :: PI(0.13, 1, 1, 5, l) -> Discard;
Idle -> Queue -> c :: CoDel(TARGET 5ms, INTERVAL 100ms, QUEUES l) -> Unqueue -> Discard;
Script(wait 1.15, stop);
//? l.size
//= 11
//? r.queues
//= l
//? p.stats
//= 11 current queue
//= 2.751 avg queue
//= 0 drops
//? c.queues
//= l
