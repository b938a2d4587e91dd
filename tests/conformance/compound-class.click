// A compound class with a positional and a keyword parameter; inner names are joined by slashes.
elementclass Named { $limit, BURST $burst |
  source :: InfiniteSource(LIMIT $limit, BURST $burst) -> c :: Counter -> output
}
x :: Named(5, BURST 2) -> d :: Discard;
Script(wait 0.1, stop);
//? x/c.count
//= 5
//? x/source.burst
//= 2
