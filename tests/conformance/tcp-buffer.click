// TCP packets are given in order, once each, and what is behind a gap waits, unless it is skipped.
//! workers 1
FromIPSummaryDump($DIR/in) -> t :: Tee;
t[0] -> b :: TCPBuffer -> u :: Unqueue(ACTIVE false) -> IPPrint(all, TIMESTAMP false) -> Discard;
t[1] -> TCPBuffer(SKIP true) -> v :: Unqueue(ACTIVE false) -> IPPrint(some, TIMESTAMP false) -> Discard;
Script(wait 0.1, write u.active true, wait 0.1, write v.active true, wait 0.1, stop);
//< in !data src sport dst dport proto tcp_flags tcp_seq payload
//< in 1.0.0.1 1 2.0.0.2 2 T S 99 ""
//< in 1.0.0.1 1 2.0.0.2 2 T A 103 "de"
//< in 1.0.0.1 1 2.0.0.2 2 T A 100 "abc"
//< in 1.0.0.1 1 2.0.0.2 2 T A 103 "de"
//< in 1.0.0.1 1 2.0.0.2 2 T FA 105 ""
//< in 1.0.0.1 1 2.0.0.2 2 T A 200 "x"
//= all: 1.0.0.1.1 > 2.0.0.2.2: S 99:100(1,40,40) win 0
//= all: 1.0.0.1.1 > 2.0.0.2.2: . 100:103(3,43,43) ack 0 win 0
//= all: 1.0.0.1.1 > 2.0.0.2.2: . 103:105(2,42,42) ack 0 win 0
//= all: 1.0.0.1.1 > 2.0.0.2.2: F 105:106(1,40,40) ack 0 win 0
//= some: 1.0.0.1.1 > 2.0.0.2.2: S 99:100(1,40,40) win 0
//= some: 1.0.0.1.1 > 2.0.0.2.2: . 100:103(3,43,43) ack 0 win 0
//= some: 1.0.0.1.1 > 2.0.0.2.2: . 103:105(2,42,42) ack 0 win 0
//= some: 1.0.0.1.1 > 2.0.0.2.2: F 105:106(1,40,40) ack 0 win 0
//= some: 1.0.0.1.1 > 2.0.0.2.2: . 200:201(1,41,41) ack 0 win 0
//? b.drop_reasons
//= 1	stored already
