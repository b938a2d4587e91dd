// A packet that is longer than its headers and its payload has options, but in headers of which the summary tells how long they are.
//< in !data ip_src ip_len ip_proto ip_hl ip_opt tcp_opt payload_len
//< in 1.0.0.1 132 T - - - 5
//< in 1.0.0.1 132 T 20 - - 5
//< in 1.0.0.1 132 T - . - 5
//< in 1.0.0.1 132 T - - . 5
//< in 1.0.0.1 132 T 20 - mss1400 5
//< in 1.0.0.1 132 U 24 - - 5
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> ToIPSummaryDump($DIR/out, HEADER false, FIELDS ip_hl tcp_off payload_len);
//! then
Script(print $(cat $DIR/out), stop);
//= 60 60 12
//= 20 60 52
//= 20 60 52
//= 60 20 52
//= 20 24 88
//= 24 - 100
