// A queue that is served in time loses nothing.
RatedSource(RATE 100, LIMIT 200) -> SetTimestamp(FIRST true) -> q :: Queue -> c :: CoDel(5ms, 100ms)
  -> Unqueue -> d :: Discard;
Script(wait 5, stop);
//? d.count
//= 200
//? c.drops
//= 0
//? c.codel_target
//= 0.005000s
//? c.codel_interval
//= 0.100000 s
//? c.config
//= 0.005000s, 0.100000 s, 
