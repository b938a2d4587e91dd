// What was seen at input 0 and not at input 1 was not delivered.
c :: AggregatePacketCounter(PACKETNO -1);
InfiniteSource(LIMIT 3) -> Paint(7) -> AggregatePaint -> [0] c [0] -> Discard;
InfiniteSource(LIMIT 2) -> Paint(7) -> AggregatePaint -> [1] c [1] -> Discard;
Script(wait 1, print $(c.undelivered 7), stop);
//= 0
//? c.count
//= 5
//! then
// Packets without aggregates are noted at the end, if there are no others.
c :: AggregatePacketCounter;
InfiniteSource(LIMIT 3, STOP true) -> c -> Discard;
//= c :: AggregatePacketCounter: warning: saw no packets with aggregate annotations
//? c.count
//= 0
