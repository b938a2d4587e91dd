// The least age and the greatest, and FastClick's other name.
InfiniteSource(LIMIT 4) -> SetTimestamp(999999999.5) -> t :: TimestampAccumMP(STEADY false) -> Discard;
InfiniteSource(LIMIT 1) -> SetTimestamp(999999998) -> t; Idle -> n :: TimestampAccum -> Discard; Script(wait 1, stop);
//? t.count
//= 5
//? t.time
//= 4
//? t.min
//= 0.5
//? t.max
//= 2
//? n.min
//= 0
