// A lossy link: one packet in ten disappears by chance, the others go on.
//
//   clique run conf/loss.click -h c.count

InfiniteSource(LIMIT 10000, STOP true) -> r :: RandomSample(DROP 0.1) -> c :: Counter -> Discard;

looks :: Script(TYPE PASSIVE, return $(and $(gt $(c.count) 8800) $(lt $(c.count) 9200)));

//? looks.run
//= true
//? r.drop_prob
//= 0.1
