// Round-robin scheduling: three queues that always have packets get equal shares of a link.
//
//   clique run --simtime conf/fair-share.click

InfiniteSource -> Paint(1) -> q1 :: Queue(20) -> [0] rr :: RoundRobinSched;
InfiniteSource -> Paint(2) -> q2 :: Queue(20) -> [1] rr;
InfiniteSource -> Paint(3) -> q3 :: Queue(20) -> [2] rr;

rr -> Shaper(300) -> Unqueue -> p :: PaintSwitch;
p[0] -> Discard;
p[1] -> a :: Counter -> Discard;
p[2] -> b :: Counter -> Discard;
p[3] -> c :: Counter -> Discard;

Script(wait 3.001, print "$(le $(sub $(a.count) $(b.count)) 1) $(le $(sub $(b.count) $(c.count)) 1)", stop);

//= true true
