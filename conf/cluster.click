// Four servers that are one router: host I, 10.0.I.2, is at the external port of node I and pings host I + 1.
//
//   clique run --simtime conf/cluster.click -h 'h?/ping.count' -h 'n?/vlb.phase'
//
// A packet's header is looked at where it comes in: there its route is looked up and its TTL decremented, once. The other
// nodes move it on by the label that it gets there. On real servers a node is a configuration of its own, and the links are
// devices; here they are queues with a delay.

// A node. Input and output 0 are the external port, the others the links to the other nodes in the order of their numbers.
elementclass Node { $node |
  vlb :: VLBNode(NODE $node, NODES 4, KEY "not a secret", LINE_RATE 1Gbps);
  routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1, 10.0.2.0/24 2, 10.0.3.0/24 3);
  ttl :: DecIPTTL;

  input[0] -> CheckIPHeader -> ttl -> routes;
  ttl[1] -> ICMPError(10.0.$node.1, timeexceeded) -> routes;
  routes[0] -> VLBEncap(0) -> vlb;
  routes[1] -> VLBEncap(1) -> vlb;
  routes[2] -> VLBEncap(2) -> vlb;
  routes[3] -> VLBEncap(3) -> vlb;
  vlb -> VLBDecap -> MarkIPHeader -> [0]output;

  input[1] -> [1]vlb[1] -> [1]output;
  input[2] -> [2]vlb[2] -> [2]output;
  input[3] -> [3]vlb[3] -> [3]output;
}

elementclass Link { input -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> output }

// A host, which starts to ping when the nodes have found each other.
elementclass Host { $me, $other |
  ping :: ICMPPingSource(10.0.$me.2, 10.0.$other.2, INTERVAL 0.1, LIMIT 10, VERBOSE false, ACTIVE false);
  input -> kind :: IPClassifier(icmp type echo, icmp type echo-reply, -);
  kind[0] -> ICMPPingResponder -> output;
  kind[1] -> ping -> output;
  kind[2] -> Discard;
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
  // Node 2 leaves, without loss, when its host has been served.
  wait 1.5, write n2/vlb.drain, wait 0.5, stop);

//? h0/ping.count
//= 10
//? n0/vlb.phase
//= active
//? n2/vlb.phase
//= left
