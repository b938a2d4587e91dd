// Source ports go up, and behind the last one the source address does; the last burst is a whole one.
SYNFlood(10.1.1.1, 172.16.1.1, 65535, 80, LIMIT 3, BURST 2) -> MarkIPHeader(14) -> SetIPChecksum -> SetTCPChecksum -> CheckIPHeader(14)
  -> t :: CheckTCPHeader -> p :: IPClassifier(src port 65535, -) -> Print(first, 38) -> Discard; p[1] -> Print(next, 38) -> Discard;
f :: SynFlood(1.0.0.1, 2.0.0.2, ACTIVE false, LEN 100) -> Print -> Discard;
//= first:   60 | 00000000 00000000 00000000 00004500 002e0000 0000fa06 08b70a01 0101ac10 0101ffff 0050
//= next:   60 | 00000000 00000000 00000000 00004500 002e0000 0000fa06 08b60a01 0102ac10 01010001 0050
//= next:   60 | 00000000 00000000 00000000 00004500 002e0000 0000fa06 08b60a01 0102ac10 01010002 0050
//= next:   60 | 00000000 00000000 00000000 00004500 002e0000 0000fa06 08b60a01 0102ac10 01010003 0050
//? t.count
//= 4
//? f.active
//= false
