// The flows of packets, which keep their order.
s :: FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowIPManager -> p :: FlowPrint -> c :: Counter -> Discard;
//< in !data src sport dst dport proto payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//< in 1.0.0.1 2 2.0.0.2 53 U 8
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//= p: 1 packets from flow 1. Count : 1
//= p: 1 packets from flow 2. Count : 1
//= p: 1 packets from flow 1. Count : 2
//? c.count
//= 3
//! then
// Where packets without a flow pass, it needs no flow manager.
InfiniteSource(LIMIT 1, STOP true) -> FlowPrint(true) -> c :: Counter -> Discard;
//= 1 packets not from a specific flow...
//? c.count
//= 1
