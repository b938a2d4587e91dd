// A line for each packet, and packets made of the lines.
InfiniteSource(DATA hello, LIMIT 1, STOP true) -> UDPIPEncap(10.0.0.1, 1000, 10.0.0.2, 53) -> SetTimestamp(3.5)
  -> ToIPSummaryDump($DIR/x.txt, FIELDS timestamp src sport dst dport proto ip_len payload_len);
//! then
s :: FromIPSummaryDump($DIR/x.txt, STOP true, CHECKSUM true) -> CheckIPHeader -> IPPrint(made) -> Discard;
//= made: 3.500000: 10.0.0.1.1000 > 10.0.0.2.53: udp 13
//? s.count
//= 1
//! then
// Fields and flows may stand in the file.
FromIPSummaryDump($DIR/y.txt, STOP true, CHECKSUM true) -> CheckIPHeader -> IPPrint(own, TIMESTAMP false) -> Discard;
//< y.txt !IPSummaryDump 1.3
//< y.txt !flowid 1.0.0.1 5 2.0.0.2 6 T
//< y.txt !data tcp_flags tcp_seq tcp_ack payload_len
//< y.txt SA 7 8 3
//= own: 1.0.0.1.5 > 2.0.0.2.6: S 7:11(4,43,43) ack 8 win 0
//! then
// A field of some TCP options has no others, in binary neither.
FromIPSummaryDump($DIR/o.txt, STOP true) -> ToIPSummaryDump($DIR/o.bin, FIELDS ip_src tcp_ntopt, BINARY true)
  -> ToIPSummaryDump($DIR/p.bin, FIELDS ip_src ip_proto tcp_sack, BINARY true) -> Discard;
//< o.txt !data ip_proto tcp_opt
//< o.txt T mss1460;sackok;ts5:7;wscale3
//! then
FromIPSummaryDump($DIR/o.bin, STOP true) -> ToIPSummaryDump($DIR/o.out, FIELDS tcp_opt, HEADER false);
//! then
FromIPSummaryDump($DIR/p.bin, STOP true) -> ToIPSummaryDump($DIR/p.out, FIELDS tcp_opt, HEADER false);
//! then
s :: Script(TYPE PASSIVE); DriverManager(print $(s.cat $DIR/o.out), print $(s.cat $DIR/p.out), stop);
//= mss1460;sackok;wscale3
//= sackok
