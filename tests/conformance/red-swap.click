// RED's average goes on when the configuration is replaced; drops are counted anew.
InfiniteSource(LIMIT 100) -> r :: RED(10, 20, 0, STABILITY 2, GENTLE false) -> q :: Queue(200) -> Idle;
Script(wait 1, print r.avg_queue_size, print r.drops, stop);
//= 23.999
//= 76
//! swap
Idle -> r :: RED(10, 30, 0, STABILITY 2, GENTLE false) -> q :: Queue(200) -> Idle;
Script(print r.avg_queue_size, print r.drops, print r.max_thresh, stop);
//= 23.999
//= 0
//= 30
