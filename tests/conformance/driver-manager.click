// DriverManager decides what happens when the driver is asked to stop.
InfiniteSource(LIMIT 10, STOP true) -> c :: Counter -> Discard;
DriverManager(pause, print "seen $(c.count)", stop);
//= seen 10
//! then
InfiniteSource(LIMIT 3, STOP true) -> c :: Counter -> Discard;
DriverManager(wait_pause, print $(c.count));
//= 3
