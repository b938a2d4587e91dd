// Addresses and ports change on the way out.
elementclass Udp { InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(10.0.0.1, 5000, 198.51.100.2, 53) -> CheckIPHeader -> output };
elementclass Show { $label | input -> CheckIPHeader -> IPPrint($label, TIMESTAMP false) -> Discard };
IPRewriterPatterns(out 192.0.2.1 6000 - -);
Udp -> a :: UDPRewriter(pattern out 0 0) -> Show(udp);
Udp -> b :: IPAddrRewriter(pattern 192.0.2.2 - 0 0) -> Show(address);
Udp -> c :: IPAddrPairRewriter(pattern 192.0.2.3 - 0 0) -> Show(pair);
Udp -> d :: IPRewriter(m) -> Show(turns); m :: RoundRobinIPMapper(192.0.2.4 7000 - - 0 0, 192.0.2.5 7000 - - 0 0);
Udp -> e :: IPRewriter(n) -> Show(hashed); n :: SourceIPHashMapper(1 0xbadbeef, 192.0.2.6 8000 - - 0 0 1);
InfiniteSource(DATA a, LIMIT 1) -> ICMPPingEncap(10.0.0.1, 198.51.100.2, IDENTIFIER 9) -> CheckIPHeader
  -> f :: ICMPPingRewriter(pattern 192.0.2.7 77 - - 0 0) -> Show(ping);
Script(wait 1, stop);
//! workers 1
//= ping: 192.0.2.7 > 198.51.100.2: icmp echo (77, 1)
//= udp: 192.0.2.1.6000 > 198.51.100.2.53: udp 9
//= address: 192.0.2.2.5000 > 198.51.100.2.53: udp 9
//= pair: 192.0.2.3.5000 > 198.51.100.2.53: udp 9
//= turns: 192.0.2.4.7000 > 198.51.100.2.53: udp 9
//= hashed: 192.0.2.6.8000 > 198.51.100.2.53: udp 9
