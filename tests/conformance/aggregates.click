// Packets are counted by a part of their address, by length and by colour.
elementclass From { $host | InfiniteSource(DATA \<00>, LENGTH 4, LIMIT 3) -> IPEncap(50, 1.0.0.$host, 2.0.0.2) -> output };
a :: From(1) -> m :: AggregateIP(ip src) -> c :: AggregateCounter -> f :: AggregateFirst -> first :: Counter -> Discard;
b :: From(2) -> m; f[1] -> others :: Counter -> Discard;
InfiniteSource(LENGTH 40, LIMIT 2) -> AggregateLength -> l :: AggregateCounter(BYTES true) -> Discard;
InfiniteSource(LIMIT 2) -> Paint(7) -> AggregatePaint -> p :: AggregateCounter
  -> x :: AggregateFilter(allow 7, 1 all) -> kept :: Counter -> Discard; x[1] -> Discard;
InfiniteSource(LIMIT 4) -> v :: AverageCounter -> Discard;
Script(wait 1, stop);
//? c.nagg
//= 2
//? first.count
//= 2
//? others.count
//= 4
//? l.nagg
//= 1
//? p.count
//= 2
//? kept.count
//= 2
//? v.count
//= 4
