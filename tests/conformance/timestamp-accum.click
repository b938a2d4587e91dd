// How old packets are, all together and each.
InfiniteSource(LIMIT 4) -> SetTimestamp(999999999.5) -> t :: TimestampAccum -> Discard; Script(wait 1, stop);
//! workers 1
//? t.count
//= 4
//? t.time
//= 2
//? t.average_time
//= 0.5
