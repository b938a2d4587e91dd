// FastClick's names of routing elements that its flows know.
InfiniteSource(DATA abcd, LIMIT 1) -> UDPIPEncap(1.0.0.1, 53, 2.0.0.2, 5000) -> t :: Tee(3);
t[0] -> r :: FlowIPRoute(2.0.0.0/8 0, 0.0.0.0/0 1); r[0] -> a :: Counter -> Discard; r[1] -> Discard;
t[1] -> x :: CTXIPRoute(3.0.0.0/8 0, 0.0.0.0/0 1); x[0] -> Discard; x[1] -> b :: Counter -> Discard;
t[2] -> o :: FlowIPOutputCombo(2, 9.0.0.9, 1500); o[0] -> IPPrint(out, TTL true, TIMESTAMP false) -> c :: Counter(COUNT_CALL 1 stop) -> Discard;
o[1] -> Discard; o[2] -> Discard; o[3] -> Discard; o[4] -> Discard;
//= out: ttl 249 1.0.0.1.53 > 2.0.0.2.5000: udp 12
//? a.count
//= 1
//? b.count
//= 1
//? c.count
//= 1
