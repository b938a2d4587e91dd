// All kinds of queues hold what they have room for.
InfiniteSource(LIMIT 30) -> a :: SimpleQueue(20) -> Idle;
InfiniteSource(LIMIT 30) -> b :: NotifierQueue(20) -> Idle;
InfiniteSource(LIMIT 30) -> c :: FrontDropQueue(20) -> Idle;
InfiniteSource(LIMIT 30) -> d :: ThreadSafeQueue(40) -> Idle;
InfiniteSource(LIMIT 30) -> e :: FullNoteQueue(20) -> Idle;
InfiniteSource(LIMIT 30) -> f :: QuickNoteQueue(40) -> Idle;
InfiniteSource(LIMIT 30) -> g :: MSQueue(40) -> Idle;
InfiniteSource(LIMIT 5) -> [0] h :: MixedQueue(10) -> Idle; InfiniteSource(LIMIT 5) -> [1] h;
Script(wait 1, stop);
//= a :: SimpleQueue: overflow
//= b :: NotifierQueue: overflow
//= c :: FrontDropQueue: overflow
//? a.drops
//= 10
//? b.length
//= 20
//? c.drops
//= 10
//? d.length
//= 30
//? e.length
//= 20
//? f.length
//= 30
//? g.length
//= 30
//? h.length
//= 10
