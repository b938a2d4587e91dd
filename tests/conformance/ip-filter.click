// IPFilter lets pass what its first matching rule allows.
f :: IPFilter(allow src 10.0.0.0/8 and dst port 53, deny all);
InfiniteSource(DATA \<4500001c 00010000 40110000 0a000001 c6336402 13880035 00080000>, LIMIT 3)
  -> SetIPChecksum -> CheckIPHeader -> f -> passed :: Counter -> Discard;
InfiniteSource(DATA \<4500001c 00010000 40110000 0b000001 c6336402 13880035 00080000>, LIMIT 5, STOP true)
  -> SetIPChecksum -> CheckIPHeader -> f;
Script(wait 0.1);
//? passed.count
//= 3
