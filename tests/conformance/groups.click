// A group in parentheses is one step of a chain, and its elements are those of the scope around it.
InfiniteSource(LIMIT 4, STOP true) -> s :: Switch(0) => (-> a :: Counter -> ; [1] -> b :: Counter -> [1]) => Discard, Discard;
//? a.count
//= 4
//? b.count
//= 0
