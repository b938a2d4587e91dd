// Ten packets a second, however they are held back.
elementclass Ten { InfiniteSource(LIMIT 1000, LENGTH 100) -> Queue(2000) -> output };
Ten -> a :: TimedUnqueue(0.1) -> ca :: Counter -> Discard;
Ten -> b :: TimedSink(0.1);
Ten -> RatedUnqueue(1000) -> cc :: Counter -> Discard;
Ten -> DelayUnqueue(2) -> cd :: Counter -> Discard;
Ten -> DelayShaper(2) -> Unqueue -> ce :: Counter -> Discard;
InfiniteSource(LIMIT 50) -> m :: Meter(1MBps); m[0] -> cm :: Counter -> Discard; m[1] -> Discard;
InfiniteSource(LIMIT 50) -> n :: BandwidthMeter(8 Mbps); n[0] -> cn :: Counter -> Discard; n[1] -> Discard;
Script(wait 1.05, stop);
//? ca.count
//= 10
//? cd.count
//= 0
//? ce.count
//= 0
//? cm.count
//= 50
//? cn.count
//= 50
