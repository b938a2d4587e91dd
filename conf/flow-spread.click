// Spreads flows, not packets, over two outputs: HashSwitch looks at the source port only (two bytes behind the
// Ethernet and IP headers), so that packets of one flow stay together and in order.
//
//   clique run conf/flow-spread.click -h a.count -h b.count

s1 :: FastUDPSource(0, 50, 60, 0:0:0:0:0:1, 10.0.0.1, 1000, 0:0:0:0:0:2, 10.0.0.2, 80) -> Unqueue -> h :: HashSwitch(34, 2);
s2 :: FastUDPSource(0, 50, 60, 0:0:0:0:0:1, 10.0.0.1, 1001, 0:0:0:0:0:2, 10.0.0.2, 80) -> Unqueue -> h;
h[0] -> a :: Counter -> all :: Counter(COUNT_CALL 100 stop) -> Discard;
h[1] -> b :: Counter -> all;

//? a.count
//= 50
//? b.count
//= 50
