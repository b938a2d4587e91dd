// One input is pulled from: chosen for good, or by a handler.
elementclass Two { InfiniteSource(LIMIT 50) -> Queue -> [0]output; InfiniteSource(LIMIT 50) -> Queue -> [1]output };
a :: Two; a[0] -> [0] p :: PullSwitch(1); a[1] -> [1] p; p -> u :: Unqueue -> pull :: Counter -> Discard;
b :: Two; b[0] -> [0] s :: StaticPullSwitch(0); b[1] -> b1 :: Counter -> [1] s; s -> Unqueue -> static :: Counter -> Discard;
c :: Two; c[0] -> [0] q :: SimplePullSwitch(-1); c[1] -> [1] q; q -> Unqueue -> none :: Counter -> Discard;
InfiniteSource(LIMIT 50) -> Queue -> t :: PullTee -> Unqueue -> first :: Counter -> Discard; t[1] -> copies :: Counter -> Discard;
Script(wait 1, print $(pull.count), write p.switch 0, wait 1, stop);
//= 50
//? pull.count
//= 100
//? static.count
//= 50
//? b1.count
//= 0
//? none.count
//= 0
//? copies.count
//= 50
