// A router between VLANs that come by one cable, a trunk: each VLAN is a network of its own, and the router has a sub-interface in each.
//
//                                      ┌ VLAN0: NET0
//   switch ══ VLAN0, VLAN1 ══ IF [    ]┤
//                                      └ VLAN1: NET1
//
//   clique run -u /run/clique.sock conf/vlan-router.click IF=eth0 VLAN0=000a NET0=10.0.1.1/24 VLAN1=0014 NET1=10.0.2.1/24
//
// IF leads to the trunk; the kernel should have no address on it, nor VLAN devices. VLAN0 and VLAN1 are identifiers in four hexadecimal digits
// (printf %04x 10 says 000a), NET0 and NET1 this router's addresses in them and the networks around these. Frames without a tag, and those of other VLANs,
// end here. Further routes: clique ctl -u /run/clique.sock write routes.add "10.9.0.0/16 10.0.2.2 2" (output 1 leads to NET0, output 2 to NET1).
//
// Packets have up to MTU bytes; senders of others get ICMP errors, at most ERRORS a second for each reason, VLAN and worker. METHOD=XDP bypasses the
// kernel's stack. Machines whose kernel has VLAN devices (eth0.10) can use these with conf/linux-router.click instead.

define($IF eth0, $VLAN0 000a, $NET0 10.0.1.1/24, $VLAN1 0014, $NET1 10.0.2.1/24, $MTU 1500, $METHOD LINUX, $ERRORS 1000);

AddressInfo(port0 $NET0 $IF:eth, port1 $NET1 $IF:eth);

FromDevice($IF, METHOD $METHOD)
  -> HostEtherFilter(port0, DROP_OTHER true)
  -> tag :: Classifier(12/8100 14/$VLAN0%0fff, 12/8100 14/$VLAN1%0fff, -);
trunk :: ToDevice($IF, METHOD $METHOD);

// A sub-interface. Inputs: frames with its tag, and IP packets that leave, the next hop in their annotation. Outputs: IP packets that arrived, and ICMP errors
// that forwarding caused; frames with its tag.
elementclass Sub { $vlan, $port |
  to :: VLANEncap(VLAN_ID 0x$vlan) -> [1]output;
  arp :: ARPQuerier($port:ip, $port:eth) -> to;
  input[0] -> VLANDecap -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  // Who asks, or announces itself, says where it is.
  kind[0] -> asked :: Tee -> ARPResponder($port:ip $port:eth) -> to;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  // From possible senders (RFC 1812, section 5.3.7).
  kind[2] -> Strip(14)
    -> CheckIPHeader(BADSRC port0:ip port0:bcast port1:ip port1:bcast 0.0.0.0 255.255.255.255)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> [0]output;
  kind[3] -> Discard;

  input[1] -> DropBroadcasts -> FixIPSrc($port:ip) -> ttl :: DecIPTTL -> fragment :: IPFragmenter($MTU) -> arp;
  ttl[1] -> ICMPError($port:ip, timeexceeded, RATE $ERRORS) -> [0]output;
  fragment[1] -> ICMPError($port:ip, unreachable, needfrag, PMTU $MTU, RATE $ERRORS) -> [0]output;
}

// Output 0 is this router; to output 3 goes what has no route, and to output 4 what no router forwards.
routes :: IPLookup(port0:ip 0, port1:ip 0, port0:ipnet 1, port1:ipnet 2, NOROUTE 3,
  0.0.0.0/8 4, 127.0.0.0/8 4, 224.0.0.0/4 4, 255.255.255.255/32 4, port0:bcast 4, port1:bcast 4);

s0 :: Sub($VLAN0, port0);
s1 :: Sub($VLAN1, port1);
tag[0] -> s0 -> routes; s0[1] -> trunk;
tag[1] -> s1 -> routes; s1[1] -> trunk;
tag[2] -> other :: Counter -> Discard;
routes[1] -> [1]s0;
routes[2] -> [1]s1;
routes[3] -> ICMPError(port0:ip, unreachable, net, RATE $ERRORS) -> routes;
routes[4] -> Discard;

// This router puts fragments together that are for it, answers pings, and tells who tries anything else.
routes[0] -> IPReassembler -> host :: IPClassifier(icmp type echo, udp or tcp, -);
host[0] -> ICMPPingResponder -> routes;
host[1] -> ICMPError(port0:ip, unreachable, port, RATE $ERRORS) -> routes;
host[2] -> Discard;
