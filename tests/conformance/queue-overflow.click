// What does not fit is dropped and counted; the first time is announced.
InfiniteSource(LIMIT 10, BURST 10) -> q :: Queue(4) -> Idle;
Script(wait 0.1, stop);
//= q :: Queue: overflow
//? q.length
//= 4
//? q.drops
//= 6
//? q.highwater_length
//= 4
