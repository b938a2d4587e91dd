// Unqueue2 waits for room; RoundRobinUnqueue keeps ways apart.
InfiniteSource(LIMIT 50, BURST 50) -> a :: Queue -> u :: Unqueue2(0, QUEUES b, QUIET true) -> b :: Queue(10) -> Idle;
r :: RoundRobinUnqueue; InfiniteSource(LIMIT 5) -> Queue -> r -> c :: Counter -> Discard; InfiniteSource(LIMIT 7) -> Queue -> [1] r [1] -> d :: Counter -> Discard;
Script(wait 1, stop);
//? a.length
//= 40
//? b.drops
//= 0
//? u.packets
//= 10 packets
//? c.count
//= 5
//? d.count
//= 7
//? r.packets
//= 12 packets
