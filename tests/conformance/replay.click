// Packets that were pulled once are pushed several times.
InfiniteSource(DATA \<01>, LIMIT 3) -> q :: Queue -> r :: ReplayUnqueue(STOP 2, VERBOSE true, SLEEP 0, QUICK_CLONE true, STOP_TIME 0) -> Print(again) -> d :: Discard;
//= Loading r with 1 inputs.
//= r : Successfully loaded 3 packets. Input 0 dried out.
//= again:    1 | 01
//= again:    1 | 01
//= again:    1 | 01
//= r :: ReplayUnqueue: Replay loop (2 loops left)
//= again:    1 | 01
//= again:    1 | 01
//= again:    1 | 01
//= r :: ReplayUnqueue: Replay loop (1 loops left)
//= r :: ReplayUnqueue: stopped because there is 0 loops left
//? r.loaded
//= true
//? r.packets
//= 3
//? q.length
//= 0
