// A switch learns where a station is; a listener hears all.
s :: EtherSwitch; l :: ListenEtherSwitch;
InfiniteSource(DATA x, LIMIT 1) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> a :: Tee(2);
b :: InfiniteSource(DATA x, LIMIT 2, ACTIVE false) -> EtherEncap(0x0800, 2:0:0:0:0:2, 2:0:0:0:0:1) -> c :: Tee(2);
a[0] -> [0] s; c[0] -> [1] s; Idle -> [2] s; a[1] -> [0] l; c[1] -> [1] l; Idle -> [2] l;
s[0] -> s0 :: Counter -> Discard; s[1] -> s1 :: Counter -> Discard; s[2] -> s2 :: Counter -> Discard;
l[0] -> Discard; l[1] -> Discard; l[2] -> l2 :: Counter -> Discard; l[3] -> l3 :: Counter -> Discard;
Script(wait 1, write b.active true, wait 1, stop);
//? s0.count
//= 2
//? s1.count
//= 1
//? s2.count
//= 1
//? s.table
//= 02-00-00-00-00-01 0
//= 02-00-00-00-00-02 1
//? l2.count
//= 1
//? l3.count
//= 3
//! then
// Seconds are whole.
Idle -> s :: EtherSwitch(TIMEOUT 2.5) -> Discard;
Script(print $(s.timeout), write s.timeout 1.6, print $(s.timeout), write s.timeout 1.4, print $(s.timeout), stop);
//= 3
//= 2
//= 1
