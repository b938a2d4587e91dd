// Rules in a file, among others, and how often packets are of the flow of the packet before.
//< rules 1 udp
//< rules
//< rules allow src host 1.0.0.1
FromIPSummaryDump($DIR/in, STOP true) -> f :: IPFilter(drop dst port 9, file $DIR/rules, CACHING true, 1 all);
f -> a :: Counter -> Discard; f[1] -> b :: Counter -> Discard;
Idle -> g :: IPFilter(allow all) -> Discard;
//< in !data src sport dst dport proto
//< in 1.0.0.1 5 2.0.0.2 53 T
//< in 1.0.0.1 5 2.0.0.2 53 T
//< in 1.0.0.1 5 2.0.0.2 53 U
//< in 1.0.0.1 5 2.0.0.2 9 U
//< in 1.0.0.3 5 2.0.0.2 53 T
//? a.count
//= 2
//? b.count
//= 2
//? f.cache_hits_count
//= 1
//? f.cache_misses_count
//= 4
//? f.cache_total_count
//= 5
//? f.cache_hits_ratio
//= 20
//? f.cache_misses_ratio
//= 80
//? g.cache_hits_count
//= -1
//? g.cache_misses_ratio
//= -1
