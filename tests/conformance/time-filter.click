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
//! then
// Without a start it is the time of the first packet: what is earlier is out of the range, and lengths count from it.
FromIPSummaryDump(DATA "!data timestamp\n10\n9\n11\n12\n13\n", STOP true) -> f :: TimeFilter(INTERVAL 2) -> a :: Discard; f[1] -> b :: Discard;
FromIPSummaryDump(DATA "!data timestamp\n10\n9\n11\n12\n13\n", STOP true) -> g :: TimeFilter -> c :: Discard;
//? f.start
//= 10.000000
//? f.end
//= 12.000000
//? f.interval
//= 2.000000
//? a.count
//= 2
//? b.count
//= 3
//? g.start
//= 10.000000
//? c.count
//= 4
