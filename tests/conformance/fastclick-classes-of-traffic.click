// Delays by the traffic class that a byte of the packets says, and of some packets only.
a :: InfiniteSource(DATA \<45b8000000000000 0000000000000000>, LIMIT 3) -> n :: NumberPacket(8); InfiniteSource(DATA \<4500000000000000 0000000000000000>, LIMIT 2) -> n;
n -> r :: RecordTimestamp(OFFSET 8, N 4) -> c :: Classifier(1/b8, -);
c[0] -> Queue -> DelayUnqueue(0.002, BURST 8) -> d :: TimestampDiff(r, OFFSET 8, TC_OFFSET 1, TC_MASK 0xfc) -> Discard;
c[1] -> Queue -> DelayUnqueue(0.004, BURST 8) -> d;
// Every other packet; N counts those.
InfiniteSource(DATA \<4500000000000000 0000000000000000>, LIMIT 5) -> NumberPacket(8) -> s :: RecordTimestamp(OFFSET 8, N 3, SAMPLE 2)
  -> e :: TimestampDiff(s, OFFSET 8); e[0] -> f :: Counter -> Discard; e[1] -> g :: Counter -> Discard;
Script(wait 1, print $(d.avg) $(d.average 0 184) $(d.max 0 0) $(d.perc 50 0 184) $(d.min 3), stop);
//= 3000 2000 4000 2000 4000
//? r.missed
//= 1
//? d.count
//= 4
//? s.missed
//= 0
//? e.count
//= 3
//? f.count
//= 5
//? g.count
//= 0
//! workers 1
