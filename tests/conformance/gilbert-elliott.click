// The first of each hundred packets are lost, none, or about a fifth.
InfiniteSource(LIMIT 200) -> d :: IP6Drop(DETERMINISTIC true, UDROPRATE 0.02) -> Discard;
InfiniteSource(LIMIT 200) -> n :: IP6Drop(2001:db8::1) -> Discard;
InfiniteSource(LIMIT 10000) -> g :: IP6Drop(P 0.1, R 0.4) -> Discard;
InfiniteSource(LIMIT 100) -> u :: IP6Drop(UNIFORM true, UDROPRATE 1) -> Discard;
Script(wait 1, print $(d.count) $(d.drops) $(n.drops) $(u.drops) $(gt $(g.drops) 1800) $(lt $(g.drops) 2200), stop);
//= 200 4 0 100 true true
