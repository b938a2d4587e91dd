// A ping of a group is answered from an address of this host; what cannot be forwarded is answered from the address of the port by which the
// answer leaves.
InfiniteSource(DATA \<8000e871000700016162>, LIMIT 1)
  -> IP6Encap(58, 2001:db8::7, ff02::1, HLIM 255) -> CheckIP6Header
  -> ICMP6PingResponder -> FixIP6Src(2001:db8::1) -> IP6Print(pong) -> CheckIP6Header -> p :: Counter -> Discard;
InfiniteSource(DATA \<00>, LENGTH 2000, LIMIT 1) -> IP6Encap(udp, 2001:db8::7, 2001:db8:2::2) -> CheckIP6Header
  -> ICMP6Error(2001:db8:2::1, 2, 0, PMTU 1400) -> FixIP6Src(2001:db8::1) -> IP6Print(error) -> e :: Counter -> Discard;
// No more than at once: none of them waits.
InfiniteSource(DATA \<00>, LENGTH 10, LIMIT 9) -> IP6Encap(udp, 2001:db8::7, 2001:db8:2::2) -> CheckIP6Header
  -> ICMP6Error(2001:db8:2::1, 1, 0, RATE 1, BURST 4) -> few :: Counter -> Discard;
Script(wait 0.5, stop);
//= pong: 2001:db8::1 -> 2001:db8::7 plen 10, next 58, hlim 255
//= error: 2001:db8::1 -> 2001:db8::7 plen 1240, next 58, hlim 255
//? p.count
//= 1
//? few.count
//= 4
