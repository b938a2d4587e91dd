// A switch floods from its first output to its last. Stations grow old by the timestamps of frames.
//! workers 1
s :: EtherSwitch(TIMEOUT 10); Idle -> [2] s; Idle -> [3] s;
a :: InfiniteSource(DATA x, LIMIT 1) -> EtherEncap(0x0800, 2:0:0:0:0:1, 2:0:0:0:0:2) -> SetTimestamp(100) -> [0] s;
b :: InfiniteSource(DATA x, LIMIT 1, ACTIVE false) -> EtherEncap(0x0800, 2:0:0:0:0:2, 2:0:0:0:0:1) -> SetTimestamp(109) -> [1] s;
d :: InfiniteSource(DATA x, LIMIT 1, ACTIVE false) -> EtherEncap(0x0800, 2:0:0:0:0:2, 2:0:0:0:0:1) -> SetTimestamp(110) -> [1] s;
s[0] -> Print(zero, 0) -> Discard; s[1] -> Print(one, 0) -> Discard; s[2] -> Print(two, 0) -> Discard; s[3] -> Print(three, 0) -> Discard;
Script(wait 100, print "next", write b.active true, wait 1, print "next", write d.active true, wait 1, stop);
//= one:   15
//= two:   15
//= three:   15
//= next
//= zero:   15
//= next
//= zero:   15
//= two:   15
//= three:   15
