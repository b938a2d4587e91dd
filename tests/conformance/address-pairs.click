// Both directions of a pair of hosts have one number; the paint is the direction.
//! workers 1
p :: AggregateIPAddrPair -> a :: AggregateCounter -> s :: PaintSwitch; s[0] -> forth :: Counter -> Discard; s[1] -> back :: Counter -> Discard;
InfiniteSource(LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> p; InfiniteSource(LIMIT 1) -> UDPIPEncap(2.0.0.2, 9, 1.0.0.1, 8) -> p;
InfiniteSource(LIMIT 1) -> UDPIPEncap(2.0.0.2, 9, 3.0.0.1, 8) -> p;
Script(wait 1, stop);
//? a.nagg
//= 2
//? forth.count
//= 2
//? back.count
//= 1
//? p.pairs
//= 2
