// Compound elements: a link with a rate and a loss is defined once, with parameters, and used twice. Parameters may
// be given by position or by name.
//
//   clique run --simtime conf/compound.click

elementclass Link { $rate, SLOTS $slots |
  input -> q :: Queue($slots) -> Shaper($rate) -> u :: Unqueue -> output
}

source :: RatedSource(RATE 100, LIMIT 100);
source -> slow :: Link(10, SLOTS 20) -> a :: Counter -> fast :: Link(1000, SLOTS 5) -> b :: Counter -> Discard;

Script(wait 5.05, print "$(a.count) of 100, $(slow/q.drops) lost", stop);

//= slow/q :: Queue: overflow
//= 30 of 100, 70 lost
