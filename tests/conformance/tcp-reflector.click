// Each packet is answered as a server might: what it brought is acknowledged, its data comes back, and options go. Resets and other protocols are dropped.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> t :: Tee(3);
t[0] -> r :: TCPReflector(RAND_SEQ false) -> CheckIPHeader -> CheckTCPHeader -> IPPrint(a, TTL true, TIMESTAMP false) -> TCPReflector -> Discard;
t[1] -> s :: TCPReflector(STRIP_PAYLOAD true, RAND_SEQ false) -> CheckIPHeader -> CheckTCPHeader -> c1 :: Counter -> Discard;
t[2] -> d :: TCPReflector(DATA "hello you", RAND_SEQ false) -> CheckIPHeader -> CheckTCPHeader -> c2 :: Counter -> StripIPHeader -> StripTCPHeader -> Print(d, CONTENTS ASCII, TIMESTAMP false) -> Discard;
//! workers 1
//< in !data src sport dst dport proto tcp_flags tcp_seq tcp_ack tcp_opt payload
//< in 1.0.0.1 1000 2.0.0.2 80 T S 99 0 mss1400 ""
//< in 1.0.0.1 1000 2.0.0.2 80 T A 100 1 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 T PA 100 1 . "abc"
//< in 1.0.0.1 1000 2.0.0.2 80 T FA 103 4 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 T R 104 0 . ""
//< in 1.0.0.1 1000 2.0.0.2 80 U . . . ""
//= a: ttl 64 2.0.0.2.80 > 1.0.0.1.1000: S 0:1(1,40,40) ack 100 win 0
//= d:    0
//= a: ttl 64 2.0.0.2.80 > 1.0.0.1.1000: . 1:1(0,40,40) ack 100 win 0
//= d:    0
//= a: ttl 64 2.0.0.2.80 > 1.0.0.1.1000: . 1:4(3,43,43) ack 103 win 0
//= d:    9 |  hello yo u
//= a: ttl 64 2.0.0.2.80 > 1.0.0.1.1000: F 4:5(1,40,40) ack 104 win 0
//= d:    0
//? c1.byte_count
//= 160
//? c2.byte_count
//= 169
//? r.drop_reasons
//= 2	nothing to answer
