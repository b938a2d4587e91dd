// The second application of RouteBricks (section 5.1), IP routing: headers are checked, the next hop is looked up, the time to live and the checksum are updated.
//
//   clique run conf/routebricks/routing.click IN=eth0 OUT=eth1 MAC=2:0:0:0:0:1 NEXT=2:0:0:0:0:2
//   clique run conf/routebricks/routing.click -h sent.count
//
// IN and OUT are interfaces, or `MEMORY N` both: N frames of 60 octets are made in memory, and counted.
// METHOD is LINUX for packet sockets or XDP for AF_XDP.
// ROUTES are routes to output 0, and what has none is dropped; `clique ctl write routes.load FILE` loads a table. MAC is OUT's address, and NEXT that
// of the only neighbour there.
define($IN MEMORY 1000, $OUT MEMORY 1000, $METHOD LINUX, $ROUTES 0.0.0.0/0 0, $MAC 2:0:0:0:0:1, $NEXT 2:0:0:0:0:2);

elementclass From { MEMORY $packets |
  InfiniteSource(DATA \<00000000 00020000 00000001 0800 4500002e 00000000 401163bc 0a000102 0a000202 03e807d0 001a0000 00000000 00000000 00000000 00000000 0000>, LIMIT $packets, BURST 32, STOP true) -> output
|| $device | FromDevice($device, METHOD $METHOD, SNIFFER false, PROMISC true) -> output }
elementclass To { MEMORY $packets | input -> Discard || $device | input -> ToDevice($device, METHOD $METHOD) }

From($IN) -> ip :: Classifier(12/0800, -) -> Strip(14) -> CheckIPHeader -> GetIPAddress(16)
  -> routes :: IPLookup($ROUTES) -> ttl :: DecIPTTL -> EtherEncap(0x0800, $MAC, $NEXT) -> sent :: Counter -> To($OUT);
ip[1] -> Discard;
ttl[1] -> Discard;

//? sent.count
//= 1000
