// A compound element without a class of its own.
InfiniteSource(LIMIT 6, STOP true) -> pair :: { input -> c :: Counter -> output } -> Discard;
//? pair/c.count
//= 6
