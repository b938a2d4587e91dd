// Flows outlive a change of the configuration, with what elements know of them: numbers, outputs, servers, ports, tokens. Packets that wait in a queue stay theirs.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> m :: FlowIPManager(CAPACITY 64, TIMEOUT 60) -> c :: FlowCounter -> t :: Tee(6);
t[0] -> id :: StoreFlowID(28) -> Strip(28) -> Print(id, 8) -> Discard;
t[1] -> s :: FlowRoundRobinSwitch; s[0], s[1], s[2] => Print(a, 0), Print(b, 0), Print(c, 0) => Discard, Discard, Discard;
t[2] -> lb :: FlowIPLoadBalancer(VIP 10.0.0.9, DST 10.0.0.1, DST 10.0.0.2, DST 10.0.0.3) -> IPPrint(lb, TIMESTAMP false) -> Discard;
t[3] -> nat :: FlowIPNAT(SIP 9.9.9.9) -> IPPrint(nat, TIMESTAMP false) -> Discard;
t[4] -> l :: FlowRateLimiter(1, BURST_SIZE 3) -> Discard;
t[5] -> q :: Queue -> Idle;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 8
//< in 1.0.0.1 2 2.0.0.2 53 U - 8
//< in 1.0.0.1 3 2.0.0.2 53 U - 8
//= lb :: FlowIPLoadBalancer has 3 routes
//= id:    8 | 01000000 00000000
//= a:   36
//= lb: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= nat: 9.9.9.9.1024 > 2.0.0.2.53: udp 16
//= id:    8 | 02000000 00000000
//= b:   36
//= lb: 1.0.0.1.2 > 10.0.0.2.53: udp 16
//= nat: 9.9.9.9.1025 > 2.0.0.2.53: udp 16
//= id:    8 | 03000000 00000000
//= c:   36
//= lb: 1.0.0.1.3 > 10.0.0.3.53: udp 16
//= nat: 9.9.9.9.1026 > 2.0.0.2.53: udp 16
//! swap
// Output 2 and server 10.0.0.3 are gone: flows that had them choose again.
FromIPSummaryDump($DIR/again, STOP false, CHECKSUM true) -> m :: FlowIPManager(CAPACITY 64, TIMEOUT 60) -> c :: FlowCounter -> t :: Tee(6);
t[0] -> id :: StoreFlowID(28) -> Strip(28) -> Print(id, 8) -> Discard;
t[1] -> s :: FlowRoundRobinSwitch; s[0], s[1] => Print(a, 0), Print(b, 0) => Discard, Discard;
t[2] -> lb :: FlowIPLoadBalancer(VIP 10.0.0.9, DST 10.0.0.2, DST 10.0.0.1) -> IPPrint(lb, TIMESTAMP false) -> Discard;
t[3] -> nat :: FlowIPNAT(SIP 9.9.9.9) -> IPPrint(nat, TIMESTAMP false) -> Discard;
t[4] -> l :: FlowRateLimiter(1, BURST_SIZE 3) -> Discard;
t[5] -> q :: Queue -> Unqueue -> late :: FlowCounter -> Discard;
//< again !data src sport dst dport proto tcp_flags payload_len
//< again 1.0.0.1 3 2.0.0.2 53 U - 8
//< again 1.0.0.1 1 2.0.0.2 53 U - 8
//< again 1.0.0.1 4 2.0.0.2 53 U - 8
//< again 1.0.0.1 1 2.0.0.2 53 U - 8
//< again 1.0.0.1 1 2.0.0.2 53 U - 8
Script(wait 1, print $(m.count) $(c.count) $(c.open) $(nat.ports) $(lb.load_packets) $(l.dropped), wait 120, print $(m.count) $(c.count) $(c.open) $(nat.ports), stop);
//= lb :: FlowIPLoadBalancer has 2 routes
//= s: state of 1 flows lost
//= lb: state of 1 flows lost
//= id:    8 | 03000000 00000000
//= a:   36
//= lb: 1.0.0.1.3 > 10.0.0.2.53: udp 16
//= nat: 9.9.9.9.1026 > 2.0.0.2.53: udp 16
//= id:    8 | 01000000 00000000
//= a:   36
//= lb: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= nat: 9.9.9.9.1024 > 2.0.0.2.53: udp 16
//= id:    8 | 04000000 00000000
//= b:   36
//= lb: 1.0.0.1.4 > 10.0.0.1.53: udp 16
//= nat: 9.9.9.9.1027 > 2.0.0.2.53: udp 16
//= id:    8 | 01000000 00000000
//= a:   36
//= lb: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= nat: 9.9.9.9.1024 > 2.0.0.2.53: udp 16
//= id:    8 | 01000000 00000000
//= a:   36
//= lb: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= nat: 9.9.9.9.1024 > 2.0.0.2.53: udp 16
//= 4 4 4 64508 2 5 1
//= 0 4 0 64512
//? late.count
//= 4
//? late.drop_reasons
//! then
// Another manager comes first, so that flows have other numbers; they are found by the new ones, and packets that wait with an old one belong to no flow.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> m :: FlowIPManager(CAPACITY 64) -> c :: FlowCounter -> id :: StoreFlowID(28) -> q :: Queue -> Idle;
//? q.length
//= 3
//! swap
Idle -> FlowIPManager -> FlowCounter -> Discard;
FromIPSummaryDump($DIR/again, CHECKSUM true) -> m :: FlowIPManager(CAPACITY 128) -> c :: FlowCounter -> id :: StoreFlowID(28)
  -> q :: Queue -> Unqueue -> l :: FlowCounter -> Strip(28) -> Print(id, 8) -> Discard;
Script(wait 1, stop);
//= id:    8 | 03000000 00000000
//= id:    8 | 01000000 00000000
//= id:    8 | 04000000 00000000
//= id:    8 | 01000000 00000000
//= id:    8 | 01000000 00000000
//? c.count
//= 4
//? l.drop_reasons
//= 3	no flow
//! swap
// There is room for two flows.
Idle -> FlowIPManager -> FlowCounter -> Discard;
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> m :: FlowIPManager(CAPACITY 2) -> c :: FlowCounter -> id :: StoreFlowID(28) -> Strip(28) -> Print(id, 8) -> Discard;
//= m: 2 flows lost (there is room for 2 now)
//= id:    8 | 05000000 00000000
//= id:    8 | 06000000 00000000
//? m.drop_reasons
//= 1	flow table full
