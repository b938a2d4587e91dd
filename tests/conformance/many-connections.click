// `=>` connects several ports at once.
s :: RoundRobinSwitch;
InfiniteSource(LIMIT 6, STOP true) -> s => a :: Counter, b :: Counter, c :: Counter => Discard, Discard, Discard;
//? a.count
//= 2
