// Tables by other names.
InfiniteSource(LIMIT 3, STOP true) -> GetIPAddress(0) -> SetIPAddress(10.0.0.1) -> t :: Tee;
t -> s :: SortedIPLookup(10.0.0.0/24 0, 0/0 1); s -> a :: Counter -> Discard; s[1] -> Discard;
t[1] -> i :: IndexTreesIPLookup(10.0.0.0/24 0, 0/0 1); i -> b :: Counter -> Discard; i[1] -> Discard;
//? a.count
//= 3
//? b.count
//= 3
