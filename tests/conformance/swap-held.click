// Packets that elements hold are not lost when the configuration is replaced.
InfiniteSource(DATA a, LIMIT 1) -> SetTimestamp -> Queue -> du :: DelayUnqueue(1) -> Print(unqueue) -> Discard;
InfiniteSource(DATA b, LIMIT 1) -> SetTimestamp -> Queue -> ds :: DelayShaper(1) -> Unqueue -> Print(shaper) -> Discard;
InfiniteSource(DATA c, LIMIT 1) -> Queue -> lu :: LinkUnqueue(1, 1MBps) -> Print(link) -> Discard;
InfiniteSource(DATA d, LIMIT 2, BURST 2) -> mb :: MinBatch(3) -> Print(batch) -> Discard;
InfiniteSource(DATA e, LENGTH 100, LIMIT 1) -> Queue -> drr :: DRRSched(10) -> TimedUnqueue(0.3, 1) -> Print(round) -> Discard; Idle -> [1] drr;
InfiniteSource(DATA f, LIMIT 2) -> SetTimestamp(5) -> Queue -> tss :: TimeSortedSched -> TimedUnqueue(0.3, 1) -> Print(sorted) -> Discard;
InfiniteSource(DATA g, LIMIT 1) -> SetTimestamp(7) -> Queue -> [1] tss;
InfiniteSource(DATA h, LIMIT 1) -> al :: AggregateLast -> Print(last) -> Discard;
Script(wait 0.5, stop);
//! workers 1
//= sorted:    1 | 66
//= sorted:    1 | 66
//! swap
Idle -> Queue -> du :: DelayUnqueue(1) -> Print(unqueue, TIMESTAMP true) -> Discard;
Idle -> Queue -> ds :: DelayShaper(1) -> Unqueue -> Print(shaper, TIMESTAMP true) -> Discard;
Idle -> Queue -> lu :: LinkUnqueue(1, 1MBps) -> Print(link, TIMESTAMP true) -> Discard;
InfiniteSource(DATA D, LIMIT 1) -> mb :: MinBatch(3) -> Print(batch) -> Discard;
Idle -> drr :: DRRSched(10) -> TimedUnqueue(0.05, 1) -> Print(round, 1) -> Discard; Idle -> [1] drr;
Idle -> tss :: TimeSortedSched -> TimedUnqueue(10, 1) -> Print(sorted) -> Discard; Idle -> [1] tss;
Idle -> al :: AggregateLast -> Print(last) -> Discard;
Script(wait 1, write al.clear, wait 0.1, stop);
//= batch:    1 | 64
//= batch:    1 | 64
//= batch:    1 | 44
//= sorted:    1 | 67
//= round:  100 | 65
//= unqueue: 1000000001.000000:    1 | 61
//= shaper: 1000000001.000000:    1 | 62
//= link: 1000000001.000001:    1 | 63
//= last:    1 | 68
//! then
// Fragments that wait for others do so in the new configuration.
InfiniteSource(DATA abcdefghijklmnop, LIMIT 1) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> IPFragmenter(36) -> s :: RoundRobinSwitch; s[0] -> r :: IPReassembler -> Discard; s[1] -> Discard;
InfiniteSource(DATA \<00>, LENGTH 100, LIMIT 1) -> IP6Encap(udp, 2001:db8::1, 2001:db8::2) -> IP6Fragmenter(96) -> s6 :: RoundRobinSwitch; s6[0] -> r6 :: IP6Reassembler -> Discard; s6[1] -> Discard;
Script(wait 1, stop);
//! swap
InfiniteSource(DATA abcdefghijklmnop, LIMIT 1) -> e :: UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> IPFragmenter(36) -> t :: RoundRobinSwitch; t[0] -> Discard; t[1] -> r :: IPReassembler -> IPPrint(whole, TIMESTAMP false) -> Discard;
Idle -> r6 :: IP6Reassembler -> Discard;
Script(wait 1, print $(r6.stats), wait 100, stop);
//= whole: 1.0.0.1.1 > 2.0.0.2.2: udp 24
//= 2	fragments
//= 0	whole
//= 1	waiting
//= 0	overlap
//= 0	late
//= 0	memory
//= 0	bad
//? r.dump
//= frags seen total:    2
//= good reassemblies:   1
//= failed reassemblies: 0
//= bad fragments seen:  0
//= cached chunk data:
//? r6.stats
//= 2	fragments
//= 0	whole
//= 0	waiting
//= 0	overlap
//= 1	late
//= 0	memory
//= 0	bad
