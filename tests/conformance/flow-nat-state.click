// With STATE the end of a TCP connection frees its port, once both sides have said FIN or one said RST; what comes late still passes.
s :: FromIPSummaryDump($DIR/in, ACTIVE false, CHECKSUM true) -> m :: FlowIPManager(TIMEOUT 1000) -> nat :: FlowIPNAT(SIP 9.9.9.9, STATE true)
  -> CheckIPHeader -> CheckTCPHeader -> IPPrint(out, TIMESTAMP false) -> p :: IPClassifier(syn, -);
p[0] -> Discard; p[1] -> Discard;
b :: FromIPSummaryDump($DIR/back, ACTIVE false, CHECKSUM true) -> r :: FlowIPNATReverse(nat) -> CheckTCPHeader -> IPPrint(back, TIMESTAMP false) -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 80 T S 0
//< in 1.0.0.1 1 2.0.0.2 80 T FA 0
//< back !data src sport dst dport proto tcp_flags payload_len
//< back 2.0.0.2 80 9.9.9.9 1024 T FA 0
//< back 2.0.0.2 80 9.9.9.9 1024 T A 0
//< late !data src sport dst dport proto tcp_flags payload_len
//< late 1.0.0.1 1 2.0.0.2 80 T A 0
//< late 1.0.0.1 1 2.0.0.2 80 T S 0
//< late 1.0.0.1 1 2.0.0.2 80 T R 0
late :: FromIPSummaryDump($DIR/late, ACTIVE false, CHECKSUM true) -> m;
Script(write s.active true, wait 1, print $(nat.ports), write b.active true, wait 1, print $(nat.ports), write late.active true, wait 1, print $(nat.ports), stop);
//= out: 9.9.9.9.1024 > 2.0.0.2.80: S 0:1(1,40,40) win 0
//= out: 9.9.9.9.1024 > 2.0.0.2.80: F 0:1(1,40,40) ack 0 win 0
//= 64511
//= back: 2.0.0.2.80 > 1.0.0.1.1: F 0:1(1,40,40) ack 0 win 0
//= back: 2.0.0.2.80 > 1.0.0.1.1: . 0:0(0,40,40) ack 0 win 0
//= 64512
//= out: 9.9.9.9.1024 > 2.0.0.2.80: . 0:0(0,40,40) ack 0 win 0
//= out: 9.9.9.9.1025 > 2.0.0.2.80: S 0:1(1,40,40) win 0
//= out: 9.9.9.9.1025 > 2.0.0.2.80: R 0:0(0,40,40) win 0
//= 64512
//! workers 1
//! then
// Flows get servers in turn, and an address and port of their own towards them.
s :: FromIPSummaryDump($DIR/in2, STOP false, CHECKSUM true) -> FlowIPManager(TIMEOUT 1000)
  -> lb :: FlowNAPTLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, SIP 9.0.0.1, SIP 9.0.0.2) -> CheckIPHeader -> c :: IPClassifier(tcp, udp);
c[0] -> CheckTCPHeader -> IPPrint(to, TIMESTAMP false) -> IPMirror -> back :: FlowNAPTLoadBalancerReverse(lb)
  -> k :: IPClassifier(tcp, udp); k[0] -> CheckTCPHeader -> q :: IPPrint(from, TIMESTAMP false) -> Discard; k[1] -> CheckUDPHeader -> q;
c[1] -> CheckUDPHeader -> IPPrint(to, TIMESTAMP false) -> IPMirror -> back;
// Packets from others than the flow's server, or to ports of no flow, do not pass.
w :: FromIPSummaryDump($DIR/wrong, ACTIVE false, CHECKSUM true) -> wrong :: FlowNAPTLoadBalancerReverse(lb) -> Discard;
//< in2 !data src sport dst dport proto tcp_flags payload_len
//< in2 1.0.0.1 1 2.0.0.2 80 T S 0
//< in2 1.0.0.1 7 2.0.0.3 53 U - 8
//< in2 1.0.0.1 2 2.0.0.2 80 T A 0
//< in2 1.0.0.1 1 2.0.0.2 80 T A 0
//< wrong !data src sport dst dport proto tcp_flags payload_len
//< wrong 10.0.0.2 80 9.0.0.1 1024 T A 0
//< wrong 10.0.0.1 80 9.0.0.1 2000 T A 0
//< wrong 10.0.0.1 80 9.0.0.1 1024 1 - 0
Script(wait 1, write w.active true, wait 1, stop);
//= lb :: FlowNAPTLoadBalancer has 2 routes and 2 sources
//= to: 9.0.0.1.1024 > 10.0.0.1.80: S 0:1(1,40,40) win 0
//= from: 2.0.0.2.80 > 1.0.0.1.1: S 0:1(1,40,40) win 0
//= to: 9.0.0.2.1025 > 10.0.0.2.53: udp 16
//= from: 2.0.0.3.53 > 1.0.0.1.7: udp 16
//= to: 9.0.0.1.1024 > 10.0.0.1.80: . 0:0(0,40,40) ack 0 win 0
//= from: 2.0.0.2.80 > 1.0.0.1.1: . 0:0(0,40,40) ack 0 win 0
//? lb.ports
//= 64510
//? lb.drop_reasons
//= 1	first packet is no SYN
//? wrong.drop_reasons
//= 2	no flow has the port
//= 1	no TCP or UDP ports
//! workers 1
//! then
Idle -> FlowIPManager -> FlowNAPTLoadBalancer(DST 10.0.0.1, SIP 9.0.0.1, SIP 9.0.0.2) -> Discard;
//! error The number of SIP must match DST
