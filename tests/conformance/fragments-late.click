// Fragments of a packet that stays incomplete are given up 30 whole seconds later, when another fragment comes.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true, ZERO true) -> r :: IPReassembler -> IPPrint(whole) -> Discard;
r[1] -> IPPrint(late) -> Discard;
//< in !data timestamp ip_src ip_dst sport dport ip_proto ip_id ip_fragoff ip_len
//< in 1.900000 1.0.0.1 2.0.0.2 1 2 U 7 0+ 36
//< in 31.950000 1.0.0.1 2.0.0.2 1 2 U 8 0+ 36
//< in 32.100000 1.0.0.1 2.0.0.2 1 2 U 8 16 36
//< in 42.000000 1.0.0.1 2.0.0.2 1 2 U 9 0+ 36
//= whole: 32.100000: 1.0.0.1.1 > 2.0.0.2.2: udp 16
//= late: 1.900000: 1.0.0.1.1 > 2.0.0.2.2: udp 16 (frag 7:16@0+)
//? r.dump
//= frags seen total:    4
//= good reassemblies:   1
//= failed reassemblies: 0
//= bad fragments seen:  0
//= cached chunk data:
//=  (1.0.0.1, 1, 2.0.0.2, 2) 9 (0,16)
