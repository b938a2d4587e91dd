// Ports stand on either side of an element; 0 may be left out.
InfiniteSource(LIMIT 4, STOP true) -> t :: Tee;
t[0] -> a :: Counter -> Discard;
t [1] -> [0] b :: Counter [0] -> Discard;
//? a.count
//= 4
//? b.count
//= 4
