// A bad link: everything is delayed, or lost, or duplicated.
InfiniteSource(LIMIT 4) -> Faults(DELAY 2s) -> a :: Counter -> Discard;
InfiniteSource(LIMIT 4) -> b :: Faults(LOSS 1) -> Discard;
InfiniteSource(LIMIT 4) -> Faults(DUPLICATE 1) -> c :: Counter -> Discard;
Script(wait 1, print $(a.count) $(b.lost) $(c.count), wait 2, print $(a.count), stop);
//= 0 4 8
//= 4
