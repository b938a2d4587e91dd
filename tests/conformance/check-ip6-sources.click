// A host that has no address yet may send, unless the configuration says otherwise.
InfiniteSource(DATA x, LIMIT 3) -> IP6Encap(udp, ::, ff02::1) -> t :: Tee(2);
t[0] -> CheckIP6Header -> passed :: Counter -> Discard;
t[1] -> c :: CheckIP6Header(:: ::1) -> Discard;
Script(wait 1, stop);
//= IP6 header check failed
//? passed.count
//= 3
//? c.drops
//= 3
