// Flows go on in the next configuration as far as the specification that has made them is there, too, whatever its words.
IPRewriterPatterns(p 1.2.3.4 1000-1999# - -);
a :: IPRewriter(pattern p 0 1, pattern 1.2.3.5 1000-1999# - - 0 1); b :: IPAddrRewriter(pattern 1.2.3.6 - 0 0, keep 0 1);
InfiniteSource(LIMIT 1) -> UDPIPEncap(10.0.0.1, 1, 2.0.0.2, 53) -> t :: Tee(2); InfiniteSource(LIMIT 1) -> UDPIPEncap(10.0.0.2, 1, 2.0.0.2, 53) -> u :: Tee(2);
t[0] -> [0] a; t[1] -> [0] b; u[0] -> [1] a; u[1] -> [1] b; a[0], a[1], b[0], b[1] => Discard, Discard, Discard, Discard;
Script(wait 0.1, stop);
//? a.size
//= 2
//? b.size
//= 2
//! swap
a :: IPRewriter(pattern 1.2.3.4 1000-1999# - - 0 1, pattern 1.2.3.9 1000-1999# - - 0 1); b :: IPAddrRewriter(pattern 1.2.3.6 - 0 1, keep 0 1);
InfiniteSource(LIMIT 1) -> UDPIPEncap(10.0.0.1, 1, 2.0.0.2, 53) -> t :: Tee(2); InfiniteSource(LIMIT 1) -> UDPIPEncap(10.0.0.2, 1, 2.0.0.2, 53) -> u :: Tee(2);
t[0] -> [0] a; t[1] -> [0] b; u[0] -> [1] a; u[1] -> [1] b;
a[0] -> IPPrint(TIMESTAMP false) -> Discard; a[1], b[0], b[1] => Discard, Discard, Discard;
Script(wait 0.1, stop);
//= a: 1 flows lost (their input has another specification now)
//= b: 1 flows lost (their input has another specification now)
//= 1.2.3.4.1000 > 2.0.0.2.53: udp 77
//= 1.2.3.9.1000 > 2.0.0.2.53: udp 77
//? a.patterns
//= 1.2.3.4 1000-1999 - - [1]
//= 1.2.3.9 1000-1999 - - [1]
