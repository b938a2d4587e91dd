// How long packets take, and how often aggregates come. Packets in which nothing was noted are told of.
//! workers 1
InfiniteSource(LIMIT 10) -> SetCycleCount -> c :: CycleCountAccum -> Discard;
InfiniteSource(LIMIT 10) -> z :: CycleCountAccum -> Discard;
InfiniteSource(LIMIT 5) -> r :: RoundTripCycleCount -> WorkPackage(0, 0, 0, false, W 1000) -> w :: RoundTripCycleCount -> Discard;
InfiniteSource(LIMIT 6) -> u :: RoundTripCycleCount -> Discard;
FromIPSummaryDump($DIR/packets, STOP false) -> s :: AggregateStats(6) -> a :: AggregateCounterIMP -> Discard;
//< packets !data aggregate
//< packets 1
//< packets 1
//< packets 3
//< packets 9
Script(wait 1, print $(c.count) $(gt $(c.cycles) 0) $(ge $(c.cycles_pp) 0) $(c.zero_count) $(z.count) $(z.zero_count), write z.reset_counts,
  print $(r.packets) $(r.count) $(gt $(r.cycles) $(w.cycles)) $(gt $(w.cycles) 0) $(u.count) $(gt $(u.cycles) 0), write r.reset_counts, print $(r.packets) $(r.cycles),
  print $(z.zero_count) $(s.median) $(s.max) $(a.nagg), printn s.dump, stop);
//= z :: CycleCountAccum: packet with zero cycle counter annotation!
//= 10 true true 0 0 10
//= 5 5 true true 6 true
//= 0 0
//= 0 3 5 3
//= 1: 2
//= 3: 1
//= 5: 1
