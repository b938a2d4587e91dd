// A node of a cluster of four whose routes come from its own FRR: BGP with the world outside, iBGP among the nodes.
//
//   zebra -M dplane_fpm_nl -K 60 ...   with  fpm address 127.0.0.1  in its configuration, and bgpd
//   clique run tests/netns/cluster-frr.click NODE=1 EXT=eth0 IF1=eth1 IF2=eth2 IF3=eth3 KEYFILE=/etc/clique/cluster.key
//
// EXT has the address 10.0.NODE.1/24 in the kernel, which answers ARP and speaks BGP with neighbours there. Clique makes the
// interface `inside`, by which the kernels of the nodes reach each other: that of node I is 10.255.I.1. Over it the bgpds speak
// iBGP, each with each or with a route reflector, and pass on what they know with 'next-hop-self'; so a route's next hop,
// 10.255.I.1, names the node by which packets leave the cluster. With 'bgp graceful-restart' they keep what a node told whose bgpd
// has gone: packets for its port still get there. IF1, IF2 and IF3 are the links to the other nodes, in the
// order of their numbers. sysctl net.ipv4.ip_forward is 0, since Clique forwards.
//
// The node at which a packet comes in decides by which node it leaves; that node decides to which of its own neighbours it
// goes, and to none but them: what has crossed the cluster once does not do so again, whatever routes nodes have.

define($NODE 0, $EXT eth0, $IF1 eth1, $IF2 eth2, $IF3 eth3, $KEYFILE cluster.key,
  $ORDER FLOWLET, $LINE_RATE 10Gbps, $METHOD LINUX, $HOLD 120);

AddressInfo(port 10.0.$NODE.1 $EXT:eth);
vlb :: VLBNode($NODE, 4, KEYFILE $KEYFILE, ORDER $ORDER, LINE_RATE $LINE_RATE);

// Output 0 is this machine, 1 its external port, 2 the cluster.
routes :: IPLookup(10.0.$NODE.1 0, 10.255.$NODE.1 0, 10.255.0.0/16 2, 255.255.255.255/32 0, 224.0.0.0/4 0);
fpm :: FPMServer($EXT 1, inside 2, IPV4 routes, HOLD $HOLD, BLACKHOLE 3, UNREACHABLE 4, PROHIBIT 5);

// From outside, from the kernel, and, painted, from other nodes.
out :: ToDevice($EXT, METHOD $METHOD);
FromDevice($EXT, METHOD $METHOD)
  -> HostEtherFilter(port, DROP_OTHER true)
  -> kind :: Classifier(12/0806 20/0002, 12/0800, -);
arp :: ARPQuerier(port:ip, port:eth) -> out;
kind[0] -> [1]arp;
kind[1] -> Strip(14) -> CheckIPHeader -> ttl :: DecIPTTL -> routes;
kind[2] -> Discard;
kernel :: KernelTun(10.255.$NODE.1/16, DEVNAME inside) -> routes;
vlb -> VLBDecap -> CheckIPHeader -> GetIPAddress(16) -> Paint(1) -> routes;

// To this machine: its kernel has got already what came in at its external port.
routes[0] -> own :: PaintSwitch;
own[0] -> Discard;
own[1] -> kernel;
routes[1] -> DropBroadcasts -> FixIPSrc(port:ip) -> arp;

// Into the cluster: the egress follows from the next hop.
routes[2] -> once :: PaintSwitch;
once[1] -> Discard;
once[0] -> egress :: IPLookup(10.255.0.0/24 0, 10.255.1.0/24 1, 10.255.2.0/24 2, 10.255.3.0/24 3);
egress[0] -> VLBEncap(0) -> vlb;
egress[1] -> VLBEncap(1) -> vlb;
egress[2] -> VLBEncap(2) -> vlb;
egress[3] -> VLBEncap(3) -> vlb;

routes[3] -> Discard;
routes[4] -> ICMPError(port:ip, unreachable, host) -> routes;
routes[5] -> ICMPError(port:ip, unreachable, 13) -> routes;
ttl[1] -> ICMPError(port:ip, timeexceeded) -> routes;

// The links.
elementclass Link { $device |
  FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false) -> output;
  input -> ToDevice($device, METHOD $METHOD);
}
l1 :: Link($IF1) -> [1]vlb[1] -> l1;
l2 :: Link($IF2) -> [2]vlb[2] -> l2;
l3 :: Link($IF3) -> [3]vlb[3] -> l3;
