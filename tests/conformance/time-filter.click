// Three seconds from two and a half on; the call moves the end once.
TimedSource(1, LIMIT 9) -> SetTimestamp -> f :: TimeFilter(START_AFTER 2.5, INTERVAL 3, END_CALL s.run) -> a :: Discard;
f[1] -> b :: Discard;
s :: Script(TYPE PASSIVE, print "end", write f.extend_interval 1, goto done $(gt $(f.interval) 4), label done);
Script(wait 20, stop);
//= end
//= end
//= end
//? a.count
//= 6
//? b.count
//= 3
