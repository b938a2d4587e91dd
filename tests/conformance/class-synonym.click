// A class may have a second name, in the scope where that is given.
elementclass Tally Counter;
elementclass Pair { elementclass Tally Paint; input -> Tally(3) -> output };
InfiniteSource(LIMIT 2, STOP true) -> t :: Tally -> p :: Pair -> Discard;
//? t.class
//= Counter
//? t.count
//= 2
//? p/Tally@1.class
//= Paint
