// What elements have learned of hosts and flows, they know after the configuration was replaced.
InfiniteSource(DATA \<000000000002 000000000001 0800>, LIMIT 1) -> s :: EtherSwitch; s[0], s[1] => Discard, Discard; Idle -> [1] s;
InfiniteSource(DATA abcd, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> t :: Tee(8);
t[0] -> rr :: IPRRSwitch; rr[0], rr[1], rr[2] => Discard, Discard, Discard;
t[1] -> SetTimestamp(1) -> f :: AggregateIPFlows -> af :: AggregateFirst -> IPPrint(flow, AGGREGATE true, TIMESTAMP false) -> Discard;
t[2] -> SetTimestamp(1) -> p :: AggregateIPAddrPair -> IPPrint(pair, AGGREGATE true, TIMESTAMP false) -> Discard;
t[3] -> GetIPAddress(16) -> r :: RadixIPLookup(2.0.0.0/8 nexthop - 0 nexthop - 1, FLOWS 16); r[0], r[1] => Discard, Discard;
t[4] -> m :: IPRateMonitor(PACKETS, 1, 0) -> Discard;
t[5] -> rs :: RatedSplitter(1, BURST_SIZE 1) -> Counter -> Discard;
t[6] -> Queue -> sh :: Shaper(1) -> Unqueue -> Discard;
t[7] -> Queue -> ru :: RatedUnqueue(1, BURST_SIZE 1) -> Discard;
at :: AddressTranslator(0, true, true, 0, 2001:db8:f::1 50000 50000);
InfiniteSource(DATA \<60000000000a1140 20010db8000000000000000000000001 20010db8000900000000000000000009 03e80035000a37cf6869>, LIMIT 1) -> [0] at [0] -> Discard; Idle -> [1] at [1] -> Discard;
Script(wait 0.1, stop);
//= flow: #1: 1.0.0.1.1 > 2.0.0.2.2: udp 12
//= pair: #1: 1.0.0.1.1 > 2.0.0.2.2: udp 12
//! swap
InfiniteSource(DATA \<000000000001 000000000002 0800>, LIMIT 1) -> [1] s :: EtherSwitch; s[0], s[1], s[2] => Print(0), Print(1), Print(2) => Discard, Discard, Discard; Idle -> s; Idle -> [2] s;
InfiniteSource(DATA abcd, LIMIT 1) -> UDPIPEncap(1.0.0.1, 3, 2.0.0.2, 2) -> t :: Tee(8); InfiniteSource(DATA abcd, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> t;
t[0] -> rr :: IPRRSwitch; rr[0], rr[1], rr[2] => Print(a, 0), Print(b, 0), Print(c, 0) => Discard, Discard, Discard;
t[1] -> SetTimestamp(1) -> f :: AggregateIPFlows -> af :: AggregateFirst -> IPPrint(flow, AGGREGATE true, TIMESTAMP false) -> Discard;
t[2] -> SetTimestamp(1) -> p :: AggregateIPAddrPair -> IPPrint(pair, AGGREGATE true, TIMESTAMP false) -> Discard;
t[3] -> Discard;
t[4] -> Discard; Idle -> m :: IPRateMonitor(PACKETS, 1, 0) -> Discard;
Idle -> r :: RadixIPLookup(2.0.0.0/8 nexthop - 0 nexthop - 1, FLOWS 16); r[0], r[1] => Discard, Discard;
t[5] -> rs :: RatedSplitter(1, BURST_SIZE 1) -> over :: Counter -> Discard;
t[6] -> Queue -> sh :: Shaper(1) -> Unqueue -> shaped :: Counter -> Discard;
t[7] -> Queue -> ru :: RatedUnqueue(1, BURST_SIZE 1) -> unqueued :: Counter -> Discard;
at :: AddressTranslator(0, true, true, 0, 2001:db8:f::1 50000 50000);
Idle -> [0] at [0] -> Discard;
InfiniteSource(DATA \<60000000000a1140 20010db8000900000000000000000009 20010db8000f00000000000000000001 0035c350000a78576869>, LIMIT 1) -> [1] at [1] -> CheckIP6Header -> IP6Print(in) -> Discard;
Script(wait 0.1, stop);
//= 0:   14 | 00000000 00010000 00000002 0800
//= c:   32
//= flow: #2: 1.0.0.1.3 > 2.0.0.2.2: udp 12
//= pair: #1: 1.0.0.1.3 > 2.0.0.2.2: udp 12
//= b:   32
//= pair: #1: 1.0.0.1.1 > 2.0.0.2.2: udp 12
//= in: 2001:db8:9::9 -> 2001:db8::1 plen 10, next 17, hlim 64
//? r.flows
//= 1
//? m.look
//= 25
//? over.count
//= 0
//? shaped.count
//= 0
//? unqueued.count
//= 0
//! then
// What decides which packets are dropped goes on, too, and so do debts.
RatedSource(RATE 100, LIMIT 200) -> SetTimestamp(FIRST true) -> q :: Queue -> c :: CoDel(5ms, 100ms) -> RatedUnqueue(50) -> Discard;
RatedSource(RATE 10) -> p :: PI(W 0.1, A 10, B 0, TARGET 0) -> Queue -> Idle;
InfiniteSource(LENGTH 200, LIMIT 1) -> Queue -> b :: BandwidthShaper(100Bps) -> Unqueue -> Discard;
Script(wait 1.05, stop);
//? c.drops
//= 22
//? p.drops
//= 10
//! swap
Idle -> Queue -> c :: CoDel -> Discard;
Idle -> p :: PI(W 1000, A 1, B 0, TARGET 0) -> Queue -> Idle;
InfiniteSource(LENGTH 200, LIMIT 1) -> Queue -> b :: BandwidthShaper(100Bps) -> Unqueue -> late :: Counter -> Discard;
Script(wait 0.1, stop);
//? c.drops
//= 22
//? p.p
//= 1
//? p.drops
//= 10
//? late.count
//= 0
//! then
// A querier that asks in another way knows what it knew; one on another network does not.
a :: ARPQuerier(1.0.0.1/24, 1:1:1:1:1:1); Idle -> a -> Discard; Idle -> [1] a;
b :: ARPQuerier(1.0.0.1/24, 1:1:1:1:1:1); Idle -> b -> Discard; Idle -> [1] b;
Script(write a.insert 1.0.0.2 2:2:2:2:2:2, write b.insert 1.0.0.2 2:2:2:2:2:2, stop);
//! swap
a :: ARPQuerier(1.0.0.1/24, 1:1:1:1:1:1, BROADCAST_POLL true); Idle -> a -> Discard; Idle -> [1] a;
b :: ARPQuerier(1.0.0.1/24, 1:1:1:1:1:1, BROADCAST 1.0.0.7); Idle -> b -> Discard; Idle -> [1] b;
Script(wait 0.1, stop);
//? a.count
//= 1
//? b.count
//= 0
