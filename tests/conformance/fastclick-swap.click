// Flows keep ports and servers when the configuration is replaced, and loads are counted on.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager(CAPACITY 64, TIMEOUT 60) -> t :: Tee;
t[0] -> n :: FlowNAPTLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, SIP 9.0.0.1, SIP 9.0.0.2, STATE false) -> IPPrint(n, TIMESTAMP false) -> Discard;
t[1] -> b :: IPLoadBalancer(VIP 10.0.0.9, DST 10.0.0.1, DST 10.0.0.2, LB_MODE least, LST_MODE packets) -> IPPrint(b, TIMESTAMP false) -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 2 2.0.0.2 53 U - 8
//< in 1.0.0.1 3 2.0.0.2 53 U - 8
//= n :: FlowNAPTLoadBalancer has 2 routes and 2 sources
//= b :: IPLoadBalancer has 2 routes
//= n: 9.0.0.1.1024 > 10.0.0.1.53: udp 16
//= b: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= n: 9.0.0.2.1025 > 10.0.0.2.53: udp 16
//= b: 1.0.0.1.2 > 10.0.0.2.53: udp 16
//= n: 9.0.0.1.1026 > 10.0.0.1.53: udp 16
//= b: 1.0.0.1.3 > 10.0.0.1.53: udp 16
//! swap
FromIPSummaryDump($DIR/again, STOP true, CHECKSUM true) -> FlowIPManager(CAPACITY 64, TIMEOUT 60) -> t :: Tee;
t[0] -> n :: FlowNAPTLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, SIP 9.0.0.1, SIP 9.0.0.2, STATE false) -> IPPrint(n, TIMESTAMP false) -> Discard;
t[1] -> b :: IPLoadBalancer(VIP 10.0.0.9, DST 10.0.0.2, DST 10.0.0.1, LB_MODE least, LST_MODE packets) -> IPPrint(b, TIMESTAMP false) -> Discard;
//< again !data src sport dst dport proto tcp_flags payload_len
//< again 1.0.0.1 2 2.0.0.2 53 U - 8
//< again 1.0.0.1 4 2.0.0.2 53 U - 8
//= n :: FlowNAPTLoadBalancer has 2 routes and 2 sources
//= b :: IPLoadBalancer has 2 routes
//= n: 9.0.0.2.1025 > 10.0.0.2.53: udp 16
//= b: 1.0.0.1.2 > 10.0.0.2.53: udp 16
//= n: 9.0.0.1.1027 > 10.0.0.1.53: udp 16
//= b: 1.0.0.1.4 > 10.0.0.2.53: udp 16
//? b.load_packets
//= 3 2
//? n.ports
//= 64508
