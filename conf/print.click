// Shows packets on their way: raw bytes with Print, IP headers with IPPrint. FastUDPSource makes the packets; the
// first 14 bytes are their Ethernet header.
//
//   clique run conf/print.click

FastUDPSource(0, 2, 60, 0:0:0:0:0:1, 10.0.0.1, 1234, 0:0:0:0:0:2, 10.0.0.2, 53)
  -> Unqueue
  -> Print(frame, MAXLENGTH 14)
  -> Strip(14)
  -> CheckIPHeader
  -> IPPrint(packet, TIMESTAMP false)
  -> c :: Counter(COUNT_CALL 2 stop)
  -> Discard;

//= frame:   60 | 00000000 00020000 00000001 0800
//= packet: 10.0.0.1.1234 > 10.0.0.2.53: udp 26
//= frame:   60 | 00000000 00020000 00000001 0800
//= packet: 10.0.0.1.1234 > 10.0.0.2.53: udp 26
