// What is no IP packet, has another association's number, was changed or comes again does not get through an IPsec tunnel.
define($KEY "\<00112233 44556677 8899aabb ccddeeff 01020304>");
s :: InfiniteSource(DATA 1234, LIMIT 1) -> t :: Tee(4);
t[0] -> n :: ESPEncap(300, $KEY) -> Print(never) -> Discard;
t[1] -> IPEncap(50, 1.0.0.1, 2.0.0.2) -> e :: ESPEncap(300, $KEY) -> Print(sent, 8) -> u :: Tee(4);
u[0] -> d :: ESPDecap(300, $KEY) -> Print(back) -> Discard;
u[1] -> StoreData(20, \<00>) -> StoreData(21, \<00>) -> changed :: ESPDecap(300, $KEY) -> Print(never) -> Discard;
changed[1] -> Print(changed, 4) -> Discard;
u[2] -> other :: ESPDecap(301, $KEY) -> Print(never) -> Discard;
other[1] -> Print(other, 4) -> Discard;
u[3] -> [0]d;
d[1] -> Print(again, 4) -> Discard;
t[2] -> [0]d;
t[3] -> Counter(COUNT_CALL 1 stop) -> Discard;
//= sent:   60 | 0000012c 00000001
//= back:   24 | 45000018 00000000 fa32bdb1 01000001 02000002 31323334
//= changed:   60 | 0000012c
//= other:   60 | 0000012c
//= again:   60 | 0000012c
//= again:    4 | 31323334
//? n.drop_reasons
//= 1	no IP packet
//? e.sequence
//= 1
