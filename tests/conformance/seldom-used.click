// Arguments and handlers that few configurations use: what the scheduler's quantum, a buffer for packets out of order, a denied aggregate, and a
// link's whole microseconds come to.
s :: DRRSched(QUANTUM 200) -> u :: Unqueue(LIMIT 4, ACTIVE false) -> c :: Classifier(0/61, 0/62);
InfiniteSource(DATA a, LENGTH 100, LIMIT 9) -> Queue -> [0] s; InfiniteSource(DATA b, LENGTH 100, LIMIT 9) -> Queue -> [1] s;
c[0] -> a :: Discard; c[1] -> b :: Discard;
t :: TimeSortedSched(BUFFER 3) -> v :: Unqueue(ACTIVE false) -> Print(TIMESTAMP true, CONTENTS NONE) -> Discard;
TimedSource(0.1, x, LIMIT 1) -> SetTimestamp(7) -> q :: Queue -> t; TimedSource(0.2, x, LIMIT 1) -> SetTimestamp(5) -> q;
TimedSource(0.3, x, LIMIT 1) -> SetTimestamp(6) -> Queue -> [1] t;
FromIPSummaryDump(DATA "!data aggregate\n1\n2\n3\n") -> f :: AggregateFilter(deny 2, 1 3, allow all) -> g :: Discard; f[1] -> h :: Discard;
InfiniteSource(LENGTH 100, LIMIT 1) -> Queue -> LinkUnqueue(3, 3000Bps) -> Print(link, TIMESTAMP true, CONTENTS NONE) -> Discard;
Idle -> [0] i :: InputSwitch(OUTPUT 1) -> Discard; InfiniteSource(LIMIT 3) -> [1] i;
sh :: Shaper(5); Idle -> sh -> Discard;
Script(wait 1, write u.active true, write v.active true, wait 0.5, write sh.reset, print $(timewarp), print $(ge $(version) 2.0), print $(t.well_ordered), wait 2, stop);
//= 5.000000:    1
//= 6.000000:    1
//= 7.000000:    1
//= simulation
//= true
//= true
//= link: 1000000003.033333:  100
//? a.count
//= 2
//? b.count
//= 2
//? g.count
//= 1
//? h.count
//= 1
//? i.switch
//= 1
