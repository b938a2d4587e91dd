// FastClick's source needs no arguments, and may stop the router.
s :: FastUDPSource(LIMIT 2, STOP true) -> Unqueue -> Strip(14) -> CheckIPHeader -> CheckUDPHeader -> IPPrint(TIMESTAMP false) -> c :: Counter -> Discard;
//= 127.0.0.1.1000 > 127.0.0.1.1000: udp 30
//= 127.0.0.1.1000 > 127.0.0.1.1000: udp 30
//? c.byte_count
//= 100
