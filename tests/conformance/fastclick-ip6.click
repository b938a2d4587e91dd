// FastClick's elements for IPv6: flows of UDP packets that are pushed or pulled, and checksums of TCP.
FastUDPFlowsIP6(RATE 0, LIMIT 6, LENGTH 80, SRCETH 0:0:0:0:0:1, SRCIP6 2001:db8::1, DSTETH 0:0:0:0:0:2, DSTIP6 2001:db8::2, FLOWS 2, FLOWSIZE 3, SEQUENTIAL true)
  -> Strip(14) -> CheckIP6Header -> a :: Counter -> Discard;
s :: FastUDPFlows(1000, 20, 60, 0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2, 3, 10) -> Strip(14) -> CheckIPHeader -> CheckUDPHeader -> b :: Counter -> Discard;
p :: FastUDPFlows(0, 7, 60, 0:0:0:0:0:1, 1.0.0.1, 0:0:0:0:0:2, 2.0.0.2, 3, 10) -> Unqueue -> c :: Counter -> Discard;
InfiniteSource(DATA \<600000000015 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002 04d20050 00000000 00000000 50100000 ffff0000 61>, LIMIT 1)
  -> MarkIP6Header -> SetTCPChecksumIP6 -> Strip(40) -> Print(tcp) -> Discard;
InfiniteSource(DATA \<60000000000c 3a 40 20010db8000000000000000000000001 20010db8000000000000000000000002 80000000 00010002 61626364>, LIMIT 1)
  -> MarkIP6Header -> SetICMPChecksumIP6 -> Strip(40) -> Print(icmp) -> Discard;
// Handlers of a source that pushes: more packets, at another rate, and none.
Script(wait 0.0105, print $(b.count), wait 1, print $(a.count) $(b.count) $(c.count), write s.limit 30, wait 1, print $(b.count),
  write s.active false, write s.limit -1, wait 1, print $(b.count), write s.rate 100, write s.limit 5, write s.active true, wait 1, print $(s.count), stop);
//= tcp:   21 | 04d20050 00000000 00000000 50100000 ee3c0000 61
//= icmp:   12 | 80005f7a 00010002 61626364
//= 11
//= 6 20 7
//= 30
//= 30
//= 5
//! workers 1
