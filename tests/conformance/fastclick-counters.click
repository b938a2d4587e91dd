// FastClick's counters for several threads are the counters that there are.
InfiniteSource(LENGTH 10, LIMIT 3) -> a :: CounterMP -> b :: CounterRCU -> c :: CounterRCUMP -> d :: CounterAtomic
  -> e :: AverageCounterMP -> f :: AverageCounterIMP -> Discard;
Script(wait 0.1, stop);
//? a.count
//= 3
//? b.byte_count
//= 30
//? c.count
//= 3
//? d.count
//= 3
//? e.count
//= 3
//? f.count
//= 3
