// Each packet is answered as a server might: what it brought is acknowledged, its options and data come back. Acknowledgements, resets and other protocols need no answer.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> t :: Tee(4);
t[0] -> r :: TCPReflector(RAND_SEQ false) -> CheckIPHeader -> CheckTCPHeader -> IPPrint(a, TTL true, TIMESTAMP false) -> TCPReflector -> IPPrint(b, TIMESTAMP false) -> Discard;
t[1] -> s :: TCPReflector(STRIP_PAYLOAD true, RAND_SEQ false) -> CheckIPHeader -> CheckTCPHeader -> c1 :: Counter -> Discard;
t[2] -> d :: TCPReflector(DATA "hello you", RAND_SEQ false) -> CheckIPHeader -> CheckTCPHeader -> c2 :: Counter -> StripIPHeader -> StripTCPHeader -> Print(d, CONTENTS ASCII, TIMESTAMP false) -> Discard;
t[3] -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> Unqueue -> ToDump($DIR/frames);
//! workers 1
//< in !data src sport dst dport proto tcp_flags tcp_seq tcp_ack tcp_opt payload
//< in 1.0.0.1 1000 2.0.0.2 80 T S 99 0 mss1400 ""
//< in 1.0.0.1 1000 2.0.0.2 80 T A 100 1 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 T PA 100 1 . "abc"
//< in 1.0.0.1 1000 2.0.0.2 80 T FA 103 4 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 T SA 104 4 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 T R 104 0 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 U . . . ""
//= a: ttl 250 2.0.0.2.80 > 1.0.0.1.1000: S 0:1(1,44,44) ack 100 win 61440
//= d:    0
//= a: ttl 250 2.0.0.2.80 > 1.0.0.1.1000: . 1:4(3,43,43) ack 103 win 61440
//= b: 1.0.0.1.1000 > 2.0.0.2.80: . 103:106(3,43,43) ack 4 win 61440
//= d:    9 |  hello yo u
//= a: ttl 250 2.0.0.2.80 > 1.0.0.1.1000: F 4:5(1,40,40) ack 104 win 61440
//= b: 1.0.0.1.1000 > 2.0.0.2.80: F 104:105(1,40,40) ack 5 win 61440
//= d:    0
//? c1.byte_count
//= 124
//? c2.byte_count
//= 133
//? r.drop_reasons
//= 4	nothing to answer
//! then
FromDump($DIR/frames, STOP true) -> Strip(14) -> TCPReflector(RAND_SEQ false) -> IPPrint(raw, TIMESTAMP false) -> Discard;
//! workers 1
//= raw: 2.0.0.2.80 > 1.0.0.1.1000: S 0:1(1,44,44) ack 100 win 61440
//= raw: 2.0.0.2.80 > 1.0.0.1.1000: . 1:4(3,43,43) ack 103 win 61440
//= raw: 2.0.0.2.80 > 1.0.0.1.1000: F 4:5(1,40,40) ack 104 win 61440
