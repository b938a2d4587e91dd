// STOP_TIME ends a replay at the end of a round, or while packets wait, however many rounds are left.
InfiniteSource(LIMIT 1) -> SetTimestamp(1) -> q :: Queue; InfiniteSource(LIMIT 1) -> SetTimestamp(2) -> q;
q -> r :: ReplayUnqueue(STOP_TIME 3, TIMING 100, VERBOSE true) -> d :: Discard;
DriverManager(pause, print $(r.count) $(r.stop) $(r.active), write r.stop 2, write r.active true, pause, print $(r.count), stop);
//= Loading r with 1 inputs.
//= r : Successfully loaded 2 packets. Input 0 dried out.
//= r :: ReplayUnqueue: continue after 1/3 seconds (-1 loops left)
//= r :: ReplayUnqueue: continue after 2/3 seconds (-1 loops left)
//= Replay stopped after 3 seconds (-1 loops left)
//= 6 0 false
//= r :: ReplayUnqueue: continue after 1/3 seconds (2 loops left)
//= r :: ReplayUnqueue: continue after 2/3 seconds (1 loops left)
//= r :: ReplayUnqueue: stopped early after 2/3 seconds because there is 0 loops left
//= 10
