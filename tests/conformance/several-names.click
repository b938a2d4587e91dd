// One declaration, several elements of one class.
a, b :: Counter;
InfiniteSource(LIMIT 3, STOP true) -> a -> b -> Discard;
//? a.count
//= 3
//? b.class
//= Counter
