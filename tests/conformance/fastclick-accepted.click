// What FastClick needs for memory and clocks is accepted; packets pass.
DPDKInfo(NB_SOCKET_MBUF 65536); NetmapInfo(); t :: TSCClock(NOWAIT true); j :: JiffieClock(MINPRECISION 1000); LinuxClock(); DPDKDeviceClock(); MBGClock();
q :: ARPQuerier(10.0.0.1, 0:0:0:0:0:1, CACHE true); Idle -> q -> Discard; Idle -> [1]q;
InfiniteSource(LIMIT 5) -> Queue -> r :: RoundRobinSched(MAX 1) -> Unqueue -> c :: Discard; Idle -> [1]r;
Script(wait 1, print $(t.now) $(t.phase) $(j.jiffies) $(j.status), stop);
//= 1000000001000000000 2 1000000001000 true
//? c.count
//= 5
