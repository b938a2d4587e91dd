// Several packets a scheduling, but of the rate's no more than it allows; a delay for several packets at once.
InfiniteSource(LIMIT 7, BURST 7) -> Queue -> u :: RatedUnqueue(10, BURST_SIZE 5, BURST 3) -> a :: Counter -> Discard;
InfiniteSource(LIMIT 9, BURST 9, LENGTH 100) -> Queue -> BandwidthRatedUnqueue(1000, BURST_BYTES 300, BURST 32) -> b :: Counter -> Discard;
InfiniteSource(LIMIT 9, BURST 9, LENGTH 100) -> Queue -> BandwidthRatedUnqueue(1000, BURST_BYTES 300) -> b1 :: Counter -> Discard;
InfiniteSource(LIMIT 5, BURST 5, TIMESTAMP false) -> Queue -> DelayUnqueue(0.02, BURST 4) -> c :: Counter -> Discard;
// Captures with the packets' own times, or with none; a length beyond which padding does not go.
InfiniteSource(DATA abc, LIMIT 1, TIMESTAMP false) -> Truncate(1) -> p :: Pad(MAXLENGTH 2, VERBOSE true) -> t :: Tee;
t[0] -> ToDump($DIR/forced, FORCE_TS true); t[1] -> ToDump($DIR/timed, FORCE_TS false);
Script(wait 0.03, print $(a.count) $(b.count) $(b1.count) $(c.count), wait 0.02, print $(a.count) $(c.count), stop);
//= Tried a too long Pad: 1 + 2 > 2 -> adding only 1 bytes
//= 5 9 4 4
//= 5 5
//! then
FromDump($DIR/forced, STOP true) -> Print(F, TIMESTAMP true) -> Discard;
//= F: 0.000000:    2 | 6100
//! then
FromDump($DIR/timed, STOP true) -> Print(T, TIMESTAMP true) -> Discard;
//= T: 1000000000.000000:    2 | 6100
