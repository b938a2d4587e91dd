// A packet for a neighbour that is not known: a solicitation goes out; to a group, it goes at once.
n :: IP6NDSolicitor(2001:db8::1, 1:1:1:1:1:1);
InfiniteSource(LENGTH 4, LIMIT 1) -> IP6Encap(udp, 2001:db8::1, 2001:db8::2) -> [0] n;
InfiniteSource(LENGTH 4, LIMIT 1) -> IP6Encap(udp, 2001:db8::1, ff02::5) -> [0] n;
Idle -> [1] n;
n[0] -> Print(out, 14) -> Discard;
n[1] -> Print(ask, 14) -> Discard;
Script(wait 0.9, stop);
//= ask:   86 | 3333ff00 00020101 01010101 86dd
//= out:   58 | 33330000 00050101 01010101 86dd
