// Packets part by the average length of the latest fifteen.
InfiniteSource(LENGTH 100, LIMIT 20) -> c :: CheckAverageLength(200);
Script(wait 0.1, write long.active true, wait 0.1, stop);
long :: InfiniteSource(LENGTH 250, LIMIT 20, ACTIVE false) -> c;
c[0] -> a :: Counter -> Discard; c[1] -> b :: Counter -> Discard;
//? b.count
//= 29
//? a.count
//= 11
