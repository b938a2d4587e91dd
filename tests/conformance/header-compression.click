// Headers of a TCP connection are compressed to what changes, and put back.
FromIPSummaryDump(DATA "!data ip_src ip_dst ip_proto sport dport tcp_flags ip_id tcp_seq tcp_ack tcp_window
10.0.0.1 10.0.0.2 T 1 80 S 1 100 0 9
10.0.0.1 10.0.0.2 T 1 80 A 2 101 51 9
10.0.0.1 10.0.0.2 T 1 80 PA 3 101 51 9
10.0.0.1 10.0.0.2 T 1 80 A 4 110 1000 9
10.0.0.1 10.0.0.2 U 1 80 - 5 0 0 0
", CHECKSUM true) -> CheckIPHeader -> RFC2507Comp -> Print(way, 10) -> RFC2507Decomp -> CheckIPHeader -> IPPrint(TIMESTAMP false) -> Discard;
Script(wait 1, stop);
//= way:   41 | 00450000 28000100 0064
//= 10.0.0.1.1 > 10.0.0.2.80: S 100:101(1,40,40) win 9
//= way:   42 | 01014500 00280002 0000
//= 10.0.0.1.1 > 10.0.0.2.80: . 101:101(0,40,40) ack 51 win 9
//= way:    5 | 0201109a d8
//= 10.0.0.1.1 > 10.0.0.2.80: P 101:101(0,40,40) ack 51 win 9
//= way:    9 | 02010c97 220003b5 09
//= 10.0.0.1.1 > 10.0.0.2.80: . 110:110(0,40,40) ack 1000 win 9
//= way:   29 | 00450000 1c000500 0064
//= 10.0.0.1.1 > 10.0.0.2.80: udp 8
