// A flow manager tells flows apart, by addresses, protocol and ports; elements behind it keep something of each. Every name of it finds the same flows.
s :: FromIPSummaryDump($DIR/in, STOP false, CHECKSUM true) -> t :: Tee(9);
t[0] -> a :: FlowIPManager(100, TIMEOUT 2) -> c :: FlowCounter -> StoreFlowID(28) -> Strip(28) -> Print(id, 8) -> Queue -> Unqueue -> d :: FlowCounter -> Discard;
t[1] -> FlowIPManagerIMP(GROUPS 512, LF true, NCHECK 100) -> c1 :: FlowCounter -> Discard;
t[2] -> FlowIPManagerMP(CAPACITY 4) -> c2 :: FlowCounter -> Discard;
// There is room for two flows only; packets of the third are dropped.
t[3] -> e :: FlowIPManagerSpinlock(2, CACHE 1, VERBOSE 0) -> c3 :: FlowCounter -> Discard;
t[4] -> FlowIPManagerH -> c4 :: FlowCounter -> Discard; t[5] -> FlowIPManagerHMP -> c5 :: FlowCounter -> Discard;
t[6] -> FlowIPManagerHIMP(RECYCLE_INTERVAL 0.5) -> c6 :: FlowCounter -> Discard;
t[7] -> FlowIPManager_CuckooPP -> c7 :: FlowCounter -> Discard; t[8] -> FlowIPManager_CuckooPPIMP -> c8 :: FlowCounter -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U - 16
//< in 1.0.0.1 2 2.0.0.2 53 U - 16
//< in 1.0.0.1 1 2.0.0.2 53 U - 16
//< in 1.0.0.1 1 2.0.0.2 53 T S 16
//< in 2.0.0.2 53 1.0.0.1 1 U - 16
//< in 1.0.0.1 1 2.0.0.2 53 T A 16
Script(wait 1, print $(a.count) $(a.capacity) $(c.count) $(c.open), wait 3, print $(a.count) $(c.count) $(c.open), stop);
//= id:   16 | 01000000 00000000
//= id:   16 | 02000000 00000000
//= id:   16 | 01000000 00000000
//= id:   28 | 03000000 00000000
//= id:   16 | 04000000 00000000
//= id:   28 | 03000000 00000000
//= 4 128 4 4
//= 0 4 0
//? c1.count
//= 4
//? c2.count
//= 4
//? c3.count
//= 2
//? e.drop_reasons
//= 3	flow table full
//? e.count
//= 2
//? c4.count
//= 4
//? c5.count
//= 4
//? c6.count
//= 4
//? c7.count
//= 4
//? c8.count
//= 4
//? d.count
//= 4
