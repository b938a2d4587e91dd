// All tables take the longest prefix.
elementclass Try { $to | InfiniteSource(LIMIT 1, LENGTH 4) -> SetIPAddress($to) -> output };
Try(10.1.1.1) -> t :: Tee(6);
t[0] -> a :: RadixIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0.0.0.0/0 2); a[0] -> Discard; a[1] -> ra :: Counter -> Discard; a[2] -> Discard;
t[1] -> b :: DirectIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0.0.0.0/0 2); b[0] -> Discard; b[1] -> rb :: Counter -> Discard; b[2] -> Discard;
t[2] -> c :: RangeIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0.0.0.0/0 2); c[0] -> Discard; c[1] -> rc :: Counter -> Discard; c[2] -> Discard;
t[3] -> d :: LinearIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0.0.0.0/0 2); d[0] -> Discard; d[1] -> rd :: Counter -> Discard; d[2] -> Discard;
t[4] -> e :: StaticIPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0.0.0.0/0 2); e[0] -> Discard; e[1] -> re :: Counter -> Discard; e[2] -> Discard;
t[5] -> f :: IPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 0.0.0.0/0 2); f[0] -> Discard; f[1] -> rf :: Counter -> Discard; f[2] -> Discard;
InfiniteSource(LIMIT 1, LENGTH 4) -> SetIP6Address(2001:db8::1) -> s :: Tee(2);
s[0] -> g :: LookupIP6Route(2001::/16 ::0 0, 2001:db8::/32 ::0 1); g[0] -> Discard; g[1] -> rg :: Counter -> Discard;
s[1] -> h :: IP6Lookup(2001::/16 ::0 0, 2001:db8::/32 ::0 1); h[0] -> Discard; h[1] -> rh :: Counter -> Discard;
Script(wait 1, stop);
//? ra.count
//= 1
//? rb.count
//= 1
//? rc.count
//= 1
//? rd.count
//= 1
//? re.count
//= 1
//? rf.count
//= 1
//? rg.count
//= 1
//? rh.count
//= 1
