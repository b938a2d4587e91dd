// A router whose routes come from FRR, on Linux.
//
//   networks ── IF0 [    ] IF1 ── networks
//         NET0, SIX0      NET1, SIX1
//
//   zebra -M dplane_fpm_nl -K 60 ...   with  fpm address 127.0.0.1  in its configuration, and any of FRR's daemons
//   clique run -u /run/clique.sock conf/frr-router.click IF0=eth0 NET0=10.0.1.1/24 SIX0=2001:db8:1::1/64 \
//                                                        IF1=eth1 NET1=10.0.2.1/24 SIX1=2001:db8:2::1/64
//
// The interfaces keep their addresses in the kernel, which answers ARP, neighbour discovery and whatever is addressed to the machine itself,
// so that BGP, OSPF and ssh work as always. Set sysctl net.ipv4.ip_forward and net.ipv6.conf.all.forwarding to 0, since Clique forwards.
// Zebra may be restarted: meanwhile packets are forwarded by its last routes (-K keeps it from withdrawing what it left behind).
// A summary of what zebra has sent:
//
//   clique ctl -u /run/clique.sock read fpm.stats
//
// Senders of packets that cannot be forwarded get ICMP errors, at most ERRORS a second for each reason, port and worker.
//
// The kernel receives only what is meant for it (HOST). With SNIFFER=true, on kernels before 6.6, it receives everything and drops the rest,
// but it also answers IPv6 packets without a route, for a second time.

define($IF0 eth0, $NET0 10.0.1.1/24, $SIX0 2001:db8:1::1/64, $IF1 eth1, $NET1 10.0.2.1/24, $SIX1 2001:db8:2::1/64,
  $MTU 1500, $HOLD 120, $SNIFFER false, $ERRORS 1000);

AddressInfo(port0 $NET0 $SIX0 $IF0:eth, port1 $NET1 $SIX1 $IF1:eth);

// Output 0 is this machine, whose kernel has received its packets already. Its other addresses come from the kernel.
routes :: IPLookup(port0:ip 0, port1:ip 0, 0.0.0.0/8 0, 127.0.0.0/8 0, 224.0.0.0/4 0, 255.255.255.255/32 0,
  NOROUTE 6);
routes6 :: IP6Lookup(port0:ip6 0, port1:ip6 0, ::1 0, fe80::/10 0, ff00::/8 0, NOROUTE 6);
fpm :: FPMServer($IF0 1 7, $IF1 2 8, IPV4 routes, IPV6 routes6, HOLD $HOLD, BLACKHOLE 3, UNREACHABLE 4, PROHIBIT 5);
addresses :: KernelRoutes(IPV4 routes, IPV6 routes6, TABLE 255, LOCAL 0);
// Those whom the kernel knows need not be asked again, and those that an administrator has entered are never asked.
neighbours :: KernelNeighbours($IF0 p0/arp p0/nd, $IF1 p1/arp p1/nd);

// A port. Outputs: IPv4 and IPv6 packets that arrived, their headers checked, and from possible senders (RFC 1812, section 5.3.7).
// Inputs: IPv4 and IPv6 packets that leave, the next hop in their annotation; at the third, IPv4 packets to IPv6 gateways ("unnumbered"
// BGP, RFC 8950), whom neighbour discovery finds. Outputs 2 and 3 have the ICMP errors that forwarding them caused.
elementclass Port { $device, $port, $colour |
  to :: ToDevice($device);
  FromDevice($device, SNIFFER $SNIFFER,
      HOST arp port0:ip port1:ip 255.255.255.255 224.0.0.0/4 port0:ip6 port1:ip6 fe80::/10 ff00::/8)
    -> HostEtherFilter($port:eth, DROP_OTHER true)
    -> kind :: Classifier(12/0806, 12/0800, 12/86dd 20/3aff 54/88, 12/86dd 20/3aff 54/87, 12/86dd, -);
  arp :: ARPQuerier($port:ip, $port:eth) -> to;
  kind[0] -> [1]arp;
  kind[1] -> Paint($colour) -> Strip(14)
    -> CheckIPHeader(BADSRC port0:ip port0:bcast port1:ip port1:bcast 0.0.0.0 255.255.255.255)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> [0]output;
  nd :: IP6NDSolicitor($port:ip6, $port:eth) -> to;
  kind[2] -> [1]nd;
  kind[3] -> [1]nd; // who asks for this machine, of the kernel, is a neighbour, too; so ARP requests
  kind[4] -> Paint($colour) -> Strip(14)
    -> CheckIP6Header(:: ::1 port0:ip6 port1:ip6)
    -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
    -> GetIP6Address(24)
    -> [1]output;
  kind[5] -> Discard;

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($port:ip)
    -> FixIPSrc($port:ip)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter($MTU)
    -> arp;
  redirect[1] -> ICMPError($port:ip, redirect, host, RATE $ERRORS, LINK $port:ipnet, DEVICE $device) -> [2]output;
  options[1] -> wrong :: ICMPError($port:ip, parameterproblem, RATE $ERRORS) -> [2]output;
  ttl[1] -> old :: ICMPError($port:ip, timeexceeded, RATE $ERRORS) -> [2]output;
  fragment[1] -> large :: ICMPError($port:ip, unreachable, needfrag, PMTU $MTU, RATE $ERRORS) -> [2]output;

  input[1] -> DropBroadcasts -> FixIP6Src($port:ip6) -> options6 :: IP6GWOptions
    -> hops :: DecIP6HLIM -> size :: IP6Fragmenter($MTU) -> nd;
  options6[1] -> ICMP6Error($port:ip6, 4, 2, RATE $ERRORS) -> [3]output;
  hops[1] -> ICMP6Error($port:ip6, 3, 0, RATE $ERRORS) -> [3]output;
  size[1] -> ICMP6Error($port:ip6, 2, 0, PMTU $MTU, RATE $ERRORS) -> [3]output;

  // No redirect could name such a gateway.
  input[2]
    -> DropBroadcasts
    -> options_across :: IPGWOptions($port:ip)
    -> FixIPSrc($port:ip)
    -> ttl_across :: DecIPTTL
    -> fragment_across :: IPFragmenter($MTU)
    -> nd;
  options_across[1] -> wrong;
  ttl_across[1] -> old;
  fragment_across[1] -> large;
}

p0 :: Port($IF0, port0, 1);
p1 :: Port($IF1, port1, 2);
p0[0] -> routes; p0[1] -> routes6; p0[2] -> routes; p0[3] -> routes6;
p1[0] -> routes; p1[1] -> routes6; p1[2] -> routes; p1[3] -> routes6;
routes[0] -> Discard; routes6[0] -> Discard;
routes[1] -> p0; routes6[1] -> [1]p0;
routes[2] -> p1; routes6[2] -> [1]p1;
routes[7] -> [2]p0; routes[8] -> [2]p1;

// Routes of types that lead nowhere: blackhole; unreachable, prohibit; and none at all. The errors are those that Linux sends.
routes[3] -> Discard; routes6[3] -> Discard;
routes[4] -> ICMPError(port0:ip, unreachable, host, RATE $ERRORS) -> routes;
routes[5] -> ICMPError(port0:ip, unreachable, filterprohibited, RATE $ERRORS) -> routes;
routes[6] -> ICMPError(port0:ip, unreachable, net, RATE $ERRORS) -> routes;
no_route6 :: ICMP6Error(port0:ip6, 1, 0, RATE $ERRORS) -> routes6;
routes6[4] -> no_route6; routes6[6] -> no_route6;
routes6[5] -> ICMP6Error(port0:ip6, 1, 1, RATE $ERRORS) -> routes6;
