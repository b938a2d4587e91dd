// An IPv6 host asks an IPv4 server, which sees an address of the pool; the answer comes back to the host.
n :: NAT64(192.0.2.1 5000-5100#);
InfiniteSource(DATA \<60000000 00081140 20010db8 00000000 00000000 00000001 0064ff9b 00000000 00000000 c6336402 13880035 00080000>, LIMIT 1)
  -> CheckIP6Header -> SetUDPChecksumIP6 -> IP6Print(asks) -> DecIP6HLIM -> [0]n;
n[0] -> CheckIPHeader -> CheckUDPHeader -> IPPrint(seen, TIMESTAMP false, TTL true) -> IPMirror -> [1]n;
n[1] -> CheckIP6Header -> IP6Print(back) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= asks: 2001:db8::1 -> 64:ff9b::c633:6402 plen 8, next 17, hlim 64
//= seen: ttl 63 192.0.2.1.5000 > 198.51.100.2.53: udp 8
//= back: 64:ff9b::c633:6402 -> 2001:db8::1 plen 8, next 17, hlim 63
//? n.hosts
//= 1
