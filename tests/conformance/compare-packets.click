// Pairs of packets: the second differs in its data, the third in its length and its stamp, and the fifth has no partner.
RatedSource(DATA abcd, RATE 10, LIMIT 5) -> SetTimestamp(7) -> Queue -> [0] c :: ComparePackets;
RatedSource(DATA abcd, RATE 10, LIMIT 4) -> SetTimestamp(7) -> r :: RoundRobinSwitch;
r[0] -> q :: Queue -> [1] c;
r[1] -> StoreData(1, X) -> q;
r[2] -> Truncate(2) -> SetTimestamp(8) -> q;
r[3] -> q;
c[0] -> a :: Discard;
c[1] -> b :: Discard;
Script(wait 5, stop);
//? c.diffs
//= 3
//? c.all_same
//= false
//? c.diff_details
//= 1	different length
//= 1	different data
//= 0	different MAC header
//= 0	different network header
//= 0	different transport header
//= 1	different timestamp
//= 1	more packets in [0]
//= 0	more packets in [1]
//? a.count
//= 4
//? b.count
//= 4
