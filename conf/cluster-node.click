// A node of a cluster of four on real interfaces: one external port, a link to each other node.
//
//   clique run conf/cluster-node.click NODE=1 EXT=eth0 IF1=eth1 IF2=eth2 IF3=eth3 KEYFILE=/etc/clique/cluster.key
//
// Node I has the network 10.0.I.0/24 and the address 10.0.I.1 at its external port. IF1, IF2 and IF3 are its links to the
// other nodes in the order of their numbers: those of node 1 lead to nodes 0, 2 and 3. The kernel needs no addresses on any
// of them. All nodes share the key, a file of random bytes. To hosts the four nodes are one router: one hop. Hellos are
// frequent, because a link that gets more than it can take loses them like other frames: many must be lost in a row.

define($NODE 0, $EXT eth0, $IF1 eth1, $IF2 eth2, $IF3 eth3, $KEYFILE cluster.key,
  $ORDER FLOWLET, $SCHEME DIRECT, $LINE_RATE 10Gbps, $METHOD LINUX);

vlb :: VLBNode($NODE, 4, KEYFILE $KEYFILE, ORDER $ORDER, SCHEME $SCHEME, LINE_RATE $LINE_RATE, HELLO 2ms);

// The external port.
AddressInfo(port 10.0.$NODE.1 $EXT:eth);
out :: ToDevice($EXT, METHOD $METHOD);
FromDevice($EXT, METHOD $METHOD)
  -> HostEtherFilter(port, DROP_OTHER true)
  -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
arp :: ARPQuerier(port:ip, port:eth) -> out;
// Who asks, or announces itself, says where it is.
kind[0] -> asked :: Tee -> ARPResponder(port:ip port:eth) -> out;
asked[1] -> [1]arp;
kind[1] -> [1]arp;
kind[3] -> Discard;

// What comes in is looked at here and nowhere else: route, TTL, the node by which it leaves.
elementclass To { $node |
  input -> ttl :: DecIPTTL -> VLBEncap($node) -> [0]output;
  ttl[1] -> [1]output;
}
routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1, 10.0.2.0/24 2, 10.0.3.0/24 3, port:ip 4);
// From possible senders only (RFC 1812, section 5.3.7).
kind[2] -> Strip(14)
  -> CheckIPHeader(BADSRC port:ip 10.0.$NODE.255 0.0.0.0 255.255.255.255)
  -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
  -> routes;
routes[0] -> t0 :: To(0) -> vlb; routes[1] -> t1 :: To(1) -> vlb;
routes[2] -> t2 :: To(2) -> vlb; routes[3] -> t3 :: To(3) -> vlb;
t0[1], t1[1], t2[1], t3[1] -> ICMPError(port:ip, timeexceeded) -> routes;

// The node's own address answers pings.
routes[4] -> own :: IPClassifier(icmp type echo, -);
own[0] -> ICMPPingResponder -> routes;
own[1] -> Discard;

// What leaves here, from wherever it came.
vlb -> VLBDecap -> CheckIPHeader -> GetIPAddress(16) -> arp;

// The links.
elementclass Link { $device |
  FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false) -> output;
  input -> ToDevice($device, METHOD $METHOD);
}
l1 :: Link($IF1) -> [1]vlb[1] -> l1;
l2 :: Link($IF2) -> [2]vlb[2] -> l2;
l3 :: Link($IF3) -> [3]vlb[3] -> l3;
