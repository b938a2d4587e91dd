// Timestamps are set, moved and noted.
InfiniteSource(LIMIT 1) -> SetTimestamp(100) -> t :: TimeRange -> AdjustTimestamp(5) -> u :: TimeRange
  -> CheckLength(10) -> Discard;
InfiniteSource(LIMIT 1) -> Queue -> [0] s :: TimeSortedSched -> Unqueue -> n :: Counter -> Discard;
Script(wait 1, stop);
//? t.range
//= 100.000000 100.000000
//? u.first
//= 105.000000
//? n.count
//= 1
