// A node of a cluster of four whose connections outlive it: each node translates what its hosts send, and when it drains or dies another
// one goes on with its flows and its addresses.
//
//   clique run conf/cluster-nat.click NODE=1 EXT=eth0 IF1=eth1 IF2=eth2 IF3=eth3 KEYFILE=/etc/clique/cluster.key
//
// All nodes have their external ports on one segment with hosts. Hosts of node I are in 10.0.I.0/24, and their gateway is 10.0.I.1. What
// they send into the networks of other nodes gets the source address 192.0.2.(I + 1), PUBLIC; replies come back to this node by the
// cluster. Gateway and its Ethernet address move when another node acts for this one (VLBGate), the node's own, 10.0.I.254, does
// not. Fragments are put together before they are translated, as only the first one has ports, and what is larger than MTU is cut again.
//
// IPv6 is not translated: hosts of node I are in 2001:db8:I::/64 as well, their gateway is 2001:db8:I::1, which moves with the other, and
// the node's own address is 2001:db8:I::fe. IF1, IF2 and IF3 are the links to the other nodes in the order of their numbers. 'clique cluster
// up --local 4 --nat' runs it.

define($NODE 0, $PUBLIC 192.0.2.1, $EXT eth0, $IF1 eth1, $IF2 eth2, $IF3 eth3, $KEYFILE cluster.key, $LINE_RATE 10Gbps, $MTU 1500,
  $METHOD LINUX);

vlb :: VLBNode($NODE, 4, KEYFILE $KEYFILE, LINE_RATE $LINE_RATE, HELLO 2ms);

// The flows of both rewriters move.
state :: VLBState(vlb, rw, pings) -> vlb;

// The external port.
AddressInfo(port 10.0.$NODE.254 2001:db8:$NODE::fe $EXT:eth);
out :: ToDevice($EXT, METHOD $METHOD);
FromDevice($EXT, METHOD $METHOD, PROMISC true, SNIFFER false)
  -> gate :: VLBGate(state, port:eth, 10.0.0.1, 10.0.1.1, 10.0.2.1, 10.0.3.1,
       ADDRESS6 2001:db8:0::1 2001:db8:1::1 2001:db8:2::1 2001:db8:3::1)
  -> kind :: Classifier(12/0806, 12/0800, 12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
gate[1] -> out;
arp :: ARPQuerier(port:ip, port:eth) -> out;
kind[0] -> [1]arp;
nd :: IP6NDSolicitor(port:ip6, port:eth) -> out;
kind[2] -> solicited :: Tee -> IP6NDAdvertiser(port:ip6 port:eth) -> out;
solicited[1] -> [1]nd;
kind[3] -> [1]nd;
kind[5] -> Discard;

// What hosts send. Answers to translated addresses pass as they are.
kind[1] -> Strip(14) -> CheckIPHeader -> ttl :: DecIPTTL
  -> to :: IPClassifier(dst net 192.0.2.0/24, ip frag, tcp or udp, icmp type echo, icmp, -);
ttl[1] -> ICMPError(10.0.$NODE.1, timeexceeded) -> GetIPAddress(16) -> arp;
// What came in fragments may leave in fragments, whatever its sender says: it no longer has "don't fragment".
to[1] -> parts :: IPReassembler -> StoreData(6, \<00>, \<40>) -> SetIPChecksum -> to;
parts[1] -> ICMPError(10.0.$NODE.1, timeexceeded, reassembly) -> GetIPAddress(16) -> arp;
rw :: IPRewriter(pattern $PUBLIC 1024-65535 - - 0 1, drop);
pings :: ICMPPingRewriter(pattern $PUBLIC 1024-65535 - - 0 1, drop);
errors_in :: ICMPRewriter(rw pings, CHECKSUM true);
to[2] -> [0]rw;
to[3] -> [0]pings;
// Errors about what came in by a translation leave as the public address.
to[4] -> errors_out :: ICMPRewriter(rw pings, CHECKSUM true, TRANSLATE_SRC true);
to[5] -> Discard;
// Hosts behind one address may have given their packets the same identifications.
to[0], rw[0], pings[0], errors_out -> size :: IPFragmenter($MTU, NEW_ID true) -> routes :: IPLookup(
  10.0.0.0/24 0, 10.0.1.0/24 1, 10.0.2.0/24 2, 10.0.3.0/24 3, 192.0.2.1/32 0, 192.0.2.2/32 1, 192.0.2.3/32 2, 192.0.2.4/32 3);
// Who sends what is too long and must not be cut hears of it, also if it is translated by now.
size[1] -> ICMPError(10.0.$NODE.1, unreachable, needfrag, PMTU $MTU) -> told :: IPClassifier(dst net 192.0.2.0/24, -);
told[0] -> errors_in;
told[1] -> GetIPAddress(16) -> arp;
routes[0] -> VLBEncap(0) -> vlb;
routes[1] -> VLBEncap(1) -> vlb;
routes[2] -> VLBEncap(2) -> vlb;
routes[3] -> VLBEncap(3) -> vlb;

// IPv6 is forwarded as it is, from possible senders only.
kind[4] -> DropBroadcasts -> Strip(14)
  -> CheckIP6Header(:: ::1 port:ip6)
  -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
  -> hops :: DecIP6HLIM -> GetIP6Address(24)
  -> routes6 :: IP6Lookup(2001:db8:0::/64 0, 2001:db8:1::/64 1, 2001:db8:2::/64 2, 2001:db8:3::/64 3);
hops[1] -> ICMP6Error(2001:db8:$NODE::1, 3, 0) -> GetIP6Address(24) -> nd;
routes6[0] -> VLBEncap(0) -> vlb;
routes6[1] -> VLBEncap(1) -> vlb;
routes6[2] -> VLBEncap(2) -> vlb;
routes6[3] -> VLBEncap(3) -> vlb;

// What leaves the cluster here: messages, replies to translated addresses, packets for hosts.
vlb -> leaving :: Classifier(12/88b6, 12/0800, 12/86dd);
leaving[0] -> state;
leaving[2] -> VLBDecap -> GetIP6Address(24) -> nd;
leaving[1] -> VLBDecap -> MarkIPHeader
  -> back :: IPClassifier(not dst net 192.0.2.0/24, ip frag, tcp or udp, icmp type echo-reply, icmp, -);
back[1] -> IPReassembler -> StoreData(6, \<00>, \<40>) -> SetIPChecksum -> back;
back[2] -> [1]rw;
back[3] -> [1]pings;
back[4] -> errors_in;
back[5] -> Discard;
back[0], rw[1], pings[1], errors_in -> IPFragmenter($MTU, NEW_ID true) -> GetIPAddress(16) -> arp;

// The links.
elementclass Link { $device |
  FromDevice($device, METHOD $METHOD, PROMISC true, SNIFFER false) -> output;
  input -> ToDevice($device, METHOD $METHOD);
}
l1 :: Link($IF1) -> [1]vlb[1] -> l1;
l2 :: Link($IF2) -> [2]vlb[2] -> l2;
l3 :: Link($IF3) -> [3]vlb[3] -> l3;
