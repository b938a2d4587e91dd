// A burst at once, of the packet that is there by then, and one each half second; of eight packets unless told otherwise.
InfiniteSource(LIMIT 100) -> Queue -> Burster(0.5, 40) -> d :: Discard;
InfiniteSource(LIMIT 100) -> Queue -> Burster(0.5) -> e :: Discard;
Script(wait 1.2, stop);
//? d.count
//= 81
//? e.count
//= 17
