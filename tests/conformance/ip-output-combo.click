// What leaves where: a redirect's copy, an expired packet, one that is too long, one in order.
c :: IPOutputCombo(1, 10.0.0.254, 40);
InfiniteSource(DATA \<4500001c 00010000 40110000 0a000001 c6336402 13880035 00080000>, LIMIT 1)
  -> SetIPChecksum -> MarkIPHeader -> Paint(1) -> c;
InfiniteSource(DATA \<4500001c 00020000 01110000 0a000001 c6336402 13880035 00080000>, LIMIT 1)
  -> SetIPChecksum -> MarkIPHeader -> c;
InfiniteSource(DATA \<45000029 00030000 40110000 0a000001 c6336402 13880035 00150000>, LENGTH 41, LIMIT 1)
  -> SetIPChecksum -> MarkIPHeader -> c;
c[0] -> out :: Counter -> IPPrint(out, ID true, TTL true, TIMESTAMP false) -> Discard;
c[1] -> IPPrint(redirect, ID true, TTL true, TIMESTAMP false) -> Discard;
c[2] -> options :: Counter -> Discard;
c[3] -> expired :: Counter -> Discard;
c[4] -> long :: Counter -> Discard;
Script(wait 1, stop);
//= redirect: id 1 ttl 64 10.0.0.1.5000 > 198.51.100.2.53: udp 8
//= out: id 1 ttl 63 10.0.0.1.5000 > 198.51.100.2.53: udp 8
//? out.count
//= 1
//? options.count
//= 0
//? expired.count
//= 1
//? long.count
//= 1
