//! workers 1
// Addresses and ports change with checksums: what is changed there and back passes all checks.
elementclass Udp { $src, $dst, $port, $n | InfiniteSource(DATA abcd, LIMIT $n) -> UDPIPEncap($src, $port, $dst, 53) -> output }
Udp(1.0.0.1, 2.0.0.2, 1000, 4) -> lb :: IPLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, VIP 2.0.0.2) -> k :: CheckIPHeader -> CheckUDPHeader
  -> IPPrint(L, TIMESTAMP false) -> IPMirror -> IPLoadBalancerReverse(lb) -> CheckIPHeader -> CheckUDPHeader -> IPPrint(R, TIMESTAMP false) -> a :: Discard;
Udp(1.0.0.1, 2.0.0.2, 65535, 1) -> Shifter(1, 1, -2, 3) -> CheckIPHeader -> CheckUDPHeader -> IPPrint(S, TIMESTAMP false) -> Discard;
Udp(1.0.0.1, 2.0.0.2, 7, 1) -> EtherEncap(0x0800, 0:0:0:0:0:1, 0:0:0:0:0:2) -> MarkIPHeader(14) -> NetworkDirectionSwap(ETHERNET true, IPV4 true, UDP true)
  -> l2 :: L2LoadBalancer(DST 0:0:0:0:0:9) -> StoreData(24, \<ffff>) -> StoreData(40, \<ffff>) -> ResetIPChecksum(L4 true) -> Print(N, 14) -> Strip(14)
  -> CheckIPHeader -> CheckUDPHeader -> IPPrint(N, TIMESTAMP false) -> Discard;
// Flows in turn, from output 1 on.
u :: Udp(1.0.0.1, 2.0.0.2, 1, 2) -> f :: IPRRSwitch; Udp(1.0.0.1, 2.0.0.2, 2, 3) -> f; Udp(1.0.0.1, 2.0.0.2, 3, 4) -> f;
f[0] -> f0 :: Counter -> g :: IPFlowRRSwitch; f[1] -> f1 :: Counter -> h :: FlowRRSwitch(MAX 1, CAPACITY 1); g[0] -> g0 :: Discard; g[1] -> g1 :: Discard;
h[0] -> h0 :: Discard; h[1] -> h1 :: Discard;
Idle -> IPRewriterIMP(pass 0) -> TCPRewriterIMP(pass 0) -> UDPRewriterIMP(pass 0) -> LookupIPRouteMP(0/0 0) -> Discard;
Script(wait 1, stop);
//= lb :: IPLoadBalancer has 2 routes
//= l2 :: L2LoadBalancer has 1 routes
//= L: 1.0.0.1.1000 > 10.0.0.1.53: udp 12
//= R: 2.0.0.2.53 > 1.0.0.1.1000: udp 12
//= S: 1.0.0.2.0 > 2.0.0.0.56: udp 12
//= N:   46 | 00000000 00090000 00000002 0800
//= N: 2.0.0.2.53 > 1.0.0.1.7: udp 12
//= L: 1.0.0.1.1000 > 10.0.0.2.53: udp 12
//= R: 2.0.0.2.53 > 1.0.0.1.1000: udp 12
//= L: 1.0.0.1.1000 > 10.0.0.1.53: udp 12
//= R: 2.0.0.2.53 > 1.0.0.1.1000: udp 12
//= L: 1.0.0.1.1000 > 10.0.0.2.53: udp 12
//= R: 2.0.0.2.53 > 1.0.0.1.1000: udp 12
//? lb.load_packets
//= 2 2
//? lb.nb_active_servers
//= 2
//? f.flow_count
//= 3
//? f0.count
//= 3
//? f1.count
//= 6
//? g1.count
//= 3
//? h0.count
//= 6
