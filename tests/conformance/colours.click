// Packets part by their colour.
InfiniteSource(LIMIT 9) -> r :: RoundRobinSwitch;
r[0] -> Paint(0) -> p :: PaintSwitch; r[1] -> Paint(1) -> p; r[2] -> SetAnnoByte(PAINT, 2) -> p;
p[0] -> zero :: Counter -> Discard;
p[1] -> one :: Counter -> c :: CheckPaint(2) -> wrong :: Counter -> Discard;
c[1] -> right :: Counter -> Discard;
p[2] -> two :: Counter -> Discard;
Script(wait 1, stop);
//? zero.count
//= 3
//? one.count
//= 3
//? two.count
//= 3
//? wrong.count
//= 0
//? right.count
//= 3
