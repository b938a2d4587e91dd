// Replay keeps what it pulled first, and answers pulls with copies.
InfiniteSource(DATA ab, LIMIT 3, BURST 3) -> q :: Queue -> r :: Replay(STOP 4, LIMIT 2, SLEEP 0, QUICK_CLONE false, BURST 32) -> u :: Unqueue -> c :: Counter -> Discard;
DriverManager(wait);
//= Loading r with 1 inputs.
//= r : Successfully loaded 2 packets. Input -1 dried out.
//? c.count
//= 8
//? r.packets
//= 2
//? r.loaded
//= true
//? q.length
//= 1
//? r.active
//= false
