// A source NAT: the address and port change on the way out and are restored on the way back.
rw :: IPRewriter(pattern 192.0.2.1 5000-5100 - - 0 1, drop);
InfiniteSource(DATA \<4500001c 00010000 40110000 0a000001 c6336402 13880035 00080000>, LIMIT 1)
  -> SetIPChecksum -> CheckIPHeader -> [0] rw;
rw[0] -> IPPrint(out, TIMESTAMP false) -> IPMirror -> [1] rw;
rw[1] -> IPPrint(back, TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= out: 192.0.2.1.5000 > 198.51.100.2.53: udp 8
//= back: 198.51.100.2.53 > 10.0.0.1.5000: udp 8
