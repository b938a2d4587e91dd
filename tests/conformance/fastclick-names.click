// What FastClick leaves to network cards, and other names of flow managers and of what comes behind them.
s :: FromIPSummaryDump($DIR/in, STOP false, CHECKSUM true) -> t :: Tee(11);
t[0] -> CTXDPDKManager(s, BUILDER 1) -> c0 :: FlowCounter -> Discard; t[1] -> CTXDPDKBuilderManager(DEVICE s, AGGCACHE false) -> c1 :: FlowCounter -> Discard;
t[2] -> CTXDPDKCacheManager(s) -> c2 :: FlowCounter -> Discard; t[3] -> FlowDPDKManager(s) -> c3 :: FlowCounter -> Discard;
t[4] -> FlowDPDKBuilderManager(BUILDER 1, DEVICE s) -> c4 :: FlowCounter -> Discard; t[5] -> FlowDPDKClassifier(s) -> c5 :: FlowCounter -> Discard;
t[6] -> FlowIPManager_DPDK(100) -> c6 :: FlowCounter -> Discard; t[7] -> FlowIPManagerIMP_lazy(CAPACITY 100) -> c7 :: FlowCounter -> Discard;
t[10] -> FlowDPDKCacheManager(s, VERBOSE_FCB 1, RELEASE true) -> c8 :: FlowCounter -> Discard;
t[8] -> CTXManager -> lb :: CTXIPLoadBalancer(10.0.0.1, 10.0.0.2) -> CheckIPHeader -> CheckUDPHeader -> IPPrint(to, TIMESTAMP false) -> IPMirror
  -> CTXIPLoadBalancerReverse(10.0.0.9) -> CheckIPHeader -> CheckUDPHeader -> IPPrint(from, TIMESTAMP false) -> Discard;
// The same number for packets of a flow, another one for those of the other flow.
t[9] -> AggregateHash -> a :: AggregateCounter -> Discard;
//< in !data src sport dst dport proto payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//< in 1.0.0.1 2 2.0.0.2 53 U 8
//< in 1.0.0.1 1 2.0.0.2 53 U 8
q :: FlowARPQuerier(10.0.0.1/24, 1:1:1:1:1:1); Idle -> q; Idle -> [1]q; q -> Discard;
Script(wait 1, print $(q.ipaddr) $(c0.count)$(c1.count)$(c2.count)$(c3.count)$(c4.count)$(c5.count)$(c6.count)$(c7.count)$(c8.count) $(a.nagg), stop);
//= lb :: CTXIPLoadBalancer has 2 routes
//= to: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= from: 10.0.0.9.53 > 1.0.0.1.1: udp 16
//= to: 1.0.0.1.2 > 10.0.0.2.53: udp 16
//= from: 10.0.0.9.53 > 1.0.0.1.2: udp 16
//= to: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= from: 10.0.0.9.53 > 1.0.0.1.1: udp 16
//= 10.0.0.1 222222222 2
//? lb.load_packets
//= 2 1
//! then
Idle -> AggregateHash(9) -> Discard;
//! error bad number of bits
//! then
// Older names of balancers.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> FlowClassifier -> lb :: FlowSimpleIPLoadBalancer(10.0.0.1, 10.0.0.2) -> IPPrint(to, TIMESTAMP false) -> IPMirror
  -> FlowSimpleIPLoadBalancerReverse(10.0.0.9) -> IPPrint(from, TIMESTAMP false) -> Discard;
//= lb :: FlowSimpleIPLoadBalancer has 2 routes
//= to: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= from: 10.0.0.9.53 > 1.0.0.1.1: udp 16
//= to: 1.0.0.1.2 > 10.0.0.2.53: udp 16
//= from: 10.0.0.9.53 > 1.0.0.1.2: udp 16
//= to: 1.0.0.1.1 > 10.0.0.1.53: udp 16
//= from: 10.0.0.9.53 > 1.0.0.1.1: udp 16
//! then
// Flow managers with other tables.
s :: FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true)
  -> FlowIPManagerMP_lazy(100) -> FlowIPManager_CuckooPPIMP_lazy(100) -> FlowIPManagerIMP_TW(100, TIMEOUT 5) -> FlowIPManagerMP_TW(100) -> FlowIPManagerIMP_NoFID(100)
  -> c :: FlowCounter -> Discard;
//? c.count
//= 2
