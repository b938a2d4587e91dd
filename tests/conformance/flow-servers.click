// Flows get the address of a server.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager -> lb :: FlowIPLoadBalancer(VIP 10.0.0.9, DST 10.0.0.1, DST 10.0.0.2) -> CheckIPHeader -> CheckUDPHeader
  -> IPPrint(TIMESTAMP false) -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 1 2.0.0.2 54 U - 8
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//= lb :: FlowIPLoadBalancer has 2 routes
//= 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= 1.0.0.1.1 > 10.0.0.2.54: udp 16
//= 1.0.0.1.1 > 10.0.0.1.53: udp 16
//? lb.load_packets
//= 2 1
//! then
// What servers answer comes from the balancer.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager -> lb :: FlowIPLoadBalancer(10.0.0.1, VIP 10.0.0.9, DST 10.0.0.2) -> IPMirror -> FlowIPLoadBalancerReverse(lb)
  -> CheckIPHeader -> CheckUDPHeader -> IPPrint(TIMESTAMP false) -> Discard;
//= lb :: FlowIPLoadBalancer has 2 routes
//= 10.0.0.9.53 > 1.0.0.1.1: udp 16
//= 10.0.0.9.54 > 1.0.0.1.1: udp 16
//= 10.0.0.9.53 > 1.0.0.1.1: udp 16
//! then
// Flows get another source address, and a port of their own.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager(TIMEOUT 60) -> nat :: FlowIPNAT(SIP 9.9.9.9) -> CheckIPHeader -> CheckUDPHeader
  -> IPPrint(TIMESTAMP false) -> Discard;
//= 9.9.9.9.1024 > 2.0.0.2.53: udp 16
//= 9.9.9.9.1025 > 2.0.0.2.54: udp 16
//= 9.9.9.9.1024 > 2.0.0.2.53: udp 16
//? nat.ports
//= 64510
//! then
// What comes back goes to whom it is meant for; no server has the ports of packets that were not changed.
FromIPSummaryDump($DIR/in, STOP false, CHECKSUM true) -> FlowIPManager(TIMEOUT 1) -> t :: Tee -> nat :: FlowIPNAT(SIP 9.9.9.9) -> IPMirror -> FlowIPNATReverse(nat)
  -> CheckIPHeader -> CheckUDPHeader -> IPPrint(TIMESTAMP false) -> Discard;
t[1] -> wrong :: FlowIPNATReverse(nat) -> Discard;
// When flows are over, all ports are free.
Script(wait 0.5, print $(nat.ports), wait 3, print $(nat.ports), stop);
//= 2.0.0.2.53 > 1.0.0.1.1: udp 16
//= 2.0.0.2.54 > 1.0.0.1.1: udp 16
//= 2.0.0.2.53 > 1.0.0.1.1: udp 16
//= 64510
//= 64512
//? wrong.drop_reasons
//= 3	no flow has the port
//! then
// TCP flows that begin in their middle are not let through unless one wants to.
//< tcp !data src sport dst dport proto tcp_flags payload_len
//< tcp 1.0.0.1 1 2.0.0.2 80 T A 0
//< tcp 1.0.0.1 1 2.0.0.2 80 T S 0
//< tcp 1.0.0.1 1 2.0.0.2 80 T A 0
//< tcp 1.0.0.1 1 2.0.0.2 80 T FA 0
//< tcp 1.0.0.1 0 2.0.0.2 0 1 - 8
FromIPSummaryDump($DIR/tcp, STOP true, CHECKSUM true) -> FlowIPManager(TIMEOUT 60) -> nat :: FlowIPNAT(9.9.9.9, ACCEPT_NONSYN false, STATE true) -> CheckTCPHeader
  -> c :: Counter -> Discard;
//? c.count
//= 3
//? nat.drop_reasons
//= 1	first packet is no SYN
//= 1	no TCP or UDP ports
