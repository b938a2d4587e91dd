// A host filter's address changes while it runs.
h :: HostEtherFilter(2:0:0:0:0:1);
InfiniteSource(DATA x, LIMIT 3) -> EtherEncap(0x0800, 2:0:0:0:0:9, 2:0:0:0:0:1) -> h -> mine :: Counter -> Discard;
late :: InfiniteSource(DATA x, LIMIT 2, ACTIVE false) -> EtherEncap(0x0800, 2:0:0:0:0:9, 2:0:0:0:0:1) -> h;
h[1] -> others :: Counter -> Discard;
Script(wait 1, print $(h.ether), write h.ether 2:0:0:0:0:3, print $(h.ether), write late.active true, wait 1, stop);
//= 02-00-00-00-00-01
//= 02-00-00-00-00-03
//? mine.count
//= 3
//? others.count
//= 2
