// How load balancers choose servers: the one with the least load, or, of two at random, the one with less; less loaded ones more often; by hashes.
FromIPSummaryDump($DIR/in, STOP false, CHECKSUM true) -> t :: Tee(7);
t[0] -> least :: IPLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, VIP 2.0.0.2, LB_MODE "least", LST_MODE "packets") -> Discard;
t[1] -> conn :: IPLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, DST 10.0.0.3, VIP 2.0.0.2, NSERVER 2, LB_MODE least) -> Discard;
t[2] -> two :: L2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2, LB_MODE pow2, LST_MODE bytes) -> c2 :: Counter -> Discard;
t[3] -> agg :: IPLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, VIP 2.0.0.2, LB_MODE cst_hash_agg, CST_BUCKETS 7) -> Discard;
t[4] -> EtherEncap(0x0800, 0:0:0:0:0:1, 0:0:0:0:0:2) -> hip :: L2LoadBalancer(DST 0:0:0:0:0:1, DST 0:0:0:0:0:2, LB_MODE hash_ip) -> Discard;
t[5] -> wrr :: IPLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, VIP 2.0.0.2, LB_MODE wrr, FORCE_TRACK_LOAD true, AUTOSCALE false) -> Discard;
t[6] -> FlowIPManager -> cpu :: FlowSwitch(LB_MODE least, LST_MODE cpu); cpu[0] -> Discard; cpu[1] -> Discard;
//< in !data src sport dst dport proto tcp_flags payload_len
//< in 1.0.0.1 1 2.0.0.2 80 T S 0
//< in 1.0.0.1 2 2.0.0.2 80 T S 0
//< in 1.0.0.1 3 2.0.0.2 80 T S 0
//< in 1.0.0.1 1 2.0.0.2 80 T F 0
// Loads may be told.
f :: FromIPSummaryDump($DIR/in, ACTIVE false, CHECKSUM true) -> FlowIPManager -> told :: FlowSwitch(LB_MODE least, LST_MODE cpu);
told[0] -> Discard; told[1] -> Discard;
// Weights change with loads, here every 10 ms.
RatedSource(RATE 1000, LIMIT 300, DATA \<0800>) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2)
  -> IPLoadBalancer(DST 10.0.0.1, DST 10.0.0.2, VIP 2.0.0.2, LB_MODE awrr, AWRR_TIME 10, AWRR_ALPHA 0.5, LST_MODE packets) -> w :: Counter -> Discard;
Script(write told.load "0:90,1:10", print $(told.load) $(told.load 1) $(told.load 7), write f.active true, wait 1, stop);
//= least :: IPLoadBalancer has 2 routes
//= conn :: IPLoadBalancer has 3 routes
//= two :: L2LoadBalancer has 2 routes
//= agg :: IPLoadBalancer has 2 routes
//= hip :: L2LoadBalancer has 2 routes
//= wrr :: IPLoadBalancer has 2 routes
//= cpu :: FlowSwitch has 2 routes
//= told :: FlowSwitch has 2 routes
//= IPLoadBalancer@28 :: IPLoadBalancer has 2 routes
//= 90 10 10 unknown
//? least.load_packets
//= 2 2
//? conn.load_conn
//= 2 0 0
//? conn.load_packets
//= 2 2 0
//? conn.nb_active_servers
//= 2
//? c2.count
//= 4
//? agg.load_packets
//= 4 0
//? hip.nb_total_servers
//= 2
//? wrr.load_packets
//= 2 2
//? cpu.load_packets
//= 4 0
//? told.load_packets
//= 0 4
//? w.count
//= 300
//! then
Idle -> IPLoadBalancer(DST 10.0.0.1, VIP 2.0.0.2, LB_MODE most) -> Discard;
//! error LB_MODE
