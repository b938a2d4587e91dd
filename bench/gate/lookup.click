// A look-up among a few routes, by another address each time.
define($LIMIT 1);
RandomSource(60, LIMIT $LIMIT, STOP true) -> GetIPAddress(16)
  -> r :: IPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 172.16.0.0/12 0, 192.0.2.0/24 1, 128.0.0.0/1 0, 0.0.0.0/0 1);
r[0] -> Discard; r[1] -> Discard;
