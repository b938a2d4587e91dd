// Stride scheduling: the first queue gets three packets for each one of the second.
//
//   clique run --simtime conf/shares.click

InfiniteSource -> Paint(1) -> q1 :: Queue(50) -> [0] s :: StrideSched(3, 1);
InfiniteSource -> Paint(2) -> q2 :: Queue(50) -> [1] s;

s -> Shaper(400) -> Unqueue -> p :: PaintSwitch;
p[0] -> Discard;
p[1] -> a :: Counter -> Discard;
p[2] -> b :: Counter -> Discard;

Script(wait 5, set share $(div $(a.count) $(b.count)), print "about three times: $(and $(gt $share 2.9) $(lt $share 3.1))", stop);

//= about three times: true
