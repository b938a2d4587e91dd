// Names of ports are words like others; what a service is called needs no "port" in front.
//! workers 1
PortInfo(game 27015/udp); AddressInfo(server 2.0.0.2);
s :: InfiniteSource(DATA x, LIMIT 2) -> UDPIPEncap(1.0.0.1, game, 2.0.0.2, domain) -> c :: IPClassifier(dst udp game, dst server and src udp game)
  -> Discard; c[1] -> Print(named) -> d :: IPClassifier(dst host server and dst port domain) -> Print(both, 0) -> Discard;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> t :: CheckTCPHeader -> Discard;
InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> StoreData(20, \<0001000200ff>) -> CheckUDPHeader -> Discard;
Script(wait 1, stop);
//= named:   29 | 4500001d 00000000 fa11bdcd 01000001 02000002 69870035
//= both:   29
//= t :: CheckTCPHeader: TCP header check failed: not TCP
//= UDP header check failed: bad packet length
//= named:   29 | 4500001d 00010000 fa11bdcc 01000001 02000002 69870035
//= both:   29
