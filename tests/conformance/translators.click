// An IPv4 packet becomes an IPv6 packet with mapped addresses, and the same again.
InfiniteSource(DATA \<4500001c 00010000 40110000 0a000001 c6336402 13880035 00080000>, LIMIT 1)
  -> SetIPChecksum -> CheckIPHeader -> SetUDPChecksum -> IPPrint(before, TIMESTAMP false, TTL true)
  -> ProtocolTranslator46 -> CheckIP6Header -> IP6Print(six)
  -> ProtocolTranslator64 -> CheckIPHeader -> CheckUDPHeader -> IPPrint(after, TIMESTAMP false, TTL true)
  -> Counter(COUNT_CALL 1 stop) -> Discard;
//= before: ttl 64 10.0.0.1.5000 > 198.51.100.2.53: udp 8
//= six: ::ffff:10.0.0.1 -> ::ffff:198.51.100.2 plen 8, next 17, hlim 64
//= after: ttl 64 10.0.0.1.5000 > 198.51.100.2.53: udp 8
