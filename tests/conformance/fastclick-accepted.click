// What FastClick needs for memory, clocks and locks is accepted; packets pass.
DPDKInfo(NB_SOCKET_MBUF 65536); NetmapInfo(); t :: TSCClock(NOWAIT true); j :: JiffieClock(MINPRECISION 1000); LinuxClock(); DPDKDeviceClock(); MBGClock();
InfiniteSource(LIMIT 3) -> EnsureDPDKBuffer -> [0]l :: PathSpinlock(x)[0] -> EnsureHeadroom(48) -> a :: Discard;
InfiniteSource(LIMIT 4) -> Queue -> [1]l[1] -> EnsureNetmapBuffer -> Unqueue -> b :: Discard;
q :: ARPQuerier(10.0.0.1, 0:0:0:0:0:1, CACHE true); Idle -> q -> Discard; Idle -> [1]q;
Idle -> GenerateIPLookupRules(1, KEEP_SADDR false, KEEP_DADDR true, KEEP_SPORT false, KEEP_DPORT true) -> Discard;
InfiniteSource(LIMIT 5) -> Queue -> r :: RoundRobinSched(MAX 1) -> Unqueue -> c :: Discard; Idle -> [1]r;
Script(wait 1, print $(t.now) $(t.phase) $(j.jiffies) $(j.status), stop);
//= 1000000001000000000 2 1000000001000 true
//? a.count
//= 3
//? b.count
//= 4
//? c.count
//= 5
