// Packets part: by a constant, by chance that is none, by their bytes, in proportion.
InfiniteSource(LIMIT 40) -> s :: StaticSwitch(1); s[0] -> Discard; s[1] -> a :: Counter -> Discard;
InfiniteSource(LIMIT 40) -> r :: RandomSample(1) -> b :: Counter -> Discard; r[1] -> Discard;
InfiniteSource(LIMIT 40) -> q :: RandomSwitch; q[0] -> c :: Counter -> Discard;
InfiniteSource(DATA \<03>, LIMIT 40) -> h :: HashSwitch(0, 1); h[0] -> Discard; h[1] -> d :: Counter -> Discard;
InfiniteSource(LIMIT 40) -> w :: StrideSwitch(3, 1); w[0] -> e :: Counter -> Discard; w[1] -> f :: Counter -> Discard;
InfiniteSource(LIMIT 40) -> x :: CPUSwitch; x[0] -> g :: Counter -> Discard;
InfiniteSource(LIMIT 40) -> y :: Block(0); y[0] -> i :: Counter -> Discard; y[1] -> Discard;
InfiniteSource(LIMIT 40) -> [0] u :: Suppressor [0] -> j :: Counter -> Discard;
InfiniteSource(LIMIT 40) -> z :: Bypass(ACTIVE true); z[0] -> Discard; z[1] -> k :: Counter -> Discard;
InfiniteSource(LIMIT 40) -> PushNull -> [0] v :: Hub; Idle -> [1] v; v[0] -> Discard; v[1] -> Queue -> PullNull -> Unqueue -> l :: Counter -> Discard;
Script(wait 1, stop);
//? a.count
//= 40
//? b.count
//= 40
//? c.count
//= 40
//? d.count
//= 40
//? e.count
//= 30
//? f.count
//= 10
//? g.count
//= 40
//? i.count
//= 40
//? j.count
//= 40
//? k.count
//= 40
//? l.count
//= 40
