// Servers without a keyword, with one, and several in one argument.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager -> t :: Tee(4);
t[0] -> a :: FlowIPLoadBalancer(10.0.0.1, 10.0.0.2, VIP 1.2.3.4) -> IPPrint(a, TIMESTAMP false) -> Discard;
t[1] -> b :: IPLoadBalancer(10.0.0.1, DST 10.0.0.2 10.0.0.3, VIP 1.2.3.4, LB_MODE rr) -> Discard;
t[2] -> c :: FlowNAPTLoadBalancer(10.0.0.1, 10.0.0.2, SIP 1.1.1.1 1.1.1.2, STATE false) -> c1 :: IPClassifier(src host 1.1.1.1 and dst host 10.0.0.1, src host 1.1.1.2 and dst host 10.0.0.2, -);
c1[0] -> first :: Counter -> Discard; c1[1] -> second :: Counter -> Discard; c1[2] -> others :: Counter -> Discard;
t[3] -> EtherEncap(0x0800, 0:0:0:0:0:9, 0:0:0:0:0:8) -> u :: Tee;
u[0] -> d :: FlowL2LoadBalancer(0:0:0:0:0:1, 0:0:0:0:0:2) -> Discard; u[1] -> e :: L2LoadBalancer(0:0:0:0:0:1 0:0:0:0:0:2, 0:0:0:0:0:3) -> Discard;
//< in !data src sport dst dport proto payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//< in 1.0.0.1 2 2.0.0.2 53 U 8
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//= a :: FlowIPLoadBalancer has 2 routes
//= b :: IPLoadBalancer has 3 routes
//= c :: FlowNAPTLoadBalancer has 2 routes and 2 sources
//= d :: FlowL2LoadBalancer has 2 routes
//= e :: L2LoadBalancer has 3 routes
//= a: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= a: 1.0.0.1.2 > 10.0.0.2.53: udp 16
//= a: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//? b.load_packets
//= 1 1 1
//? first.count
//= 2
//? second.count
//= 1
//? others.count
//= 0
//? d.load_packets
//= 2 1
//? e.load_packets
//= 1 1 1
//! then
Idle -> FlowIPManager -> FlowIPLoadBalancer(10.0.0.1, 10.0.0.2) -> Discard;
//! error VIP: required argument missing
//! then
Idle -> FlowIPManager -> FlowNAPTLoadBalancer(10.0.0.1, 10.0.0.2, SIP 1.1.1.1) -> Discard;
//! error The number of SIP must match DST
