// All packets of a flow go one way, which its first packet chooses. An element of this kind needs a flow manager in front of it.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager -> t :: Tee(4);
t[0] -> s :: FlowRoundRobinSwitch; s[0] -> s0 :: Counter -> Discard; s[1] -> s1 :: Counter -> Discard;
t[1] -> u :: FlowSwitch(LB_MODE rr, NSERVER 2); u[0] -> u0 :: Counter -> Discard; u[1] -> u1 :: Counter -> Discard; u[2] -> u2 :: Counter -> Discard;
// Two packets of each flow may go at once; time does not pass here.
t[2] -> r :: FlowRateLimiter(1, BURST_SIZE 2) -> rc :: Counter -> Discard;
t[3] -> EtherEncap(0x0800, 0:0:0:0:0:9, 0:0:0:0:0:8) -> l :: FlowL2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2, VIP 1.2.3.4) -> Print(l, 6) -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 2 2.0.0.2 53 U - 8
//< in 1.0.0.1 3 2.0.0.2 53 U - 8
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 2 2.0.0.2 53 U - 8
//= u :: FlowSwitch has 3 routes
//= l :: FlowL2LoadBalancer has 2 routes
//= l:   50 | 00000000 0001
//= l:   50 | 00000000 0002
//= l:   50 | 00000000 0001
//= l:   50 | 00000000 0001
//= l:   50 | 00000000 0001
//= l:   50 | 00000000 0002
//? s0.count
//= 4
//? s1.count
//= 2
//? u0.count
//= 4
//? u1.count
//= 2
//? u2.count
//= 0
//? u.nb_active_servers
//= 2
//? u.load_packets
//= 4 2 0
//? rc.count
//= 5
//? r.dropped
//= 1
//? l.load_packets
//= 4 2
//! then
Idle -> FlowCounter -> Discard;
//! error needs a flow manager upstream
