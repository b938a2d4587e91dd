// A new flow leaves where the least packets have left, and all its packets do. What came back leaves where what went did, by the hash of network cards.
FromIPSummaryDump($DIR/in, STOP true, CHECKSUM true) -> t :: Tee(3);
t[0] -> s :: FlowMinLoadSwitch; s[0] -> a0 :: Counter -> Discard; s[1] -> a1 :: Counter -> Discard;
t[1] -> m :: FlowMinLoadSwitch(MAX 1, CAPACITY 2); m[0] -> b0 :: Counter -> Discard; m[1] -> b1 :: Counter -> Discard;
t[2] -> u :: Tee;
u[0] -> r :: RSSHashSwitch; r[0] -> r0 :: Counter -> Discard; r[1] -> r1 :: Counter -> IPPrint(forth, TIMESTAMP false) -> Discard; r[2] -> r2 :: Counter -> Discard; r[3] -> r3 :: Counter -> Discard;
u[1] -> IPMirror -> q :: RSSHashSwitch(MAX 2); q[0] -> q0 :: Counter -> Discard; q[1] -> IPPrint(back, TIMESTAMP false) -> Discard; q[2] -> Discard;
//! workers 1
//< in !data src sport dst dport proto payload_len
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//< in 1.0.0.1 1 2.0.0.2 53 U 8
//< in 1.0.0.1 2 2.0.0.2 53 U 8
//< in 1.0.0.1 3 2.0.0.2 53 U 8
//< in 1.0.0.1 2 2.0.0.2 53 U 8
//< in 1.0.0.1 4 2.0.0.2 53 U 8
//< in 1.0.0.1 3 2.0.0.2 53 U 8
//= forth: 1.0.0.1.2 > 2.0.0.2.53: udp 16
//= back: 2.0.0.2.53 > 1.0.0.1.2: udp 16
//= forth: 1.0.0.1.2 > 2.0.0.2.53: udp 16
//= back: 2.0.0.2.53 > 1.0.0.1.2: udp 16
//? s.load
//= 3 4
//? s.flow_count
//= 4
//? a0.count
//= 3
//? a1.count
//= 4
//? m.flow_count
//= 2
//? b0.count
//= 7
//? b1.count
//= 0
//? r0.count
//= 3
//? r1.count
//= 2
//? r2.count
//= 2
//? r3.count
//= 0
//? q0.count
//= 5
//! then
// With IPv6, too; what is no IP leaves at output 0.
InfiniteSource(DATA abcd, LIMIT 3) -> UDPIP6Encap(2001:db8::1, 1000, 2001:db8::2, 2000) -> r :: RSSHashSwitch;
InfiniteSource(DATA abcd, LIMIT 3) -> UDPIP6Encap(2001:db8::2, 2000, 2001:db8::1, 1000) -> r;
InfiniteSource(DATA abcd, LIMIT 1) -> r;
r[0] -> c :: Counter -> Discard; r[1] -> Discard; r[2] -> d :: Counter -> Discard;
Script(wait 1, stop);
//? c.count
//= 1
//? d.count
//= 6
//! then
Idle -> FlowMinLoadSwitch(MAX 2) -> Discard;
//! error MAX: between 1 and 1 expected
//! then
Idle -> RSSHashSwitch(MAX 0) -> Discard;
//! error MAX: between 1 and 1 expected
