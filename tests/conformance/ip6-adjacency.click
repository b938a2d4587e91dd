// The same for IPv6: the hop limit instead of the time to live, solicitations instead of ARP queries.
a :: IP6Adjacency(2001:db8::1, 2:1:1:1:1:1);
InfiniteSource(LENGTH 4, LIMIT 1) -> IP6Encap(udp, 2001:db8:9::9, 2001:db8::2) -> [0] a;
Idle -> [1] a;
a[0] -> Print(sent, 22) -> Discard;
a[1] -> Print(asked, 14) -> Discard;
a[2] -> Discard;
a[3] -> Print(unreachable, 8) -> Discard;
Script(wait 2.5, print $(a.neighbours), wait 1, print $(a.neighbours),
  write a.insert 2001:db8::2 2:2:2:2:2:2, print $(a.neighbours), stop);
//= asked:   86 | 3333ff00 00020201 01010101 86dd
//= asked:   86 | 3333ff00 00020201 01010101 86dd
//= asked:   86 | 3333ff00 00020201 01010101 86dd
//= 2001:db8::2 - incomplete 2.500
//= unreachable:   44 | 60000000 000411f9
//= 2001:db8::2 - failed 3.500
//= 2001:db8::2 02-02-02-02-02-02 reachable 0.000
