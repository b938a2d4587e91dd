// What a summary is made of passes on; only the last packet of an aggregate is kept.
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 2) -> UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2) -> MarkIPHeader -> AggregateLast
  -> Discard;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 2) -> SetTimestamp(100) -> d :: SetTimestampDelta -> UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2)
  -> CheckIPHeader -> ToIPSummaryDump(/dev/null, CONTENTS ip_src sport ip_dst dport ip_proto) -> c :: Counter -> Discard;
Script(wait 1, stop);
//? c.count
//= 2
