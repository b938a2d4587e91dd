// Work that is spread over workers ends in the order in which it began, and nothing waits for what it has dropped.
in :: InfiniteSource(DATA 12345678, LIMIT 6, BURST 2) -> NumberPacket(0) -> s :: Spray;
s[1] -> c :: Classifier(0/02, 0/03, -) -> Discard;
c[1] -> Discard;
c[2] -> w :: Counter -> [1]s;
s -> Unqueue -> Print(CONTENTS true) -> d :: Discard;
Script(wait 1, stop);
//=    8 | 00000000 00000000
//=    8 | 01000000 00000000
//=    8 | 04000000 00000000
//=    8 | 05000000 00000000
//? w.count
//= 4
//? s.length
//= 0
//? s.drops
//= 0
//! then
Idle -> s :: Spray(0) -> Discard; s[1] -> [1]s;
//! error CAPACITY: from 1 to 4096
