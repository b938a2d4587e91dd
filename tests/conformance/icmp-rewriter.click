// An error about a rewritten packet reaches the sender as one about the packet that it sent.
InfiniteSource(DATA hello, LIMIT 1) -> UDPIPEncap(10.0.0.1, 1000, 5.0.0.1, 53) -> CheckIPHeader -> [0] rw :: IPRewriter(pattern 1.0.0.1 9000 - - 0 1, drop);
rw[0] -> IPPrint(out, TIMESTAMP false) -> ICMPError(5.0.0.254, unreachable, host) -> CheckIPHeader -> IPPrint(error, TIMESTAMP false)
  -> ICMPRewriter(rw) -> CheckIPHeader -> CheckICMPHeader -> IPPrint(in, TIMESTAMP false)
  -> StripIPHeader -> Strip(8) -> CheckIPHeader -> IPPrint(about, TIMESTAMP false) -> Counter(COUNT_CALL 1 stop) -> Discard;
Idle -> [1] rw; rw[1] -> Discard;
//= out: 1.0.0.1.9000 > 5.0.0.1.53: udp 13
//= error: 5.0.0.254 > 1.0.0.1: icmp 5.0.0.1 unreachable host
//= in: 5.0.0.254 > 10.0.0.1: icmp 5.0.0.1 unreachable host
//= about: 10.0.0.1.1000 > 5.0.0.1.53: udp 13
