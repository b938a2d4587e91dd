// A packet that comes in at one node of a cluster of two and leaves at the other. The link is a connection without delay.
define($LIMIT 1000);

a :: VLBNode(NODE 0, NODES 2, KEY "not a secret");
b :: VLBNode(NODE 1, NODES 2, KEY "not a secret");
a[1] -> [1]b;
b[1] -> [1]a;
a[0] -> Discard;
Idle -> [0]b;

// UDP from 10.0.0.2 to 10.0.1.2. Time passes between bursts, so that rates are rates.
src :: InfiniteSource(DATA \<
  4500002e 00000000 401165bc 0a000002 0a000102 0fa00fa0 001acb76 000000000000000000000000000000000000>,
  LIMIT $LIMIT, ACTIVE false, STOP true);
src -> TimedUnqueue(1ms, 320)
  -> CheckIPHeader
  -> ttl :: DecIPTTL
  -> routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1);
ttl[1] -> Discard;
routes[0] -> VLBEncap(0) -> a;
routes[1] -> VLBEncap(1) -> a;

b[0] -> VLBDecap -> MarkIPHeader -> d :: Discard;

// The nodes have found each other by then.
Script(wait 0.5, write src.active true);
