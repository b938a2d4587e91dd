// Work for each flow, which tells flows apart by itself: numbers that are less than that of the packet before of the same flow count, as far as there is room for
// flows. Its outputs are those of its inputs.
FromIPSummaryDump($DIR/in, STOP false) -> t :: Tee(2) -> w :: FlowWorkPackage(F 64, PREAD 2, PWRITE 1, FREAD 1, W 3, ORDER 24) -> FlowIPManager -> a :: FlowCounter -> Discard;
InfiniteSource(LIMIT 5) -> [1]w[1] -> b :: Discard; t[1] -> o :: FlowWorkPackage(ORDER 24, ACTIVE false, SEQUENTIAL true) -> c :: Discard; Script(wait 1, stop);
//< in !data src sport dst dport proto tcp_seq
//< in 1.0.0.1 1 2.0.0.2 53 T 10
//< in 1.0.0.1 2 2.0.0.2 53 T 5
//< in 1.0.0.1 1 2.0.0.2 53 T 9
//< in 1.0.0.1 2 2.0.0.2 53 T 6
//< in 1.0.0.1 1 2.0.0.2 53 T 11
//? w.outoforder
//= 1
//? o.outoforder
//= 0
//? a.count
//= 2
//? b.count
//= 5
//? c.count
//= 5
//! then
Idle -> FlowWorkPackage(F 70000) -> Discard;
//! error F or TABLE_SIZE too large
