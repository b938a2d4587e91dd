//! workers 1
// Both directions of a connection. Between the client's TCPIn and TCPOut segments lose all but four bytes, and some lose all. The sender
// is told of that only where nothing before may be lost yet.
FromIPSummaryDump($DIR/in, CHECKSUM true, STOP true) -> c :: IPClassifier(dst tcp port 80, -);
c[0] -> in :: TCPIn(FLOWDIRECTION 0, OUTNAME out, RETURNNAME back) -> s :: StringMatcher(gone) -> Truncate(44) -> out :: TCPOut; s[1] -> Truncate(40) -> out;
c[1] -> back :: TCPIn(FLOWDIRECTION 1, RETURNNAME in) -> TCPOut -> o :: Null;
out -> o; out[1] -> o;
o -> IPPrint(p, TIMESTAMP false) -> CheckIPHeader -> CheckTCPHeader -> good :: Counter -> Discard;
//< in !data src sport dst dport proto tcp_flags tcp_seq tcp_ack payload
//< in 1.0.0.1 1 2.0.0.2 80 T S 99 0 ""
//< in 2.0.0.2 80 1.0.0.1 1 T SA 499 100 ""
//< in 1.0.0.1 1 2.0.0.2 80 T A 100 500 "abcdefgh"
//< in 1.0.0.1 1 2.0.0.2 80 T A 116 500 "gone"
//< in 1.0.0.1 1 2.0.0.2 80 T A 108 500 "ijklmnop"
//< in 2.0.0.2 80 1.0.0.1 1 T A 500 104 "xyz"
//< in 1.0.0.1 1 2.0.0.2 80 T A 108 503 "ijklmnop"
//< in 2.0.0.2 80 1.0.0.1 1 T A 503 108 ""
//< in 1.0.0.1 1 2.0.0.2 80 T A 120 503 "gone"
//= p: 1.0.0.1.1 > 2.0.0.2.80: S 99:100(1,40,40) win 0
//= p: 2.0.0.2.80 > 1.0.0.1.1: S 499:500(1,40,40) ack 100 win 0
//= p: 1.0.0.1.1 > 2.0.0.2.80: . 100:104(4,44,44) ack 500 win 0
//= p: 1.0.0.1.1 > 2.0.0.2.80: . 104:108(4,44,44) ack 500 win 0
//= p: 1.0.0.1.1 > 2.0.0.2.80: . 107:107(0,40,40) ack 500 win 0
//= p: 2.0.0.2.80 > 1.0.0.1.1: . 500:503(3,43,43) ack 108 win 0
//= p: 1.0.0.1.1 > 2.0.0.2.80: . 104:108(4,44,44) ack 503 win 0
//= p: 2.0.0.2.80 > 1.0.0.1.1: . 503:503(0,40,40) ack 120 win 0
//= p: 1.0.0.1.1 > 2.0.0.2.80: . 107:107(0,40,40) ack 503 win 0
//= p: 2.0.0.2.80 > 1.0.0.1.1: . 503:503(0,40,40) ack 124 win 0
//? good.count
//= 10
//? in.connections
//= 1
