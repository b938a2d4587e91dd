// What has no route is answered; what a route leads nowhere is not.
r :: IPLookup(10.0.0.0/8 0, 11.0.0.0/8 - -1, NOROUTE 1, CACHE 16);
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(10.0.0.1, 1, 12.0.0.2, 2) -> r;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(10.0.0.1, 1, 11.0.0.2, 2) -> r;
r[0] -> IPPrint(sent, TIMESTAMP false) -> Discard;
r[1] -> ICMPError(9.9.9.9, unreachable, net, RATE 10) -> r;
Script(wait 1, stop);
//= sent: 9.9.9.9 > 10.0.0.1: icmp 12.0.0.2 unreachable net
//? r.cache_misses
//= 3
