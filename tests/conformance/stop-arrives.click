// What a source has made arrives before its end stops the driver, and before the driver's script is asked.
InfiniteSource(DATA abcdefgh, LIMIT 100) -> SetTimestamp(1) -> ToDump($DIR/hundred);
Script(wait 0.1, stop);
//! then
FromDump($DIR/hundred, STOP true) -> Queue(1000) -> Unqueue -> a :: Counter -> Discard;
//? a.count
//= 100
//! then
FromDump($DIR/hundred, STOP true) -> q :: Queue(1000) -> Unqueue(3) -> Queue -> a :: Counter -> ToDump($DIR/copy);
DriverManager(pause, print $(q.length) $(a.count));
//= 0 100
