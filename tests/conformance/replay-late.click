// With a formula, packets that wait a second longer than STOP_TIME end the replay.
InfiniteSource(LIMIT 1) -> SetTimestamp(1) -> q :: Queue; InfiniteSource(LIMIT 1) -> SetTimestamp(9) -> q;
q -> r :: ReplayUnqueue(STOP_TIME 1, TIMING_FNT "100") -> d :: Discard;
DriverManager(pause, print $(r.count) $(r.stop) $(r.active), stop);
//= Timing starts with 100%
//= Loading r with 1 inputs.
//= r : Successfully loaded 2 packets. Input 0 dried out.
//= Forced stop because time is achieved!
//= 1 0 false
