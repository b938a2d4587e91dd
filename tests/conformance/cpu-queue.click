// Holds 128 packets unless told otherwise.
InfiniteSource(LIMIT 200, BURST 200) -> q :: CPUQueue -> Idle;
Script(wait 1, stop);
//= q :: CPUQueue: overflow
//? q.capacity
//= 128
//? q.drops
//= 72
