// The last step of forwarding IPv6: a hop off the packet's life, and its neighbour's address.
define($LIMIT 1);
s :: InfiniteSource(DATA \<60000000 001a1140 20010db8000000000000000000000909 20010db8000000000000000000000808 00010002 001a0000
      000000000000000000000000000000000000>,
    BURST 32, LIMIT $LIMIT, STOP true, ACTIVE false)
  -> MarkIP6Header -> SetIP6Address(2001:db8::2) -> a :: IP6Adjacency(2001:db8::1, 2:0:0:0:0:1) -> Discard;
Idle -> [1]a; a[1] -> Discard; a[2] -> Discard;
Script(write a.insert 2001:db8::2 2:0:0:0:0:2 permanent, write s.active true);
