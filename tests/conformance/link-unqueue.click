// A hundred bytes take a tenth of a second on the line, and arrive a second later.
InfiniteSource(LIMIT 20, LENGTH 100) -> q :: Queue -> l :: LinkUnqueue(1, 8kbps) -> d :: Discard;
Script(wait 1.15, stop);
//? q.length
//= 8
//? l.size
//= 11
//? d.count
//= 1
//? l.latency
//= 1.000000s
//? l.bandwidth
//= 1000
