// Holds a stream of packets to a rate: 1,000 packets come at once, 100 leave each second, and the queue keeps what
// waits. After two seconds about 200 have left and the rest is still there.
//
//   clique run --simtime conf/shaper.click

InfiniteSource(LIMIT 1000, BURST 1000) -> q :: Queue(2000) -> Shaper(100) -> u :: Unqueue -> c :: Counter -> Discard;

Script(wait 2.005, print "sent $(c.count), waiting $(q.length)", stop);

//= sent 201, waiting 799
