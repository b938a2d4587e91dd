// The two highest bits of an unknown hop-by-hop option's type say what becomes of the packet: it passes, is dropped, or its sender is told.
known :: InfiniteSource(DATA \<60000000 0008 00 40 20010db8000000000000000000000001 20010db8000000000000000000000002 3b00 0104 00000000>, LIMIT 1) -> in :: CheckIP6Header -> o :: IP6GWOptions -> passed :: Counter -> Discard;
ignored :: InfiniteSource(DATA \<60000000 0008 00 40 20010db8000000000000000000000001 20010db8000000000000000000000002 3b00 1e04 00000000>, LIMIT 1) -> in;
silent :: InfiniteSource(DATA \<60000000 0008 00 40 20010db8000000000000000000000001 20010db8000000000000000000000002 3b00 5e04 00000000>, LIMIT 1) -> in;
told :: InfiniteSource(DATA \<60000000 0008 00 40 20010db8000000000000000000000001 20010db8000000000000000000000002 3b00 9e04 00000000>, LIMIT 1) -> in;
o[1] -> problem :: ICMP6Error(2001:db8::9, 4, 2) -> Strip(40) -> Print(told, 8) -> Discard;
Script(wait 0.1, print $(passed.count), print $(o.drops), stop);
//= told:   56 | 04020b23 0000002a
//= 2
//= 2
