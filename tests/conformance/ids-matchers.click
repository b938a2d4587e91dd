// A connection in which a pattern occurs is closed, the packets of it leave aside; with STALL those that may begin one wait.
FromIPSummaryDump($DIR/in, CHECKSUM true, STOP true) -> in :: TCPIn -> m :: CTXIDSMatcher("at*ck", "a\\*b", STALL true) -> out :: TCPOut -> IPPrint(on, TIMESTAMP false) -> Discard;
m[1] -> a :: Counter -> Discard;
out[1] -> IPPrint(back, TIMESTAMP false) -> Discard;
Idle -> TCPIn -> TCPOut -> Discard;
//< in !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< in 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< in 1.0.0.1 1 2.0.0.2 80 T A 100 0 "a"
//< in 1.0.0.1 1 2.0.0.2 80 T A 101 0 "bc"
//< in 1.0.0.1 1 2.0.0.2 80 T A 103 0 "a"
//< in 1.0.0.1 1 2.0.0.2 80 T A 104 0 "*"
//< in 1.0.0.1 1 2.0.0.2 80 T A 105 0 "bc"
//= on: 1.0.0.1.1 > 2.0.0.2.80: S 99:100(1,40,40) win 0
//= on: 1.0.0.1.1 > 2.0.0.2.80: . 100:101(1,41,41) ack 0 win 0
//= on: 1.0.0.1.1 > 2.0.0.2.80: . 101:103(2,42,42) ack 0 win 0
//= on: 1.0.0.1.1 > 2.0.0.2.80: R 103:103(0,40,40) ack 0 win 0
//= back: 2.0.0.2.80 > 1.0.0.1.1: R 0:0(0,40,40) ack 103 win 0
//? a.count
//= 3
//? m.matched
//= 1
//? m.stalled
//= 3
//! workers 1
//! then
// Without STALL packets go on, and the connection ends with the one in which the pattern does.
FromIPSummaryDump($DIR/plain, CHECKSUM true, STOP true) -> in :: TCPIn -> m :: FlowIDSMatcher(attack) -> FlowIDSChunkMatcher(other) -> TCPOut -> IPPrint(on, TIMESTAMP false) -> Discard;
Idle -> TCPIn -> TCPOut -> Discard;
//< plain !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< plain 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< plain 1.0.0.1 1 2.0.0.2 80 T A 100 0 "an att"
//< plain 1.0.0.1 1 2.0.0.2 80 T A 106 0 "ack"
//= on: 1.0.0.1.1 > 2.0.0.2.80: S 99:100(1,40,40) win 0
//= on: 1.0.0.1.1 > 2.0.0.2.80: . 100:106(6,46,46) ack 0 win 0
//= on: 1.0.0.1.1 > 2.0.0.2.80: R 106:106(0,40,40) ack 0 win 0
//? m.stalled
//= 0
//! then
// Regular expressions are found across the packets of a flow; with KILL nothing of it passes any more.
FromIPSummaryDump($DIR/flow, CHECKSUM true, STOP true) -> FlowIPManager -> SimpleTCPReorder -> MidStat -> CTXCounter -> t :: Tee;
t[0] -> h :: FlowHyperScan("AT+ACK$", "b.g", FLAGS im, PAYLOAD_ONLY true, VERBOSE true) -> c :: Counter -> Discard;
t[1] -> k :: FlowHyperScan("big", FILE $DIR/patterns, KILL true, PAYLOAD_ONLY true) -> d :: Counter -> Discard;
//< patterns at\wack
//< patterns other
//< flow !data src sport dst dport proto tcp_flags tcp_seq payload
//< flow 1.0.0.1 1 2.0.0.2 80 T S 99 ""
//< flow 1.0.0.1 1 2.0.0.2 80 T A 100 "att"
//< flow 1.0.0.1 2 2.0.0.2 80 T S 99 ""
//< flow 1.0.0.1 2 2.0.0.2 80 T A 100 "ack"
//< flow 1.0.0.1 1 2.0.0.2 80 T A 103 "ack"
//< flow 1.0.0.1 1 2.0.0.2 80 T A 106 "\nBug"
//< flow 1.0.0.1 1 2.0.0.2 80 T A 110 "more"
//= MATCHED
//= MATCHED
//? h.matches
//= 2
//? c.count
//= 7
//? d.count
//= 4
//? k.drop_reasons
//= 3	a pattern matches
//! then
Idle -> FlowIPManager -> FlowHyperScan("a(", FLAGS i) -> Discard;
//! error pattern 0 'a(': 
//! then
Idle -> FlowIPManager -> FlowHyperScan("a", FLAGS ix) -> Discard;
//! error Unsupported flag x
//! then
Idle -> TCPIn -> CTXIDSMatcher("") -> TCPOut -> Discard; Idle -> TCPIn -> TCPOut -> Discard;
//! error pattern 0 is empty
