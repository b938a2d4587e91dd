// An element may be declared where it is connected.
InfiniteSource(LIMIT 2, STOP true) -> c :: Counter -> d :: Discard;
//? c.count
//= 2
//? d.count
//= 2
