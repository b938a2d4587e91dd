// A random key of four bytes behind the UDP header, nothing else; packets of other kinds are left as they are.
InfiniteSource(DATA abcdefgh, LIMIT 2) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> k :: KVSKeyGen -> l :: KVSGenKey(OFFSET 1) -> Strip(28)
  -> c :: Classifier(0/6162636465, 5/666768); c[0] -> Discard; c[1] -> d :: Discard;
InfiniteSource(DATA abcdefgh, LIMIT 2) -> [1]k[1] -> Print(other) -> Discard; Script(wait 1, stop);
//= other:    8 | 61626364 65666768
//= other:    8 | 61626364 65666768
//? d.count
//= 2
