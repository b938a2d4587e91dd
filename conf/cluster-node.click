// A node of a cluster of four on real interfaces: one external port, a link to each other node.
//
//   clique run -j 2 conf/cluster-node.click NODE=1 EXT=eth0 IF1=eth1 IF2=eth2 IF3=eth3 KEYFILE=/etc/clique/cluster.key
//
// Node I has the networks 10.0.I.0/24 and 2001:db8:I::/64 and in them the addresses 10.0.I.1 and 2001:db8:I::1 at its external
// port. IF1, IF2 and IF3 are its links to the other nodes in the order of their numbers: those of node 1 lead to nodes 0, 2 and 3.
// The kernel needs no addresses on any of them. All nodes share the key, a file of random bytes. To hosts the four nodes are one
// router: one hop. Hellos are frequent, because a link that gets more than it can take loses them like other frames: many must be
// lost in a row.
//
// With several workers (-j) each has a receive queue and a socket of its own on each interface, and a packet is handled by one worker
// from end to end; `clique check -j 4` shows it.

define($NODE 0, $EXT eth0, $IF1 eth1, $IF2 eth2, $IF3 eth3, $KEYFILE cluster.key,
  $ORDER FLOWLET, $SCHEME DIRECT, $LINE_RATE 10Gbps, $METHOD LINUX);

vlb :: VLBNode($NODE, 4, KEYFILE $KEYFILE, ORDER $ORDER, SCHEME $SCHEME, LINE_RATE $LINE_RATE, HELLO 2ms);

// The external port.
AddressInfo(port 10.0.$NODE.1 2001:db8:$NODE::1 $EXT:eth);
out :: ToDevice($EXT, METHOD $METHOD);
FromDevice($EXT, METHOD $METHOD)
  -> HostEtherFilter(port, DROP_OTHER true)
  -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800,
                        12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
arp :: ARPQuerier(port:ip, port:eth) -> out;
nd :: IP6NDSolicitor(port:ip6, port:eth) -> out;
// Who asks, or announces itself, says where it is.
kind[0] -> asked :: Tee -> ARPResponder(port:ip port:eth) -> out;
asked[1] -> [1]arp;
kind[1] -> [1]arp;
kind[3] -> solicited :: Tee -> IP6NDAdvertiser(port:ip6 port:eth) -> out;
solicited[1] -> [1]nd;
kind[4] -> [1]nd;
kind[6] -> Discard;

// What comes in is looked at here and nowhere else: route, TTL, the node by which it leaves. Input 0 and output 1 are IPv4's, input 1
// and output 2 IPv6's.
elementclass To { $node |
  input[0] -> ttl :: DecIPTTL -> label :: VLBEncap($node) -> [0]output;
  input[1] -> hops :: DecIP6HLIM -> label;
  ttl[1] -> [1]output;
  hops[1] -> [2]output;
}
routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1, 10.0.2.0/24 2, 10.0.3.0/24 3, port:ip 4);
routes6 :: IP6Lookup(2001:db8:0::/64 0, 2001:db8:1::/64 1, 2001:db8:2::/64 2, 2001:db8:3::/64 3, port:ip6 4);
// From possible senders only (RFC 1812, section 5.3.7; RFC 4291, sections 2.5.2, 2.5.3, 2.5.6 and 2.7).
kind[2] -> Strip(14)
  -> CheckIPHeader(BADSRC port:ip 10.0.$NODE.255 0.0.0.0 255.255.255.255)
  -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
  -> routes;
kind[5] -> DropBroadcasts -> Strip(14)
  -> CheckIP6Header(:: ::1 port:ip6)
  -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
  -> GetIP6Address(24)
  -> routes6;
routes[0] -> t0 :: To(0) -> vlb; routes[1] -> t1 :: To(1) -> vlb;
routes[2] -> t2 :: To(2) -> vlb; routes[3] -> t3 :: To(3) -> vlb;
routes6[0] -> [1]t0; routes6[1] -> [1]t1; routes6[2] -> [1]t2; routes6[3] -> [1]t3;
t0[1], t1[1], t2[1], t3[1] -> ICMPError(port:ip, timeexceeded) -> routes;
t0[2], t1[2], t2[2], t3[2] -> ICMP6Error(port:ip6, 3, 0) -> routes6;

// The node's own addresses answer pings.
routes[4] -> IPReassembler -> own :: IPClassifier(icmp type echo, -);
own[0] -> ICMPPingResponder -> IPFragmenter(1500) -> routes;
own[1] -> Discard;
routes6[4] -> IP6Reassembler -> own6 :: ICMP6PingResponder -> IP6Fragmenter(1500) -> routes6;
own6[1] -> Discard;

// What leaves here, from wherever it came, was looked at where it came in: its label says what it is.
vlb -> leaving :: VLBDecap(FAMILIES true);
leaving[0] -> arp;
leaving[1] -> nd;

// The links.
elementclass Link { $device |
  FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false) -> output;
  input -> ToDevice($device, METHOD $METHOD);
}
l1 :: Link($IF1) -> [1]vlb[1] -> l1;
l2 :: Link($IF2) -> [2]vlb[2] -> l2;
l3 :: Link($IF3) -> [3]vlb[3] -> l3;
