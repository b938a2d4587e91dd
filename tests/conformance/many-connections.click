// `=>` connects several ports at once.
s :: RoundRobinSwitch;
InfiniteSource(LIMIT 6, STOP true) -> s => a :: Counter, b :: Counter, c :: Counter => Discard, Discard, Discard;
//? a.count
//= 2
//? d.count
//= 3

// Ports may be given as a range.
t :: Tee[0-2] => d :: Counter, e :: Counter, f :: Counter => Discard, Discard, Discard;
InfiniteSource(LIMIT 3) -> t;
