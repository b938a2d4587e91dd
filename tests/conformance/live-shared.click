// Queues, ARP elements and what counts take new arguments while they run, and keep what they have.
//! workers 1
InfiniteSource(LIMIT 5) -> q :: SimpleQueue(3) -> u :: Unqueue(ACTIVE false) -> Discard;
f :: InfiniteSource(LIMIT 2) -> Queue -> Discard;
r :: ARPResponder(1.0.0.1 1:1:1:1:1:1); Idle -> r -> Discard;
a :: ARPQuerier(1.0.0.1, 1:1:1:1:1:1); Idle -> a -> Discard; Idle -> [1]a;
i :: TimedSource(0.5, DATA x, LIMIT 2) -> e :: IPEncap(50, 1.0.0.1, 2.0.0.2) -> IPPrint(TIMESTAMP false, ID true) -> Discard;
s :: TimedSource(0.5, DATA x, LIMIT 2) -> d :: RandomSample(DROP 1) -> Discard;
c :: Script(wait 0.1, print $(q.length) $(q.drops), write q.config 2, print $(q.length) $(q.capacity), write q.config, print $(q.capacity), print $(q.config),
  writeq r.config "1.0.0.2 2:2:2:2:2:2, 1.0.0.0/8 3:3:3:3:3:3", print $(r.table), write r.config 1.0.0.1, print $(r.lookup 1.0.0.2),
  write a.insert 1.0.0.9 9:9:9:9:9:9, writeq a.config "1.0.0.1/8, 1:1:1:1:1:1, CAPACITY 5", print $(a.broadcast) $(a.count),
  writeq a.config "1.0.0.2, 1:1:1:1:1:1", print $(a.ipaddr) $(a.broadcast) $(a.count), write a.config foo,
  wait 0.6, writeq e.config "51, 1.0.0.1, 2.0.0.3", write d.config 1, wait 0.9, print $(d.drops), stop);
//= q :: SimpleQueue: overflow
//= 3 2
//= 2 2
//= 1000
//=
//= 1.0.0.2/32 02-02-02-02-02-02
//= 1.0.0.0/8 03-03-03-03-03-03
//= While executing 'c :: Script':
//=   While calling 'r.config 1.0.0.1':
//=     argument 0: missing ETH
//= 02-02-02-02-02-02
//= 1.255.255.255 1
//= 1.0.0.2 255.255.255.255 0
//=   While calling 'a.config foo':
//=     IP: parse error
//=     ETH: parse error
//= id 0 1.0.0.1 > 2.0.0.2: ip-proto-50
//= id 1 1.0.0.1 > 2.0.0.3: ip-proto-51
//= 1
