// The common work of an input path at once: colour, no Ethernet header, a checked IP header.
InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2)
  -> i :: IPInputCombo(7) -> p :: CheckPaint(7) -> IPPrint(in, TIMESTAMP false) -> AggregateIPFlows
  -> IPRateMonitor(PACKETS, 0.5, 256, 600, 0) -> DiscardNoFree; p[1] -> Discard;
InfiniteSource(DATA a, LIMIT 1) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> i;
Script(wait 1, stop);
//= in: 10.0.0.1.1 > 10.0.0.2.2: udp 9
//= IP checksum failed
//? i.drops
//= 1
