// Messages of all ICMPErrors are numbered on.
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> CheckIPHeader -> t :: Tee(3);
t[0] -> ICMPError(9.9.9.9, timeexceeded) -> IPPrint(a, ID true, TIMESTAMP false) -> Discard;
t[1] -> ICMPError(9.9.9.9, unreachable, port) -> IPPrint(b, ID true, TIMESTAMP false) -> Discard;
t[2] -> ICMPError(9.9.9.9, unreachable, needfrag, PMTU 296) -> Print(c, 28) -> IPPrint(c, ID true, TIMESTAMP false) -> Discard;
Script(wait 1, stop);
//= a: id 1 9.9.9.9 > 1.0.0.1: icmp timeexceeded transit
//= b: id 2 9.9.9.9 > 1.0.0.1: icmp 2.0.0.2 unreachable port udp/2
//= c:   60 | 4500003c 00030000 c801dfab 09090909 01000001 0304fef3 00000128
//= c: id 3 9.9.9.9 > 1.0.0.1: icmp 2.0.0.2 unreachable needfrag (mtu 296)
