// One packet in one is sampled, and its sample leaves within half a second.
InfiniteSource(LIMIT 3) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 53) -> s :: SFlowAgent(1, 192.0.2.1);
s[0] -> c :: Counter -> Discard;
s[1] -> m :: Counter -> Discard;
Script(wait 1, print $(s.count) $(s.samples) $(s.datagrams) $(s.dropped) $(c.count) $(m.count), stop);
//= 3 3 1 0 3 1
