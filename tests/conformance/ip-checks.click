// Bad IP headers leave at output 1, counted by reason; the first is announced.
InfiniteSource(DATA \<45000014 00000000 40110000 01020304 05060708>, LIMIT 2, STOP true)
  -> c :: CheckIPHeader(DETAILS true) -> Discard;
c[1] -> bad :: Counter -> Discard;
//= c: IP header check failed: bad IP checksum
//? bad.count
//= 2
//? c.drop_details
//= 0	tiny packet
//= 0	bad IP version
//= 0	bad IP header length
//= 0	bad IP length
//= 2	bad IP checksum
//= 0	bad source address
