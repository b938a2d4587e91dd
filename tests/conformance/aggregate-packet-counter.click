// What was seen at input 0 and not at input 1 was not delivered.
c :: AggregatePacketCounter(PACKETNO -1);
InfiniteSource(LIMIT 3) -> Paint(7) -> AggregatePaint -> [0] c [0] -> Discard;
InfiniteSource(LIMIT 2) -> Paint(7) -> AggregatePaint -> [1] c [1] -> Discard;
Script(wait 1, print $(c.undelivered 7), stop);
//= 0
//? c.count
//= 5
//! then
// Where no packet has an aggregate, the configuration lacks an element that sets one.
InfiniteSource(LIMIT 1, STOP true) -> a :: AggregatePacketCounter -> Discard;
//= a :: AggregatePacketCounter: warning: saw no packets with aggregate annotations
