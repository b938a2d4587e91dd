// A hundred bytes take a tenth of a second on the line, and arrive a second later.
InfiniteSource(LIMIT 20, LENGTH 100) -> q :: Queue -> l :: LinkUnqueue(1, 8kbps) -> d :: Discard;
// A line that only delays, of all that is there.
InfiniteSource(LIMIT 20, LENGTH 100) -> r :: Queue -> m :: LinkUnqueue(1, 0) -> e :: Discard;
Script(wait 0.95, print $(r.length) $(m.size) $(e.count) $(m.bandwidth), wait 0.2, stop);
//= 0 20 0 0
//? e.count
//= 20
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
