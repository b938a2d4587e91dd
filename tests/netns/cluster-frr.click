// A node of a cluster of four whose routes come from its own FRR: BGP with the world outside, iBGP among the nodes.
//
//   zebra -M dplane_fpm_nl -K 60 ...   with  fpm address 127.0.0.1  in its configuration, and bgpd
//   clique run tests/netns/cluster-frr.click NODE=1 EXT=eth0 IF1=eth1 IF2=eth2 IF3=eth3 KEYFILE=/etc/clique/cluster.key
//
// EXT has the addresses 10.0.NODE.1/24 and 2001:db8:NODE::1/64 in the kernel, which answers ARP and neighbour solicitations and speaks BGP with neighbours there. Clique makes the
// interface `inside`, by which the kernels of the nodes reach each other: that of node I is 10.255.I.1. Over it the bgpds speak
// iBGP, each with each or with a route reflector, and pass on what they know with 'next-hop-self'; so a route's next hop,
// 10.255.I.1 or in IPv6 2001:db8:ff:I::1, names the node by which packets leave the cluster ('set ipv6 next-hop prefer-global').
// With 'bgp graceful-restart' they keep what a node told whose bgpd has gone: packets for its port still get there. IF1, IF2 and IF3 are the links to the other nodes, in the
// order of their numbers. sysctl net.ipv4.ip_forward is 0, since Clique forwards.
//
// The node at which a packet comes in decides by which node it leaves; that node decides to which of its own neighbours it
// goes, and to none but them: what has crossed the cluster once does not do so again, whatever routes nodes have.

define($NODE 0, $EXT eth0, $IF1 eth1, $IF2 eth2, $IF3 eth3, $KEYFILE cluster.key,
  $ORDER FLOWLET, $LINE_RATE 10Gbps, $METHOD LINUX, $HOLD 120);

AddressInfo(port 10.0.$NODE.1 2001:db8:$NODE::1 $EXT:eth);
vlb :: VLBNode($NODE, 4, KEYFILE $KEYFILE, ORDER $ORDER, LINE_RATE $LINE_RATE);

// Output 0 is this machine, 1 its external port, 2 the cluster.
routes :: IPLookup(10.0.$NODE.1 0, 10.255.$NODE.1 0, 10.255.0.0/16 2, 255.255.255.255/32 0, 224.0.0.0/4 0);
routes6 :: IP6Lookup(2001:db8:$NODE::1 0, 2001:db8:ff:$NODE::1 0, 2001:db8:ff::/48 2, fe80::/10 0, ff00::/8 0);
fpm :: FPMServer($EXT 1, inside 2, IPV4 routes, IPV6 routes6, HOLD $HOLD, BLACKHOLE 3, UNREACHABLE 4, PROHIBIT 5);

// From outside, from the kernel, and, painted, from other nodes.
out :: ToDevice($EXT, METHOD $METHOD);
FromDevice($EXT, METHOD $METHOD)
  -> HostEtherFilter(port, DROP_OTHER true)
  -> kind :: Classifier(12/0806 20/0002, 12/0800, 12/86dd 20/3aff 54/88, 12/86dd 20/3aff 54/87, 12/86dd, -);
arp :: ARPQuerier(port:ip, port:eth) -> out;
kind[0] -> [1]arp;
kind[1] -> Strip(14) -> CheckIPHeader -> ttl :: DecIPTTL -> routes;
nd :: IP6NDSolicitor(port:ip6, port:eth) -> out;
kind[2], kind[3] -> [1]nd; // who asks for this machine, of the kernel, is a neighbour, too
kind[4] -> DropBroadcasts -> Strip(14) -> CheckIP6Header(:: ::1)
  -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
  -> GetIP6Address(24) -> hops :: DecIP6HLIM -> routes6;
kind[5] -> Discard;
kernel :: KernelTun(10.255.$NODE.1/16, DEVNAME inside) -> family :: Classifier(0/40%f0, 0/60%f0);
family[0] -> routes;
family[1] -> GetIP6Address(24) -> routes6;
vlb -> leaving :: VLBDecap(FAMILIES true);
leaving[0] -> MarkIPHeader -> Paint(1) -> routes;
leaving[1] -> MarkIP6Header -> Paint(1) -> routes6;

// To this machine: its kernel has got already what came in at its external port.
routes[0] -> own :: PaintSwitch;
own[0] -> Discard;
own[1] -> kernel;
routes6[0] -> own6 :: PaintSwitch;
own6[0] -> Discard;
own6[1] -> kernel;
routes6[1] -> FixIP6Src(port:ip6) -> nd;
routes[1] -> DropBroadcasts -> FixIPSrc(port:ip) -> arp;

// Into the cluster: the egress follows from the next hop.
routes[2] -> once :: PaintSwitch;
once[1] -> Discard;
once[0] -> egress :: IPLookup(10.255.0.0/24 0, 10.255.1.0/24 1, 10.255.2.0/24 2, 10.255.3.0/24 3);
routes6[2] -> once6 :: PaintSwitch;
once6[1] -> Discard;
once6[0] -> egress6 :: IP6Lookup(2001:db8:ff:0::/64 0, 2001:db8:ff:1::/64 1, 2001:db8:ff:2::/64 2, 2001:db8:ff:3::/64 3);
egress[0], egress6[0] -> VLBEncap(0) -> vlb;
egress[1], egress6[1] -> VLBEncap(1) -> vlb;
egress[2], egress6[2] -> VLBEncap(2) -> vlb;
egress[3], egress6[3] -> VLBEncap(3) -> vlb;

routes[3], routes6[3] -> Discard;
routes[4] -> ICMPError(port:ip, unreachable, host) -> routes;
routes[5] -> ICMPError(port:ip, unreachable, 13) -> routes;
ttl[1] -> ICMPError(port:ip, timeexceeded) -> routes;
routes6[4] -> ICMP6Error(port:ip6, 1, 3) -> routes6;
routes6[5] -> ICMP6Error(port:ip6, 1, 1) -> routes6;
hops[1] -> ICMP6Error(port:ip6, 3, 0) -> routes6;

// The links.
elementclass Link { $device |
  FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false) -> output;
  input -> ToDevice($device, METHOD $METHOD);
}
l1 :: Link($IF1) -> [1]vlb[1] -> l1;
l2 :: Link($IF2) -> [2]vlb[2] -> l2;
l3 :: Link($IF3) -> [3]vlb[3] -> l3;
