// The last step of forwarding IPv4: a hop off the packet's life, and its neighbour's address.
define($LIMIT 1);
s :: InfiniteSource(DATA \<4500002e 00000000 401155af 0a000909 0a000808 00010002 001a0000 000000000000000000000000000000000000>,
    BURST 32, LIMIT $LIMIT, STOP true, ACTIVE false)
  -> MarkIPHeader -> SetIPAddress(10.0.0.2) -> a :: IPAdjacency(10.0.0.1/24, 2:0:0:0:0:1) -> Discard;
Idle -> [1]a; a[1] -> Discard; a[2] -> Discard;
Script(write a.insert 10.0.0.2 2:0:0:0:0:2 permanent, write s.active true);
