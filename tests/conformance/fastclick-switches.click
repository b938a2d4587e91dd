// Colours beyond the last output start again at output 0; so do workers. Or colours have outputs of their own.
InfiniteSource(LIMIT 9) -> r :: RoundRobinSwitch; r[0] -> Paint(0) -> p :: PaintRR; r[1] -> Paint(3) -> p; r[2] -> Paint(254) -> p;
p[0] -> a :: Counter -> e :: ExactPaintSwitch(MAP 254, MAP 3); p[1] -> b :: Counter -> e; e[0] -> c :: Discard; e[1] -> d :: Discard; e[2] -> f :: Discard;
InfiniteSource(LIMIT 4) -> x :: ExactCPUSwitch; x[0] -> g :: Discard; x[1] -> h :: Discard;
InfiniteSource(LIMIT 2) -> Paint(7, ANNO 20) -> y :: ExactPaintSwitch(20, DEFAULT 1, MAP 16); y[0] -> i :: Discard; y[1] -> j :: Discard;
Script(wait 1, stop);
//? a.count
//= 6
//? b.count
//= 3
//? c.count
//= 3
//? d.count
//= 3
//? f.count
//= 0
//? e.drop_reasons
//= 3	no output for the colour
//? i.count
//= 0
//? j.count
//= 2
//? g.count
//= 4
//? h.count
//= 0
