// A router whose routes come from FRR, on Linux.
//
//   zebra -M dplane_fpm_nl -K 60 ...   with  fpm address 127.0.0.1  in its configuration, and any of FRR's daemons
//   clique run -u /run/clique.socket conf/frr-router.click IF0=eth0 ADDR0=10.0.1.1 SIX0=2001:db8:1::1 IF1=eth1 ADDR1=10.0.2.1 SIX1=2001:db8:2::1
//
// The interfaces have their addresses in the kernel, which answers ARP, neighbour discovery and what is for the machine itself, so that
// BGP, OSPF and ssh run as they always did; sysctl net.ipv4.ip_forward and net.ipv6.conf.all.forwarding are 0, since Clique forwards.
// Zebra may be restarted: packets are forwarded meanwhile as it said last (-K: it does not withdraw what it left behind).
// What zebra told, in short:
//
//   clique ctl -u /run/clique.socket read fpm.stats
//
// The kernel is left what is for it (HOST), and receives nothing else; with SNIFFER=true, on kernels before 6.6, it receives everything and
// drops it again, but answers IPv6 packets without a route once more.

define($IF0 eth0, $ADDR0 10.0.1.1, $SIX0 2001:db8:1::1, $IF1 eth1, $ADDR1 10.0.2.1, $SIX1 2001:db8:2::1,
  $MTU 1500, $HOLD 120, $SNIFFER false);

// Output 0 is this machine, whose kernel has got its packets already.
routes :: IPLookup($ADDR0 0, $ADDR1 0, 255.255.255.255/32 0, 224.0.0.0/4 0);
routes6 :: IP6Lookup($SIX0 0, $SIX1 0, fe80::/10 0, ff00::/8 0);
fpm :: FPMServer($IF0 1, $IF1 2, IPV4 routes, IPV6 routes6, HOLD $HOLD, BLACKHOLE 3, UNREACHABLE 4, PROHIBIT 5);

// A port. Outputs: IPv4 and IPv6 packets that arrived, their headers checked. Inputs: IPv4 and IPv6 packets that leave, the next
// hop in their annotation. Outputs 2 and 3 have the ICMP errors that forwarding them caused.
elementclass Port { $device, $address, $six, $colour |
  to :: ToDevice($device);
  FromDevice($device, SNIFFER $SNIFFER, HOST arp $ADDR0 $ADDR1 255.255.255.255 224.0.0.0/4 $SIX0 $SIX1 fe80::/10 ff00::/8)
    -> HostEtherFilter($device:eth, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0002, 12/0800, 12/86dd 20/3aff 54/88, 12/86dd, -);
  arp :: ARPQuerier($address, $device:eth) -> to;
  kind[0] -> [1]arp;
  kind[1] -> Paint($colour) -> Strip(14) -> CheckIPHeader -> [0]output;
  nd :: IP6NDSolicitor($six, $device:eth) -> to;
  kind[2] -> [1]nd;
  kind[3] -> Paint($colour) -> Strip(14) -> CheckIP6Header -> GetIP6Address(24) -> [1]output;
  kind[4] -> Discard;

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($address)
    -> FixIPSrc($address)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter($MTU)
    -> arp;
  redirect[1] -> ICMPError($address, redirect, host) -> [2]output;
  options[1] -> ICMPError($address, parameterproblem) -> [2]output;
  ttl[1] -> ICMPError($address, timeexceeded) -> [2]output;
  fragment[1] -> ICMPError($address, unreachable, needfrag, PMTU $MTU) -> [2]output;

  input[1] -> DropBroadcasts -> hops :: DecIP6HLIM -> size :: IP6Fragmenter($MTU) -> nd;
  hops[1] -> ICMP6Error($six, 3, 0) -> [3]output;
  size[1] -> ICMP6Error($six, 2, 0) -> [3]output;
}

p0 :: Port($IF0, $ADDR0, $SIX0, 1);
p1 :: Port($IF1, $ADDR1, $SIX1, 2);
p0[0] -> routes; p0[1] -> routes6; p0[2] -> routes; p0[3] -> routes6;
p1[0] -> routes; p1[1] -> routes6; p1[2] -> routes; p1[3] -> routes6;
routes[0] -> Discard; routes6[0] -> Discard;
routes[1] -> p0; routes6[1] -> [1]p0;
routes[2] -> p1; routes6[2] -> [1]p1;
routes[3] -> Discard; routes6[3] -> Discard;
routes[4] -> ICMPError($ADDR0, unreachable, host) -> routes;
routes6[4] -> ICMP6Error($SIX0, 1, 3) -> routes6;
routes[5] -> ICMPError($ADDR0, unreachable, filterprohibited) -> routes;
routes6[5] -> ICMP6Error($SIX0, 1, 1) -> routes6;
