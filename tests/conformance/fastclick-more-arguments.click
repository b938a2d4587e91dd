// Flows in turn, two packets of each in a row, and a new flow after four packets.
FastUDPFlows(RATE 0, LIMIT 12, LENGTH 60, SRCETH 0:0:0:0:0:1, SRCIP 1.0.0.1, DSTETH 0:0:0:0:0:2, DSTIP 1.0.0.2, FLOWS 3, FLOWSIZE 4, SEQUENTIAL true, FLOWBURST 2, DUPLICATE true)
  -> Unqueue -> f :: FlowIPManager -> StoreFlowID(42) -> Strip(42) -> Print(id, 1) -> c :: FlowCounter -> Discard;
// What FastClick's replays and load balancers take, where it means nothing here.
InfiniteSource(LIMIT 3) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> Queue -> r :: ReplayUnqueue(ACTIVE false, STOP 2, STOP_TIME 0, TIMING_FNT "", QUICK_CLONE true)
  -> IPLoadBalancer(DST 1.1.1.1, VIP 1.1.1.2, LST_MODE conn, FORCE_TRACK_LOAD true, AUTOSCALE false, AWRR_TIME 5, AWRR_ALPHA 0.5, CST_BUCKETS 3) -> n :: Counter -> Discard;
InfiniteSource(LIMIT 3) -> Queue -> Replay(STOP_TIME 3, STOP -1) -> RatedUnqueue(10, BURST 32, ACTIVE false) -> m :: Counter -> Discard;
DriverManager(wait 0.5, write r.active true, pause, wait 1, stop);
//= IPLoadBalancer@13 :: IPLoadBalancer has 1 routes
//= id:   18 | 01
//= id:   18 | 01
//= id:   18 | 02
//= id:   18 | 02
//= id:   18 | 03
//= id:   18 | 03
//= id:   18 | 01
//= id:   18 | 01
//= id:   18 | 02
//= id:   18 | 02
//= id:   18 | 03
//= id:   18 | 03
//= Loading r with 1 inputs.
//= r : Successfully loaded 3 packets. Input 0 dried out.
//? c.count
//= 3
//? n.count
//= 6
//? m.count
//= 0
//! then
Idle -> Queue -> ReplayUnqueue(TIMING_FNT "100 * (x") -> Discard;
//! error TIMING_FNT: bad formula
