// A router whose routes come from FRR, on Linux.
//
//   zebra -M dplane_fpm_nl -K 60 ...   with  fpm address 127.0.0.1  in its configuration, and any of FRR's daemons
//   clique run -u /run/clique.socket conf/frr-router.click IF0=eth0 ADDR0=10.0.1.1 IF1=eth1 ADDR1=10.0.2.1
//
// The interfaces have their addresses in the kernel, which answers ARP and what is for the machine itself, so that BGP, OSPF
// and ssh run as they always did; sysctl net.ipv4.ip_forward is 0, since Clique forwards. Zebra may be restarted: packets are
// forwarded meanwhile as it said last (-K: it does not withdraw what it left behind). What zebra told, in short:
//
//   clique ctl -u /run/clique.socket read fpm.stats

define($IF0 eth0, $ADDR0 10.0.1.1, $IF1 eth1, $ADDR1 10.0.2.1, $MTU 1500, $HOLD 120);

// Output 0 is this machine, whose kernel has got its packets already.
routes :: IPLookup($ADDR0 0, $ADDR1 0, 255.255.255.255/32 0, 224.0.0.0/4 0);
fpm :: FPMServer($IF0 1, $IF1 2, IPV4 routes, HOLD $HOLD, BLACKHOLE 3, UNREACHABLE 4, PROHIBIT 5);

// A port. Output: IP packets that arrived, their headers checked. Input: IP packets that leave, the next hop in their
// annotation; output 1 has the ICMP errors that forwarding them caused.
elementclass Port { $device, $address, $colour |
  to :: ToDevice($device);
  FromDevice($device)
    -> HostEtherFilter($device:eth, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($address, $device:eth) -> to;
  kind[0] -> [1]arp;
  kind[1] -> Paint($colour) -> Strip(14) -> CheckIPHeader -> [0]output;
  kind[2] -> Discard;

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($address)
    -> FixIPSrc($address)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter($MTU)
    -> arp;
  redirect[1] -> ICMPError($address, redirect, host) -> [1]output;
  options[1] -> ICMPError($address, parameterproblem) -> [1]output;
  ttl[1] -> ICMPError($address, timeexceeded) -> [1]output;
  fragment[1] -> ICMPError($address, unreachable, needfrag) -> [1]output;
}

p0 :: Port($IF0, $ADDR0, 1);
p1 :: Port($IF1, $ADDR1, 2);
p0 -> routes; p0[1] -> routes;
p1 -> routes; p1[1] -> routes;
routes[0] -> Discard;
routes[1] -> p0;
routes[2] -> p1;
routes[3] -> Discard;
routes[4] -> ICMPError($ADDR0, unreachable, host) -> routes;
routes[5] -> ICMPError($ADDR0, unreachable, 13) -> routes;
