// Forty packets each half second.
InfiniteSource(LIMIT 100) -> Queue -> Burster(0.5, 40) -> d :: Discard;
Script(wait 1.2, stop);
//? d.count
//= 80
