// Sixty bytes of data in packets of at most 80.
InfiniteSource(DATA \<45000064 00010000 40060000 0a000001 c6336402 13880050 00000001 00000002 50110100 00000000>,
    LENGTH 100, LIMIT 1)
  -> SetIPChecksum -> CheckIPHeader -> SetTCPChecksum -> TCPFragmenter(MTU 80) -> CheckIPHeader -> CheckTCPHeader
  -> IPPrint(part, TIMESTAMP false, LENGTH true) -> c :: Counter -> Discard;
Script(wait 1, stop);
//= part: length 80 10.0.0.1.5000 > 198.51.100.2.80: . 1:41(40,80,80) ack 2 win 256
//= part: length 60 10.0.0.1.5000 > 198.51.100.2.80: F 41:62(21,60,60) ack 2 win 256
//? c.byte_count
//= 140
