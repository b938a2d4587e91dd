// A number in packets has to be the same for all packets of a flow.
FromIPSummaryDump($DIR/in, STOP true) -> c :: ConsistencyCheck(28, VERBOSE 1, CAPACITY 2) -> d :: Counter -> Discard;
//< in !data src sport dst dport proto payload
//< in 1.0.0.1 1 2.0.0.2 53 U "\<0700000000000000>"
//< in 1.0.0.1 2 2.0.0.2 53 U "\<0700000000000000>"
//< in 1.0.0.1 1 2.0.0.2 53 U "\<0800000000000000>"
//< in 1.0.0.1 1 2.0.0.2 53 U "\<0800000000000000>"
//< in 1.0.0.1 1 2.0.0.2 53 U "\<07>"
//< in 1.0.0.1 1 2.0.0.2 53 U "\<0700000000000000>"
//< in 1.0.0.1 3 2.0.0.2 53 U "\<0700000000000000>"
//= c: number 8 after 7 in the same flow
//= c: number 7 after 8 in the same flow
//? c.total_connections
//= 2
//? c.broken_connections
//= 1
//? c.broken_connections_ratio
//= 0.5
//? c.broken_packets
//= 2
//? c.broken_packets_ratio
//= 0.4
//? c.avg_broken_per_connection
//= 2
//? c.too_short
//= 1
//? d.count
//= 7
//! workers 1
