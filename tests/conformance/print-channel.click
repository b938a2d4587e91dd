// What is printed on a channel is for those who listen there; on the default one it is for all.
InfiniteSource(LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> IPPrint(a, CHANNEL quiet, TIMESTAMP false) -> IPPrint(b, CHANNEL default, TIMESTAMP false) -> Discard;
Script(wait 0.1, stop);
//= b: 1.0.0.1.1 > 2.0.0.2.2: udp 77
