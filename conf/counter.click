// Counts packets and bytes on their way from a source to a sink: the smallest useful configuration.
//
//   clique run conf/counter.click -h c.count -h c.byte_count

InfiniteSource(LENGTH 100, LIMIT 1000, STOP true) -> c :: Counter -> Discard;

//? c.count
//= 1000
//? c.byte_count
//= 100000
