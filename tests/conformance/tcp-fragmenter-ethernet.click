// Parts have the Ethernet header of the whole, and its flags; only the last one ends the flow.
//! workers 1
FromIPSummaryDump($DIR/packets, STOP false, CHECKSUM true) -> EtherEncap(0x800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> MarkIPHeader(14)
  -> f :: TCPFragmenter(80) -> HostEtherFilter(2:2:2:2:2:2) -> IPPrint(TIMESTAMP false) -> CheckIPHeader(14) -> CheckTCPHeader -> c :: Counter -> Discard;
//< packets !data ip_src ip_dst ip_proto tcp_flags tcp_seq ip_len
//< packets 1.0.0.1 2.0.0.2 T PAF 1000 140
//< packets 1.0.0.1 2.0.0.2 T PA 1000 40
Script(wait 1, print $(f.count) $(f.fragmented_count) $(f.fragments), stop);
//= 1.0.0.1.0 > 2.0.0.2.0: P 1000:1040(40,94,80) ack 0 win 0
//= 1.0.0.1.0 > 2.0.0.2.0: P 1040:1080(40,94,80) ack 0 win 0
//= 1.0.0.1.0 > 2.0.0.2.0: FP 1080:1101(21,74,60) ack 0 win 0
//= 1.0.0.1.0 > 2.0.0.2.0: P 1000:1000(0,54,40) ack 0 win 0
//= 2 1 3
//? c.count
//= 4
