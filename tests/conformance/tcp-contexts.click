// A context arrow that leads to a TCPIn takes TCP packets only.
FromIPSummaryDump($DIR/in, CHECKSUM true, STOP true) -> CTXManager -> i :: IPIn;
i ~> in :: TCPIn(RETURNNAME back) -> TCPOut -> t :: Counter -> IPOut -> Discard; i ~> u :: Counter -> Discard;
Idle -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
//< in !data src sport dst dport proto tcp_flags tcp_seq payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 0 8
//< in 1.0.0.1 2 2.0.0.2 53 T S 7 0
//? t.count
//= 1
//? u.count
//= 1
//! then
// An arrow can stand for a TCPIn, and one for its TCPOut: two TCPIn are each other's other direction.
FromIPSummaryDump($DIR/in, CHECKSUM true, STOP true) -> CTXManager -> i :: IPIn;
i ~tcp> t :: Counter ~/tcp> Discard; i ~> u :: Counter -> Discard;
Idle -> IPIn ~tcp> Null ~/tcp> Discard;
//? t.count
//= 1
//? u.count
//= 1
