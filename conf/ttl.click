// What traceroute sees: packets whose time to live is over are answered with an ICMP error from the router, the others
// go on with one hop less.
//
//   clique run conf/ttl.click

// An IP packet from 10.0.0.1 to 10.0.0.2 with a TTL of 1, and one with a TTL of 64.
InfiniteSource(DATA \<4500001c 00010000 01110000 0a000001 0a000002 00070007 00080000>, LIMIT 1) -> s :: SetIPChecksum;
InfiniteSource(DATA \<4500001c 00010000 40110000 0a000001 0a000002 00070007 00080000>, LIMIT 1) -> s;

s -> CheckIPHeader -> ttl :: DecIPTTL;
ttl[0] -> IPPrint(on, TIMESTAMP false) -> all :: Counter(COUNT_CALL 2 stop) -> Discard;
ttl[1] -> ICMPError(192.0.2.1, timeexceeded) -> IPPrint(back, TIMESTAMP false) -> all;

//= back: 192.0.2.1 > 10.0.0.1: icmp timeexceeded transit
//= on: 10.0.0.1.7 > 10.0.0.2.7: udp 8
