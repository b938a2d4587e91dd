// Packets of two aggregates, counted under two bits of them; not while it is inactive.
InfiniteSource(LIMIT 6) -> r :: RoundRobinSwitch; r[0] -> Paint(5) -> a :: AggregatePaint; r[1] -> Paint(2) -> a; r[2] -> Paint(9) -> a;
a -> c :: AggregateCounterVector(3, MARK false) -> v :: AggregateCounterVector(MASK 3, BYTES true) -> d :: Discard;
Script(wait 1, print $(c.count 1) $(c.count 2) $(c.count 0) $(c.count), print $(v.count 5), write c.active false, print $(c.active), write v.stop);
DriverManager(wait);
//= 4 2 0 6
//= 276
//= false
//? v.active
//= false
//! then
Idle -> AggregateCounterVector(0xffffffff) -> Discard;
//! error MASK must be <= 16777215
//! then
// Packets wait for one of another aggregate, or until the time is over.
b :: InfiniteSource(LIMIT 3) -> Paint(1) -> AggregatePaint -> g :: AggregateGroup -> c :: Counter -> Discard;
e :: InfiniteSource(LIMIT 1, ACTIVE false) -> Paint(2) -> AggregatePaint -> g;
InfiniteSource(LIMIT 3) -> AggregateGroup(TIMER 1000) -> t :: Counter -> Discard;
Script(wait 1, print $(c.count) $(t.count), write e.active true, wait 1, print $(c.count), write b.reset, wait 1, print $(c.count), stop);
//= 0 3
//= 4
//= 4
//! then
// A flow's colour is in the handler only; counters with any lock are counters.
InfiniteSource(DATA \<4500001c 00000000 40110000 01000001 02000002 00010002 00080000>, LIMIT 2) -> MarkIPHeader -> FlowIPManager -> p :: FlowPaint(3)
  -> CounterLock -> CounterLockMP -> CounterPLockMP -> CounterRW -> CounterRWMP -> CounterPRWMP -> CounterRxWMP -> CounterRxWMPPR -> k :: CounterRxWMPPW -> Discard;
Script(wait 1, print $(p.color), write p.color 7, print $(p.color), print $(k.count), stop);
//= 3
//= 7
//= 2
