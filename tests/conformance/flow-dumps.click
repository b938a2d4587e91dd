// A summary for each flow, whose times and numbers count from the first.
//< in.txt !IPSummaryDump 1.3
//< in.txt !data timestamp ip_src sport ip_dst dport ip_proto tcp_flags tcp_seq tcp_ack payload_len
//< in.txt 1.5 1.0.0.1 10 2.0.0.2 20 T S 1000 0 0
//< in.txt 1.6 2.0.0.2 20 1.0.0.1 10 T SA 5000 1001 0
//< in.txt 1.7 1.0.0.1 11 2.0.0.2 53 U - - - 30
FromIPSummaryDump($DIR/in.txt, STOP true) -> AggregateIPFlows -> ToIPFlowDumps($DIR/flow%02n%p);
//! then
// The summaries are as any others.
FromIPSummaryDump($DIR/flow01T, STOP true, CHECKSUM true) -> CheckIPHeader -> IPPrint(one) -> Discard;
//= one: 0.000000001: 1.0.0.1.10 > 2.0.0.2.20: S 0:1(1,40,40) win 0
//= one: 0.100000001: 2.0.0.2.20 > 1.0.0.1.10: S 0:1(1,40,40) ack 1 win 0
//! then
FromIPSummaryDump($DIR/flow02U, STOP true, CHECKSUM true) -> CheckIPHeader -> IPPrint(two, TIMESTAMP false) -> Discard;
//= two: 1.0.0.1.11 > 2.0.0.2.53: udp 38
