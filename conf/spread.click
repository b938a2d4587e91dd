// Spreads packets over four outputs in turn, and counts what each got.
//
//   clique run conf/spread.click -h '?.count'

InfiniteSource(LIMIT 400, STOP true) -> rr :: RoundRobinSwitch;
rr[0] -> a :: Counter -> Discard;
rr[1] -> b :: Counter -> Discard;
rr[2] -> c :: Counter -> Discard;
rr[3] -> d :: Counter -> Discard;

//? a.count
//= 100
//? b.count
//= 100
//? c.count
//= 100
//? d.count
//= 100
