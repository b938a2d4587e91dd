// Four servers that are one router: host I, 10.0.I.2 and 2001:db8:I::2, is at the external port of node I, pings host I + 1, and sends it IPv6.
//
//   clique run --simtime conf/cluster.click -h 'h?/ping.count' -h 'n?/vlb.phase'
//
// A packet's header is looked at where it comes in: there its route is looked up and its TTL or hop limit decremented, once. The other
// nodes move it on by the label that it gets there; also the one that it leaves by, which gives it to the host as it is. On real servers a node is a configuration of its own, and the links are
// devices; here they are queues with a delay.

// A node. Input and output 0 are the external port, the others the links to the other nodes in the order of their numbers.
elementclass Node { $node |
  vlb :: VLBNode(NODE $node, NODES 4, KEY "not a secret", LINE_RATE 1Gbps);
  routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1, 10.0.2.0/24 2, 10.0.3.0/24 3);
  ttl :: DecIPTTL;

  routes6 :: IP6Lookup(2001:db8:0::/64 0, 2001:db8:1::/64 1, 2001:db8:2::/64 2, 2001:db8:3::/64 3);
  hops :: DecIP6HLIM;

  input[0] -> family :: Classifier(0/40%f0, 0/60%f0);
  family[0] -> CheckIPHeader -> ttl -> routes;
  ttl[1] -> ICMPError(10.0.$node.1, timeexceeded) -> routes;
  family[1] -> CheckIP6Header -> hops -> GetIP6Address(24) -> routes6;
  hops[1] -> ICMP6Error(2001:db8:$node::1, 3, 0) -> routes6;
  routes[0], routes6[0] -> VLBEncap(0) -> vlb;
  routes[1], routes6[1] -> VLBEncap(1) -> vlb;
  routes[2], routes6[2] -> VLBEncap(2) -> vlb;
  routes[3], routes6[3] -> VLBEncap(3) -> vlb;
  vlb -> VLBDecap -> [0]output;

  input[1] -> [1]vlb[1] -> [1]output;
  input[2] -> [2]vlb[2] -> [2]output;
  input[3] -> [3]vlb[3] -> [3]output;
}

elementclass Link { input -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> output }

// A host, which starts to ping, and to send, when the nodes have found each other.
elementclass Host { $me, $other |
  ping :: ICMPPingSource(10.0.$me.2, 10.0.$other.2, INTERVAL 0.1, LIMIT 10, VERBOSE false, ACTIVE false);
  input -> family :: Classifier(0/40%f0, 0/60%f0);
  family[0] -> CheckIPHeader -> kind :: IPClassifier(icmp type echo, icmp type echo-reply, -);
  kind[0] -> ICMPPingResponder -> output;
  kind[1] -> ping -> output;
  kind[2] -> Discard;
  send :: RatedSource(LENGTH 56, RATE 10, LIMIT 10, ACTIVE false)
    -> UDPIP6Encap(2001:db8:$me::2, 9, 2001:db8:$other::2, 9) -> output;
  family[1] -> CheckIP6Header -> six :: Counter -> Discard;
}

n0 :: Node(0); n1 :: Node(1); n2 :: Node(2); n3 :: Node(3);
n0[1] -> Link -> [1]n1; n1[1] -> Link -> [1]n0;
n0[2] -> Link -> [1]n2; n2[1] -> Link -> [2]n0;
n0[3] -> Link -> [1]n3; n3[1] -> Link -> [3]n0;
n1[2] -> Link -> [2]n2; n2[2] -> Link -> [2]n1;
n1[3] -> Link -> [2]n3; n3[2] -> Link -> [3]n1;
n2[3] -> Link -> [3]n3; n3[3] -> Link -> [3]n2;

n0 -> h0 :: Host(0, 1) -> n0;
n1 -> h1 :: Host(1, 2) -> n1;
n2 -> h2 :: Host(2, 3) -> n2;
n3 -> h3 :: Host(3, 0) -> n3;

Script(wait 0.5,
  write h0/ping.active true, write h1/ping.active true, write h2/ping.active true, write h3/ping.active true,
  write h0/send.active true, write h1/send.active true, write h2/send.active true, write h3/send.active true,
  // Node 2 leaves, without loss, when its host has been served.
  wait 1.5, write n2/vlb.drain, wait 0.5, stop);

//? h0/ping.count
//= 10
//? h0/six.count
//= 10
//? h3/six.count
//= 10
//? n0/vlb.phase
//= active
//? n2/vlb.phase
//= left
