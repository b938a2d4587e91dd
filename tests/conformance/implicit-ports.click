// In a compound element, `input` and `output` may be left out at the ends of a chain; `[1]` stands for their second ports.
c :: { -> a :: Counter -> ; [1] -> b :: Counter -> [1] };
InfiniteSource(LIMIT 2) -> c -> Discard;
InfiniteSource(LIMIT 3) -> [1] c [1] -> Discard;
Script(wait 0.1, stop);
//? c/a.count
//= 2
//? c/b.count
//= 3
