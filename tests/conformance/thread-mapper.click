// New flows get the pattern of the worker that makes them.
elementclass Udp { $port | InfiniteSource(DATA a, LIMIT 1) -> UDPIPEncap(10.0.0.1, $port, 198.51.100.2, 53) -> CheckIPHeader -> output };
m :: ThreadIPMapper(192.0.2.4 7000-7009# - - 0 0, 192.0.2.5 7000 - - 0 0);
Udp(1) -> rw :: IPRewriter(m) -> CheckIPHeader -> IPPrint(own, TIMESTAMP false) -> Discard;
Udp(2) -> rw;
Script(wait 1, stop);
//! workers 1
//= own: 192.0.2.4.7000 > 198.51.100.2.53: udp 9
//= own: 192.0.2.4.7001 > 198.51.100.2.53: udp 9
