// Packets that were pulled once are pushed several times.
InfiniteSource(DATA \<01>, LIMIT 3) -> q :: Queue -> r :: ReplayUnqueue(STOP 2) -> Print(again) -> d :: Discard;
//= again:    1 | 01
//= again:    1 | 01
//= again:    1 | 01
//= again:    1 | 01
//= again:    1 | 01
//= again:    1 | 01
//? r.loaded
//= true
//? r.packets
//= 3
//? q.length
//= 0
