// Patterns with outputs: said, or one more than those before. Frames with an IPv4 packet have a flow, others have none.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> EtherEncap(0x0800, 0:0:0:0:0:9, 0:0:0:0:0:8) -> m :: CTXManager(BUILDER 1, AGGCACHE false, VERBOSE 1, EARLYDROP true)
  -> t :: Tee(4);
t[0] -> d :: CTXDispatcher(12/0800 23/11 1, 12/0800 0, - drop); d[0] -> d0 :: Counter -> Discard; d[1] -> d1 :: Counter -> Discard;
// The third rule has no output of its own; the packets of the default rule are dropped.
t[1] -> FlowStrip(14) -> e :: CTXDispatcher(9/06, 9/11, 9/01, -); e[0] -> e0 :: Counter -> Discard; e[1] -> e1 :: Counter -> Discard;
// What matches nothing leaves by the output behind all others.
t[2] -> f :: FlowContextDispatcher(23/11/ff, 23/06/ff); f[0] -> f0 :: Counter -> Discard; f[1] -> f1 :: Counter -> Discard;
f[2] -> f2 :: FlowCounter -> FlowUnstrip(2) -> Print(f, CONTENTS NONE) -> Discard;
t[3] -> y :: FlowManager(CAPACITY 4) -> y1 :: FlowCounter -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 2 2.0.0.2 53 T S 8
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 0 2.0.0.2 0 47 - 8
//< in 1.0.0.1 0 2.0.0.2 0 1 - 8
//= f:   44
//= f:   44
//? m.count
//= 4
//? d0.count
//= 3
//? d1.count
//= 2
//? e0.count
//= 1
//? e1.count
//= 3
//? e.drop_reasons
//= 1	no pattern matches
//? f0.count
//= 2
//? f1.count
//= 1
//? f2.count
//= 2
//? y1.count
//= 4
//! then
// A frame in which nothing is marked, one that is shorter than it says, and something else.
InfiniteSource(DATA \<000000000008 000000000009 0800 4500001c 00000000 40110000 01000001 02000002 00010035 00080000>, LIMIT 2) -> n :: FlowClassifier;
InfiniteSource(DATA \<000000000008 000000000009 0800 4600001c 00000000 40>, LIMIT 2) -> n; InfiniteSource(DATA \<000000000008 000000000009 0806>, LIMIT 3) -> n;
n -> FlowDispatcher -> c :: Counter -> x :: FlowCounter -> Discard;
Script(wait 1, stop);
//? c.count
//= 7
//? x.count
//= 1
//? x.drop_reasons
//= 5	no flow
//! then
// Words for fields of the IP header, with what says how FastClick keeps flows.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> CTXManager -> t :: Tee(4);
t[0] -> d :: CTXDispatcher(ip proto tcp && dst host 2.0.0.2 22/0035 0, - drop); d -> d0 :: Counter -> Discard;
t[1] -> e :: CTXDispatcher(src host 1.0.0.1:HASH-3! && src port 2 keep 1, ip proto 17&&dst port 53:ARRAY 0, agg ip+9/1 2);
e[0] -> e0 :: Counter -> Discard; e[1] -> e1 :: Counter -> Discard; e[2] -> e2 :: Counter -> Discard;
// What is 0 is for all packets, with a state for each value in FastClick.
t[2] -> f :: FlowDispatcher(12/0/ffffffff 9/11 1, 16/00000000/ffffffff 0, - 1); f[0] -> f0 :: Counter -> Discard; f[1] -> f1 :: Counter -> Discard;
t[3] -> EtherEncap(0x0800, 0:0:0:0:0:9, 0:0:0:0:0:8) -> g :: FlowContextDispatcher(12/0800 26/00000000/ffffffff 0, - 1); g[0] -> g0 :: Counter -> Discard; g[1] -> Discard;
//? d0.count
//= 1
//? e0.count
//= 2
//? e1.count
//= 1
//? e2.count
//= 1
//? e.drop_reasons
//= 1	no pattern matches
//? f0.count
//= 3
//? f1.count
//= 2
//? g0.count
//= 5
//! then
Idle -> CTXDispatcher(9/06, dst net 10.0.0.0/8 0) -> Discard;
//! error pattern 1: 'dst net' is not implemented
