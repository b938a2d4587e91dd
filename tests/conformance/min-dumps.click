// What is left of packets in the smallest traces, and the packets that are made of it.
i :: InfiniteSource(DATA \<4500001e 00000000 40110000 01000001 02000002 00010035 000a0000 6162>, LIMIT 1) -> w :: ToMinDump($DIR/a.mindump, VERBOSE true) -> c :: Counter -> Discard;
InfiniteSource(DATA \<4500002a 00000000 40060000 03000003 04000004 00020050 00000000 00000000 50020000 00000000 6162>, LIMIT 1) -> w;
InfiniteSource(DATA \<45000014>, LIMIT 1) -> w;
Script(wait 1, write w.flush, stop);
//? c.count
//= 3
//! then
FromMinDump($DIR/a.mindump, TIMES 2, DPDK true) -> CheckIPHeader -> ToIPSummaryDump($DIR/s, HEADER false, FIELDS src sport dst dport proto len ttl) -> Discard;
//! then
Script(printn $(cat $DIR/s), stop);
//= 1.0.0.1 1 2.0.0.2 53 U 30 100
//= 3.0.0.3 2 4.0.0.4 80 T 42 100
//= 1.0.0.1 1 2.0.0.2 53 U 30 100
//= 3.0.0.3 2 4.0.0.4 80 T 42 100
//! then
f :: FromMinDump($DIR/a.mindump, LIMIT 1, TIMES -1, ACTIVE false) -> Unqueue(LIMIT 3) -> p :: CheckUDPHeader -> c :: Counter -> Discard; p[1] -> Print(bad) -> Discard;
Script(wait 1, write f.active true, wait 1, stop);
//? c.count
//= 3
//! then
f :: FromMinDump($DIR/a.mindump, TIMES 3, LOOP_CALL loops.run) -> c :: Counter -> Discard;
loops :: Script(TYPE PASSIVE, print "again");
//= again
//= again
//? c.count
//= 6
//! then
FromMinDump(/nonexistent/x) -> Discard;
//! error /nonexistent/x
