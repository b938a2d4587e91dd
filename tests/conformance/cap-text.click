// What cap tells of a transfer: directions, numbers, lengths, selective acknowledgements. Segment 2 is not there, and taken to be as long as the one before.
//< a.cap SND 0
//< a.cap INF - cap v2.13
//< a.cap SYN > 1046102982.856142 0 0 40 0
//< a.cap SYN < 1046102982.931832 0 0 40 0
//< a.cap DAT > 1046102982.931941 1 1 1040 1000
//< a.cap DAT > 1046102983.156531 2 3 540 500 FR FIN
//< a.cap ACK < 1046102983.200000 1 1 52 0 SACK:3-3 DSACK:1 TIM
//< a.cap DAT > 5
f :: FromCapDump($DIR/a.cap, STOP true, AGGREGATE 7) -> a :: AggregatePacketCounter -> b :: AggregatePacketCounter(ANNO SEQUENCE_NUMBER)
  -> ToIPSummaryDump($DIR/s, HEADER false, FIELDS timestamp paint aggregate src sport dst dport tcp_flags tcp_seq tcp_ack tcp_window tcp_opt ip_len ip_ttl payload_len);
DriverManager(pause, printn $(a.received 7), printn $(b.received 7), stop);
//= $DIR/a.cap:8: packet parse error
//= 0
//= 1
//= 2
//= 0
//= 1
//= 3
//? f.count
//= 5
//? f.encap
//= IP
//! then
Script(printn $(cat $DIR/s), stop);
//= 1046102982.856142 0 7 1.0.0.1 1 2.0.0.2 2 S 0 0 65535 . 40 0 0
//= 1046102982.931832 1 7 2.0.0.2 2 1.0.0.1 1 SA 0 1 65535 . 40 0 0
//= 1046102982.931941 0 7 1.0.0.1 1 2.0.0.2 2 A 1 1 65535 . 1040 0 1000
//= 1046102983.156531 0 7 1.0.0.1 1 2.0.0.2 2 FA 2001 1 65535 . 540 0 500
//= 1046102983.200000 1 7 2.0.0.2 2 1.0.0.1 1 A 1 1001 65535 sack2001-2502;sack1-1001 64 0 0
//! then
// At the receiver the paint, and so the flow, is that of the other side.
//< b.cap RCV 0
//< b.cap DAT < 1.5 1 0 40 9
//< b.cap ACK > 1.6 1 0 40 0
FromCapDump($DIR/b.cap, STOP true, CHECKSUM true, FLOWID 10.0.0.1 80 10.0.0.2 1000) -> CheckIPHeader -> CheckTCPHeader
  -> ToIPSummaryDump($DIR/t, HEADER false, FIELDS timestamp paint src sport dst dport tcp_seq tcp_ack wire_len);
//! then
Script(printn $(cat $DIR/t), stop);
//= 1.500000 0 10.0.0.2 1000 10.0.0.1 80 0 1 49
//= 1.600000 1 10.0.0.1 80 10.0.0.2 1000 1 9 40
//! then
FromCapDump($DIR/b.cap, FLOWID 10.0.0.1) -> Discard;
//! error FLOWID: bad flow
