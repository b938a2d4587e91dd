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
//! then
// Times have units.
InfiniteSource(LIMIT 1) -> SetTimestamp(100) -> a :: AdjustTimestamp(-2ms) -> t :: TimeRange -> Discard;
b :: AdjustTimestamp(1min); Idle -> b -> Discard;
Script(wait 1, print $(a.time) $(b.time), write b.time -3us, print $(b.time), write b.time 1day, print $(b.time), stop);
//= -0.002000 60.000000
//= -0.000003
//= 86400.000000
//? t.range
//= 99.998000 99.998000
