// IPv6 addresses and ports change on the way out, from a pool, and back on the way in; what has no mapping stays outside.
at :: AddressTranslator(0, true, true, 0, 2001:db8:f::1 50000 50000);
InfiniteSource(DATA \<60000000000a1140 20010db8000000000000000000000001 20010db8000900000000000000000009 03e80035000a37cf6869>, LIMIT 1)
  -> [0] at [0] -> CheckIP6Header -> IP6Print(out) -> StripIPHeader -> Print(ports) -> Discard;
Script(wait 0.1, write back.active true, wait 0.1, write other.active true, wait 0.1, stop);
back :: InfiniteSource(DATA \<60000000000a1140 20010db8000900000000000000000009 20010db8000f00000000000000000001 0035c350000a78576869>, LIMIT 1, ACTIVE false)
  -> [1] at [1] -> CheckIP6Header -> IP6Print(in) -> StripIPHeader -> Print(ports) -> Discard;
other :: InfiniteSource(DATA \<60000000000a1140 20010db8000900000000000000000009 20010db8000f00000000000000000001 0035c351000a78566869>, LIMIT 1, ACTIVE false)
  -> [1] at;
//= out: 2001:db8:f::1 -> 2001:db8:9::9 plen 10, next 17, hlim 64
//= ports:   10 | c3500035 000a7857 6869
//= in: 2001:db8:9::9 -> 2001:db8::1 plen 10, next 17, hlim 64
//= ports:   10 | 003503e8 000a37cf 6869
//? at.drop_reasons
//= 1	no mapping
