// UDP headers: with ports that go up, in turn, at random, over IPv6.
//! workers 1
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 4) -> DynamicUDPIPEncap(1.0.0.1, 10, 2.0.0.2, 20, true, 2)
  -> CheckIPHeader -> CheckUDPHeader -> IPPrint(d, TIMESTAMP false) -> Discard;
Script(wait 1, write b.active true, wait 1, write c.active true, wait 1, write d.active true, wait 1, stop);
b :: InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 3, ACTIVE false) -> RoundRobinUDPIPEncap(1.0.0.1 1 2.0.0.2 2, 1.0.0.2 3 2.0.0.3 4 false)
  -> CheckIPHeader -> CheckUDPHeader -> IPPrint(r, TIMESTAMP false) -> Discard;
c :: InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1, ACTIVE false) -> RandomUDPIPEncap(1.0.0.1 1 2.0.0.2 2 1, 1.0.0.2 3 2.0.0.3 4 0)
  -> CheckIPHeader -> CheckUDPHeader -> IPPrint(x, TIMESTAMP false) -> Discard;
d :: InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1, ACTIVE false) -> u :: UDPIP6Encap(2001:db8::1, 1, 2001:db8::2, 2) -> CheckIP6Header
  -> Print(6, MAXLENGTH 8) -> Discard;
//= d: 1.0.0.1.10 > 2.0.0.2.20: udp 12
//= d: 1.0.0.1.10 > 2.0.0.2.20: udp 12
//= d: 1.0.0.1.11 > 2.0.0.2.21: udp 12
//= d: 1.0.0.1.11 > 2.0.0.2.21: udp 12
//= r: 1.0.0.1.1 > 2.0.0.2.2: udp 12
//= r: 1.0.0.2.3 > 2.0.0.3.4: udp 12
//= r: 1.0.0.1.1 > 2.0.0.2.2: udp 12
//= x: 1.0.0.1.1 > 2.0.0.2.2: udp 12
//= 6:   52 | 60000000 000c11ff
//? u.sport
//= 1
