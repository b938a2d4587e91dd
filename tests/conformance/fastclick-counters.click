// FastClick's counters for several threads are the counters that there are.
InfiniteSource(LENGTH 10, LIMIT 3) -> a :: CounterMP -> b :: CounterRCU -> c :: CounterRCUMP -> d :: CounterAtomic
  -> e :: AverageCounterMP -> f :: AverageCounterIMP -> Discard;
InfiniteSource(LENGTH 10, LIMIT 2) -> g :: CounterFile($DIR/counts, BATCH_PRECISE true) -> Discard;
InfiniteSource(LENGTH 10, LIMIT 2) -> h :: CounterFile($DIR/other) -> Queue -> i :: CounterFile($DIR/third) -> Discard;
Script(wait 0.1, write h.reset, stop);
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
//? g.count
//= 2
//? g.byte_count
//= 20
//? h.count
//= 0
//? i.byte_count
//= 20
//! then
// Counts go on where the file has them.
InfiniteSource(LENGTH 5, LIMIT 1) -> g :: CounterFile($DIR/counts) -> Discard; Script(wait 0.1, stop);
//? g.count
//= 3
//? g.byte_count
//= 25
//! swap
// And in a configuration that takes the place of this one.
InfiniteSource(LENGTH 5, LIMIT 1) -> g :: CounterFile($DIR/counts) -> Discard; Script(wait 0.1, stop);
//? g.count
//= 4
//? g.byte_count
//= 30
//! then
Idle -> CounterFile -> Discard;
//! error FILENAME: required argument missing
