// MinBatch holds packets back until there are enough, or until its time is over. How many come together does not depend on the vector then.
InfiniteSource(LIMIT 23) -> MinBatch(10, 500) -> b :: BatchStats -> c :: AverageBatchCounter(100, LENGTH_STATS true) -> Discard;
InfiniteSource(LIMIT 23) -> MinBatch(BURST 10) -> held :: Counter -> Discard;
// Bursts: packets of the same aggregate in a row.
FromIPSummaryDump($DIR/packets, STOP false) -> s :: BurstStats -> BurstStats(BYTES true, MAX 50) -> Discard;
//< packets !data aggregate ip_src
//< packets 1 1.0.0.1
//< packets 1 1.0.0.1
//< packets 2 1.0.0.1
//< packets 3 1.0.0.1
//< packets 3 1.0.0.1
//< packets 1 1.0.0.1
Script(wait 0.25, print $(c.count_packets) $(c.count_packets_total), stop);
//= 0 23
//? b.count
//= 3
//? b.most_seen
//= 10
//? b.most_seen_freq
//= 2
//? b.nval
//= 2
//? b.dump
//= 3: 1
//= 10: 2
//? c.average_total
//= 7.66666666667
//? c.count_batches_total
//= 3
//? held.count
//= 20
//? s.dump
//= 1: 1
//= 2: 2
//? s.avg
//= 1.66666666667
