// A router between two networks on Linux.
//
//   network ── IF0 [    ] IF1 ── network
//        NET0, SIX0      NET1, SIX1
//
//   clique run -u /run/clique.sock conf/linux-router.click IF0=eth0 NET0=10.0.1.1/24 SIX0=2001:db8:1::1/64 IF1=eth1 NET1=10.0.2.1/24 SIX1=2001:db8:2::1/64
//
// NET0 and SIX0 are this router's IPv4 and IPv6 address on the first interface and the networks around them, NET1 and SIX1
// those on the second. The kernel should have no IP address on either interface, so that only Clique answers there. Further
// routes can be added while it runs, for instance with
// `clique ctl -u /run/clique.sock write routes.add "10.9.0.0/16 10.0.2.2 2"` (output 1 leads to NET0, output 2 to NET1; to gateways with
// IPv6 addresses, outputs 5 and 6).
//
// Senders of packets that have no route, are too large, or have used up their TTL get ICMP errors, at most ERRORS a second for each
// reason, port and worker.
//
// METHOD=XDP bypasses the kernel's stack; the kernel then sees nothing of what arrives.
//
// Each worker has a receive queue and a socket of its own on each interface, so that a packet is handled by one worker
// from end to end; while nothing arrives all workers sleep.

define($IF0 eth0, $NET0 10.0.1.1/24, $SIX0 2001:db8:1::1/64,
  $IF1 eth1, $NET1 10.0.2.1/24, $SIX1 2001:db8:2::1/64,
  $MTU 1500, $METHOD LINUX, $ERRORS 1000);

AddressInfo(port0 $NET0 $SIX0 $IF0:eth, port1 $NET1 $SIX1 $IF1:eth);

// A port. Outputs: IPv4 and IPv6 packets that arrived, their headers checked, and from possible senders (RFC 1812, section 5.3.7), and
// ICMP errors that forwarding caused.
// Inputs: IPv4 and IPv6 packets that leave, the next hop in their annotation; at the third, IPv4 packets to IPv6 gateways (RFC 8950), whom
// neighbour discovery finds.
elementclass Port { $device, $port, $colour |
  to :: ToDevice($device, METHOD $METHOD);
  FromDevice($device, METHOD $METHOD)
    -> HostEtherFilter($port, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800,
                          12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
  // A neighbour that does not answer three times, a second apart, is unreachable.
  arp :: ARPQuerier($port:ip, $port:eth, PROBES 3, INTERFACE $device);
  arp[0] -> to;
  arp[1] -> to;
  arp[2] -> no_host :: ICMPError($port:ip, unreachable, host, RATE $ERRORS) -> [0]output;
  // Who asks for this router is about to be answered: its address is learned.
  kind[0] -> asked :: Tee -> ARPResponder($port:ip $port:eth) -> to;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  kind[2]
    -> Paint($colour)
    -> Strip(14)
    -> CheckIPHeader(BADSRC port0:ip port0:bcast port1:ip port1:bcast 0.0.0.0 255.255.255.255)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> [0]output;
  nd :: IP6NDSolicitor($port:ip6, $port:eth, INTERFACE $device);
  nd[0] -> to;
  nd[1] -> to;
  nd[2] -> unanswered :: Classifier(0/60%f0, -) -> ICMP6Error($port:ip6, 1, 3, RATE $ERRORS) -> [1]output;
  kind[3] -> solicited :: Tee -> IP6NDAdvertiser($port:ip6 $port:eth) -> to;
  solicited[1] -> [1]nd;
  kind[4] -> [1]nd;
  // A host without a wider address is answered, but not forwarded for (RFC 4291, section 2.5.6), and told why (RFC 4443, section 3.1).
  kind[5] -> DropBroadcasts -> Strip(14)
    -> CheckIP6Header(:: ::1 port0:ip6 port1:ip6)
    -> GetIP6Address(24)
    -> scope :: IP6Classifier(src net ff00::/8, not src net fe80::/10 or dst host port0:ip6 or dst host port1:ip6, -);
  scope[0] -> Discard;
  scope[1] -> [1]output;
  scope[2] -> ICMP6Error($port:ip6, 1, 2, RATE $ERRORS) -> nd;
  kind[6] -> Discard;

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($port:ip)
    -> FixIPSrc($port:ip)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter($MTU)
    -> arp;
  redirect[1] -> ICMPError($port:ip, redirect, host, RATE $ERRORS, LINK $port:ipnet, DEVICE $device) -> [0]output;
  options[1] -> wrong :: ICMPError($port:ip, parameterproblem, RATE $ERRORS) -> [0]output;
  ttl[1] -> old :: ICMPError($port:ip, timeexceeded, RATE $ERRORS) -> [0]output;
  fragment[1] -> large :: ICMPError($port:ip, unreachable, needfrag, PMTU $MTU, RATE $ERRORS) -> [0]output;

  input[1] -> FixIP6Src($port:ip6) -> options6 :: IP6GWOptions -> hops :: DecIP6HLIM -> size :: IP6Fragmenter($MTU) -> nd;
  options6[1] -> ICMP6Error($port:ip6, 4, 2, RATE $ERRORS) -> [1]output;
  hops[1] -> ICMP6Error($port:ip6, 3, 0, RATE $ERRORS) -> [1]output;
  size[1] -> ICMP6Error($port:ip6, 2, 0, PMTU $MTU, RATE $ERRORS) -> [1]output;

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
  unanswered[1] -> no_host;
}

// Output 0 is this host; to output 3 goes what has no route, and to output 4 what no router forwards, nor says so.
routes :: IPLookup(port0:ip 0, port1:ip 0, port0:ipnet 1, port1:ipnet 2, NOROUTE 3,
  0.0.0.0/8 4, 127.0.0.0/8 4, 224.0.0.0/4 4, 255.255.255.255/32 4, port0:bcast 4, port1:bcast 4);
routes6 :: IP6Lookup(port0:ip6 0, port1:ip6 0, port0:ip6net 1, port1:ip6net 2, NOROUTE 3, ::1 4, fe80::/10 4, ff00::/8 4);

p0 :: Port($IF0, port0, 1);
p1 :: Port($IF1, port1, 2);
p0[0] -> routes; p0[1] -> routes6;
p1[0] -> routes; p1[1] -> routes6;
routes[1] -> p0; routes6[1] -> [1]p0;
routes[2] -> p1; routes6[2] -> [1]p1;
routes[5] -> [2]p0; routes[6] -> [2]p1;
routes[4] -> Discard; routes6[4] -> Discard;
routes[3] -> ICMPError(port0:ip, unreachable, net, RATE $ERRORS) -> routes;
routes6[3] -> ICMP6Error(port0:ip6, 1, 0, RATE $ERRORS) -> routes6;

// This host puts fragments together that are for it, answers pings, and tells who tries anything else.
routes[0] -> parts :: IPReassembler -> host :: IPClassifier(icmp type echo, udp or tcp, -);
parts[1] -> ICMPError(port0:ip, timeexceeded, reassembly, RATE $ERRORS) -> routes;
host[0] -> ICMPPingResponder -> routes;
host[1] -> ICMPError(port0:ip, unreachable, port, RATE $ERRORS) -> routes;
host[2] -> Discard;
// What it answers may have to be in fragments again, which in IPv6 only the sender makes.
routes6[0] -> options6 :: IP6GWOptions -> parts6 :: IP6Reassembler -> pings6 :: ICMP6PingResponder -> IP6Fragmenter($MTU) -> routes6;
options6[1] -> ICMP6Error(port0:ip6, 4, 2, RATE $ERRORS) -> routes6;
parts6[1] -> ICMP6Error(port0:ip6, 3, 1, RATE $ERRORS) -> routes6;
parts6[2] -> ICMP6Error(port0:ip6, 4, 0, RATE $ERRORS) -> routes6;
pings6[1] -> host6 :: Classifier(6/06, 6/11, -);
host6[0] -> closed :: ICMP6Error(port0:ip6, 1, 4, RATE $ERRORS) -> routes6; host6[1] -> closed;
host6[2] -> Discard;
