// The pace of a capture, by a formula.
InfiniteSource(DATA a, LIMIT 2) -> SetTimestamp(10) -> d :: ToDump($DIR/a.pcap); 
TimedSource(0.1, LIMIT 1) -> SetTimestamp(12) -> d;
Script(wait 0.2, stop);
//! then
FromDump($DIR/a.pcap, TIMING true, TIMING_FNT "100 + 100 * min(1, x + 1)") -> c :: Counter -> Discard;
Script(wait 0.9, print $(c.count), wait 0.2, print $(c.count), stop);
//= 2
//= 3
//! then
FromDump($DIR/a.pcap, TIMING_FNT "100 +") -> Discard;
//! error TIMING_FNT: bad formula
