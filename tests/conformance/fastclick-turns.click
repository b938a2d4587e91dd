//! workers 1
// Several packets of an input in a row; an input that has none loses its turn.
InfiniteSource(DATA a, LIMIT 5) -> Queue -> [0]s :: RoundRobinMultiSched(2); InfiniteSource(DATA b, LIMIT 3) -> Queue -> [1]s;
InfiniteSource(DATA c, LIMIT 1) -> Queue -> [1]t :: RRMultiSched(3, 2); Idle -> [2]t;
s -> Print -> Unqueue -> Discard; InfiniteSource(DATA d, LIMIT 2) -> Queue -> [0]t -> u :: Unqueue -> [0]m :: MultiCounter[0] -> w :: WorkPackage(1, 3, 50, true, W 2) -> Discard;
InfiniteSource(LENGTH 10, LIMIT 7) -> [1]m[1] -> r :: RoundRobinSwitch(2); r[0] -> r0 :: Discard; r[1] -> r1 :: Discard; r[2] -> r2 :: Discard;
InfiniteSource(LENGTH 20, LIMIT 3) -> l :: CheckLength(10) -> Discard; l[1] -> long :: Discard;
FastUDPFlows(0, 5, 60, 0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2, 1, 10, STOP true) -> x :: Unqueue(ACTIVE false) -> y :: Counter -> Discard;
DriverManager(wait 1, write x.active true, pause, print "over", stop);
//=    1 | 61
//=    1 | 61
//=    1 | 62
//=    1 | 62
//=    1 | 61
//=    1 | 61
//=    1 | 62
//=    1 | 61
//= over
//? m.count
//= [3,7]
//? m.byte_count
//= [3,70]
//? w.cycles_work
//= 6
//? r0.count
//= 4
//? r1.count
//= 3
//? r2.count
//= 0
//? r.max
//= 2
//? l.length
//= 10
//? long.count
//= 3
//? y.byte_count
//= 300
