// Compounds within compounds: names are found from the inside out, and handlers reach everywhere.
elementclass Source { $n | InfiniteSource(LIMIT $n) -> c :: Counter -> output };
elementclass Both { c :: Counter; a :: Source(2) -> c; b :: Source(3) -> c; c -> output };
x :: Both -> Discard;
Script(wait 0.1, print $(x/a/c.count) $(x/b/c.count) $(x/c.count), stop);
//= 2 3 5
