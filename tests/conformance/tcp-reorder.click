// Packets leave in order; those that have been there leave by the other output, the rest is dropped. Flows begin with a SYN, and end with a RST.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> CTXManager -> r :: TCPReorder(VERBOSE true, FLOWDIRECTION 0) -> IPPrint(in, TIMESTAMP false) -> c :: Counter -> Discard;
r[1] -> again :: Counter -> Discard;
//< in !data src sport dst dport proto tcp_flags tcp_seq payload_len
//< in 1.0.0.1 1 2.0.0.2 80 T A 7 1
//< in 1.0.0.1 1 2.0.0.2 80 T R 7 0
//< in 1.0.0.1 1 2.0.0.2 80 T S 4294967290 0
//< in 1.0.0.1 1 2.0.0.2 80 T A 1 10
//< in 1.0.0.1 1 2.0.0.2 80 T A 5 2
//< in 1.0.0.1 1 2.0.0.2 80 T A 1 3
//< in 1.0.0.1 1 2.0.0.2 80 T S 4294967290 0
//< in 1.0.0.1 1 2.0.0.2 80 U - - 10
//< in 1.0.0.1 1 2.0.0.2 80 T A 4294967291 6
//< in 1.0.0.1 1 2.0.0.2 80 T A 8 10
//< in 1.0.0.1 1 2.0.0.2 80 T A 20 10
//< in 1.0.0.1 1 2.0.0.2 80 T RA 15 0
//< in 1.0.0.1 1 2.0.0.2 80 T A 11 1
//< in 1.0.0.1 1 2.0.0.2 80 T S 5 0
//< in 1.0.0.1 1 2.0.0.2 80 T A 7 1
//< in 1.0.0.1 1 2.0.0.2 80 T FA 6 1
//= in: 1.0.0.1.1 > 2.0.0.2.80: R 7:7(0,40,40) win 0
//= in: 1.0.0.1.1 > 2.0.0.2.80: S 4294967290:4294967291(1,40,40) win 0
//= in: 1.0.0.1.1 > 2.0.0.2.80: . 4294967291:1(6,46,46) ack 0 win 0
//= in: 1.0.0.1.1 > 2.0.0.2.80: . 1:11(10,50,50) ack 0 win 0
//= in: 1.0.0.1.1 > 2.0.0.2.80: R 15:15(0,40,40) ack 0 win 0
//= in: 1.0.0.1.1 > 2.0.0.2.80: S 5:6(1,40,40) win 0
//= in: 1.0.0.1.1 > 2.0.0.2.80: F 6:8(2,41,41) ack 0 win 0
//? again.count
//= 2
//? r.waiting
//= 0
//? r.drop_reasons
//= 2	flow without SYN
//= 3	retransmission
//= 1	no TCP header
//= 1	flow ended
//! then
// What waits for too long is dropped, and the flow goes on; with NOTIMEOUT it waits until its flow is over.
s :: FromIPSummaryDump($DIR/first, STOP false, CHECKSUM true) -> FlowIPManager(TIMEOUT 10) -> t :: Tee(2);
t[0] -> r :: TCPReorder -> IPPrint(r, TIMESTAMP false) -> Discard;
t[1] -> n :: TCPReorder(false, true) -> IPPrint(n, TIMESTAMP false) -> Discard;
//< first !data src sport dst dport proto tcp_flags tcp_seq payload_len
//< first 1.0.0.1 1 2.0.0.2 80 T S 0 0
//< first 1.0.0.1 1 2.0.0.2 80 T A 3 2
Script(wait 1, print $(r.waiting) $(n.waiting), wait 3, print $(r.waiting) $(n.waiting), wait 20, print $(r.waiting) $(n.waiting), stop);
//= r: 1.0.0.1.1 > 2.0.0.2.80: S 0:1(1,40,40) win 0
//= n: 1.0.0.1.1 > 2.0.0.2.80: S 0:1(1,40,40) win 0
//= 1 1
//= 0 1
//= 0 0
//? r.drop_reasons
//= 1	waited too long
//? n.drop_reasons
//= 1	flow ended
//! then
// Packets that wait go on waiting when the configuration is replaced.
FromIPSummaryDump($DIR/first, STOP true, CHECKSUM true) -> m :: FlowIPManager -> r :: TCPReorder -> IPPrint(one, TIMESTAMP false) -> Discard;
//= one: 1.0.0.1.1 > 2.0.0.2.80: S 0:1(1,40,40) win 0
//! swap
FromIPSummaryDump($DIR/second, STOP true, CHECKSUM true) -> m :: FlowIPManager -> r :: TCPReorder -> IPPrint(two, TIMESTAMP false) -> Discard;
//< second !data src sport dst dport proto tcp_flags tcp_seq payload_len
//< second 1.0.0.1 1 2.0.0.2 80 T A 1 2
//= two: 1.0.0.1.1 > 2.0.0.2.80: . 1:3(2,42,42) ack 0 win 0
//= two: 1.0.0.1.1 > 2.0.0.2.80: . 3:5(2,42,42) ack 0 win 0
//! then
Idle -> TCPReorder -> Discard;
//! error needs a flow manager upstream
