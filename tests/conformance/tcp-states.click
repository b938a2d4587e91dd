// Connections end with FINs and the last ACK, by direction; after that only a SYN begins one anew. Those that one direction only has seen are on the map.
FromIPSummaryDump($DIR/in, CHECKSUM true, STOP true) -> FlowIPManager -> c :: IPClassifier(dst tcp port 80, -);
c[0] -> up :: TCPStateIN(RETURNNAME down) -> u :: Counter -> Discard; up[1] -> v :: Counter -> Discard;
c[1] -> down :: TCPStateIN(RETURNNAME up, ACCEPT_NONSYN false) -> d :: Counter -> Discard;
//< in !data src sport dst dport proto tcp_flags tcp_seq
//< in 1.0.0.1 1 2.0.0.2 80 T S 99
//< in 2.0.0.2 80 1.0.0.1 1 T SA 499
//< in 1.0.0.1 2 2.0.0.2 80 T S 99
//< in 1.0.0.1 3 2.0.0.2 80 T S 99
//< in 2.0.0.2 80 1.0.0.1 3 T SA 499
//< in 1.0.0.1 1 2.0.0.2 80 T FA 100
//< in 1.0.0.1 1 2.0.0.2 80 T A 101
//< in 2.0.0.2 80 1.0.0.1 1 T FA 500
//< in 1.0.0.1 1 2.0.0.2 80 T A 101
//< in 1.0.0.1 1 2.0.0.2 80 T A 101
//< in 2.0.0.2 80 1.0.0.1 1 T FA 500
//< in 2.0.0.2 80 1.0.0.1 4 T A 500
//< in 1.0.0.1 1 2.0.0.2 80 T S 9
//? u.count
//= 7
//? v.count
//= 1
//? d.count
//= 4
//? down.drop_reasons
//= 1	connection without SYN
//? up.map_size
//= 2
//? down.established
//= 2
//? up.established
//= 0
//! workers 1
//! then
Idle -> FlowIPManager -> up :: TCPStateIN(RETURNNAME down) -> down :: TCPStateIN(RETURNNAME down) -> Discard;
//! error 'down' has another RETURNNAME than 'up'
//! then
// What comes again has left TCPIn as it left TCPOut before, and joins the rest.
FromIPSummaryDump($DIR/again, CHECKSUM true, STOP true) -> in :: TCPIn -> WordMatcher(WORD bad) -> TCPOut -> r :: SimpleTCPRetransmitter -> Strip(40) -> Print(r, CONTENTS ASCII) -> Discard;
in[1] -> [1] r;
Idle -> TCPIn -> TCPOut -> Discard;
//< again !data src sport dst dport proto tcp_flags tcp_seq payload
//< again 1.0.0.1 1 2.0.0.2 80 T S 99 ""
//< again 1.0.0.1 1 2.0.0.2 80 T A 100 "bad."
//< again 1.0.0.1 1 2.0.0.2 80 T A 100 "bad."
//= r:    0
//= r:    4 |  ***.
//= r:    4 |  ***.
//! workers 1
//! then
Idle -> FlowIPManager -> o :: TCPReorder -> TCPIn -> TCPOut -> r :: TCPRetransmitter -> Discard;
o[1] -> [1] r; Idle -> TCPIn -> TCPOut -> Discard;
//! error input 1 is for what the second output of a TCPIn emits
