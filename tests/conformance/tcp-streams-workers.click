//! workers 2
//! error run on different workers: both directions of a connection have to run on one; place their sources with StaticThreadSched
a :: InfiniteSource -> in :: TCPIn(RETURNNAME back) -> TCPOut -> Discard;
b :: InfiniteSource -> back :: TCPIn(RETURNNAME in) -> TCPOut -> Discard;
StaticThreadSched(a 0, b 1);
