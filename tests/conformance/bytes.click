// Bytes are taken from the front and the end of packets, put back, added and overwritten.
InfiniteSource(DATA abcdef, LIMIT 1) -> t :: Tee(5);
t[0] -> Strip(2) -> Print(strip) -> Unstrip(1) -> Print(unstrip) -> Discard;
t[1] -> Truncate(2) -> Print(truncate) -> Discard;
t[2] -> Pad(8) -> Print(pad) -> Discard;
t[3] -> StoreData(1, \<00 ff>) -> Print(store) -> Discard;
t[4] -> Align(4, 0) -> CheckAlign(4, 2, ASSERT true) -> Null -> Print(null) -> Counter(COUNT_CALL 1 stop) -> Discard;
//= strip:    4 | 63646566
//= unstrip:    5 | 62636465 66
//= truncate:    2 | 6162
//= pad:    8 | 61626364 65660000
//= store:    6 | 6100ff64 6566
//= null:    6 | 61626364 6566
