// FastClick's ways to read a capture: with the lengths that packets had, or with one for all; slower or faster.
a :: InfiniteSource(LENGTH 100, LIMIT 1) -> SetTimestamp(1) -> d :: ToDump($DIR/x.pcap, SNAPLEN 70);
b :: InfiniteSource(LENGTH 62, LIMIT 1) -> SetTimestamp(3) -> d; Script(wait 1, stop);
//? d.count
//= 2
//! then
FromDump($DIR/x.pcap) -> r :: Counter -> Discard; FromDump($DIR/x.pcap, FORCE_LEN 0) -> s :: Counter -> Discard; FromDump($DIR/x.pcap, FORCE_LEN 64) -> t :: Counter -> Discard;
FromDump($DIR/x.pcap, TIMING true, ACCELERATION 50, PRELOAD 10, BURST 4) -> u :: Counter -> Discard;
FromDump($DIR/x.pcap, TIMING true, ACCELERATION 200) -> v :: Counter -> Discard;
Script(wait 0.5, print $(u.count) $(v.count), wait 1, print $(u.count) $(v.count), wait 2, print $(u.count) $(v.count), wait 1, print $(u.count) $(v.count), stop);
//= 1 1
//= 1 2
//= 1 2
//= 2 2
//? r.byte_count
//= 132
//? s.byte_count
//= 162
//? t.byte_count
//= 128
//! then
FromDump($DIR/x.pcap, FORCE_LEN 9) -> Discard;
//! error FORCE_LEN requires a valid frame size
