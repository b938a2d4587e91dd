// Who is pulled from: in turn, the first who has something, in proportion, by time.
elementclass Two { $n | InfiniteSource(DATA a, LIMIT $n) -> Queue -> [0]output; InfiniteSource(DATA bb, LIMIT $n) -> Queue -> [1]output };
a :: Two(100); a[0] -> c0 :: Counter -> [0] p :: PrioSched; a[1] -> c1 :: Counter -> [1] p; p -> Unqueue(LIMIT 120) -> Discard;
b :: Two(100); b[0] -> d0 :: Counter -> [0] r :: RoundRobinSched; b[1] -> d1 :: Counter -> [1] r; r -> Unqueue(LIMIT 120) -> Discard;
c :: Two(100); c[0] -> e0 :: Counter -> [0] s :: StrideSched(3, 1); c[1] -> e1 :: Counter -> [1] s; s -> us :: Unqueue(LIMIT 120, ACTIVE false) -> Discard;
d :: Two(100); d[0] -> f0 :: Counter -> [0] x :: SimplePrioSched; d[1] -> f1 :: Counter -> [1] x; x -> Unqueue(LIMIT 120) -> Discard;
e :: Two(100); e[0] -> g0 :: Counter -> [0] y :: SimpleRoundRobinSched; e[1] -> g1 :: Counter -> [1] y; y -> Unqueue(LIMIT 120) -> Discard;
f :: Two(200); f[0] -> h0 :: Counter -> [0] z :: DRRSched; f[1] -> h1 :: Counter -> [1] z; z -> Unqueue(LIMIT 150) -> Discard;
Script(wait 1, write us.active true, wait 1, stop);
//? c0.count
//= 100
//? c1.count
//= 20
//? d0.count
//= 60
//? d1.count
//= 60
//? e0.count
//= 90
//? e1.count
//= 30
//? f0.count
//= 100
//? g1.count
//= 60
//? h0.count
//= 150
//? h1.count
//= 0
