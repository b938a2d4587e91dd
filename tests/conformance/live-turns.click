// What chooses ports takes new arguments while it runs; so do CoDel and SetPacketType.
//! workers 1
t :: TimedSource(0.1, DATA x, LIMIT 9) -> s :: StrideSwitch(1, 0); s[0] -> a :: Counter -> Discard; s[1] -> b :: Counter -> Discard;
InfiniteSource(LIMIT 6) -> Queue -> [0]p :: PullSwitch; InfiniteSource(LIMIT 4) -> Queue -> [1]p -> Unqueue -> c :: Counter -> Discard;
InfiniteSource(LIMIT 6) -> Queue -> [0]q :: StrideSched(0, 1); InfiniteSource(LIMIT 4) -> Queue -> [1]q -> Unqueue -> d :: Counter -> Discard;
Idle -> Queue -> o :: CoDel -> Discard;
TimedSource(0.1, DATA x, LIMIT 9) -> k :: SetPacketType(BROADCAST) -> DropBroadcasts -> l :: Counter -> Discard;
Suppressor(anything);
e :: Script(wait 0.35, print $(a.count) $(b.count) $(c.count) $(d.count) $(l.count), writeq s.config "0, 5", write p.config 1, write k.config host, writeq q.config "2, 0",
  writeq o.config "0.2, INTERVAL 3", print $(s.config), print $(p.config), print $(q.config), print $(o.codel_target), print $(o.codel_interval),
  wait 0.65, print $(a.count) $(b.count) $(c.count) $(d.count) $(l.count), write s.config 1, write p.config x, write q.config x, write o.config x, stop);
//= DropBroadcasts: dropped a packet
//= 3 0 6 4 0
//= 0, 5
//= 1
//= 2, 0
//= 0.200000s
//= 3.000000 s
//= 3 6 10 10 6
//= While executing 'e :: Script':
//=   While calling 's.config 1':
//=     need 2 arguments, one per output port
//=   While calling 'p.config x':
//=     INPUT: invalid number
//=   While calling 'q.config x':
//=     need 2 arguments, one per input port
//=   While calling 'o.config x':
//=     TARGET: parse error
