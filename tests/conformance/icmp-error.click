// A packet whose time is up is answered.
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> CheckIPHeader
  -> ICMPError(9.9.9.9, timeexceeded, transit) -> CheckIPHeader -> IPPrint(error, TIMESTAMP false)
  -> Discard;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> IP6Encap(udp, 2001:db8::1, 2001:db8::2) -> CheckIP6Header
  -> ICMP6Error(2001:db8::9, 3, 0) -> IP6Print(error6) -> Discard;
Script(wait 1, stop);
//= error: 9.9.9.9 > 1.0.0.1: icmp timeexceeded transit
//= error6: 2001:db8::9 -> 2001:db8::1 plen 52, next 58, hlim 255
//! then
// The type of an ICMP packet can be told by four bytes; what has fewer may have been an error.
InfiniteSource(DATA \<08000000>, LIMIT 1) -> IPEncap(icmp, 1.0.0.4, 2.0.0.2) -> e :: ICMPError(9.9.9.9, timeexceeded, transit);
InfiniteSource(DATA \<080000>, LIMIT 1) -> IPEncap(icmp, 1.0.0.3, 2.0.0.2) -> e;
InfiniteSource(DATA \<03000000>, LIMIT 1) -> IPEncap(icmp, 1.0.0.1, 2.0.0.2) -> e;
e -> CheckIPHeader -> IPPrint(error, TIMESTAMP false) -> Discard;
Script(wait 1, stop);
//= error: 9.9.9.9 > 1.0.0.4: icmp timeexceeded transit
