// Colours beyond the last output start again at output 0; so do workers.
InfiniteSource(LIMIT 9) -> r :: RoundRobinSwitch; r[0] -> Paint(0) -> p :: PaintRR; r[1] -> Paint(3) -> p; r[2] -> Paint(254) -> p;
p[0] -> a :: Counter -> e :: ExactPaintSwitch; p[1] -> b :: Counter -> e; e[0] -> c :: Discard; e[1] -> d :: Discard; e[2] -> f :: Discard;
InfiniteSource(LIMIT 4) -> x :: ExactCPUSwitch; x[0] -> g :: Discard; x[1] -> h :: Discard;
Script(wait 1, stop);
//? a.count
//= 6
//? b.count
//= 3
//? c.count
//= 6
//? d.count
//= 0
//? f.count
//= 3
//? g.count
//= 4
//? h.count
//= 0
