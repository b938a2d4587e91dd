// One path over two workers: the source and what it feeds run on worker 0, the other side of the queue on worker 1.
// The queue between them becomes a ring without locks; nothing else has to be said.
//
//   clique run -j 2 conf/workers.click -h before.count -h after.count

source :: InfiniteSource(LIMIT 50000) -> before :: Counter -> Queue(1000)
  -> u :: Unqueue -> after :: Counter(COUNT_CALL 50000 stop) -> Discard;

StaticThreadSched(source 0, u 1);

//? before.count
//= 50000
//? after.count
//= 50000
