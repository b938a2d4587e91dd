// The pace of a replay follows a formula: from one per cent on, in a second, to the pace of the timestamps; then it is over.
InfiniteSource(LIMIT 1) -> SetTimestamp(1) -> q :: Queue; InfiniteSource(LIMIT 1) -> SetTimestamp(1.5) -> q; InfiniteSource(LIMIT 1) -> SetTimestamp(3) -> q;
q -> r :: ReplayUnqueue(STOP -1, STOP_TIME 4, ACTIVE false, TIMING_FNT "min(100, 1 + 99 * x)") -> d :: Discard;
DriverManager(wait 0.1, print $(r.timing), write r.active true, wait 0.4, print $(r.count), wait 0.3, print $(r.count), wait 2,
  print $(r.timing) $(r.count), pause, print $(r.stop) $(r.active), stop);
//= Timing starts with 1%
//= 1
//= Loading r with 1 inputs.
//= r : Successfully loaded 3 packets. Input 0 dried out.
//= 1
//= 1
//= 100 4
//= 0 false
