// A controller looks at the queue once a second, and adds 0.0625 (10 - 6) to its probability.
InfiniteSource(LIMIT 10) -> q :: SimpleQueue -> Idle;
t :: TimedSource(1) -> p :: PI(1, 0.0625, 0, 6, QUEUES q) -> Discard; Script(wait 2.5, stop);
//? p.p
//= 0.5
//? p.queues
//= q
//? p.target
//= 6
