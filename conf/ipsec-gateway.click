// An IPsec gateway between a site and the outside, whose tunnels an IKE daemon on this machine makes: strongSwan, libreswan, or 'ip xfrm' by hand.
// docs/src/ipsec.md has both ends, from nothing to a ping.
//
//   site ── IN [    ] OUT ── ROUTER, ROUTER6 ── ... ── other gateways
//   SITE, SITE6     OUTSIDE, OUTSIDE6
//
//   clique run -u /run/clique.sock conf/ipsec-gateway.click IN=eth0 SITE=10.0.1.1/24 SITE6=2001:db8:1::1/64 \
//     OUT=eth1 OUTSIDE=192.0.2.1/24 OUTSIDE6=2001:db8:f::1/64 ROUTER=192.0.2.254 ROUTER6=2001:db8:f::fe
//   clique ctl -u /run/clique.sock read ipsec.associations
//
// SITE and SITE6 are this gateway's addresses on the site's interface and the networks around them, OUTSIDE and OUTSIDE6 those outside, ROUTER and ROUTER6
// the next hops to everywhere else. The kernel has none of these addresses on the interfaces, so that only Clique answers there. It has
// OUTSIDE's on an interface of its own, 'ike0', by which the daemon sends and receives IKE, and must take no packet from the real one:
//
//   sysctl -w net.ipv4.conf.eth1.rp_filter=1 net.ipv6.conf.eth1.disable_ipv6=1
//
// (Kernels from 6.6 on can be kept from receiving at all: SNIFFER=false.) Associations and policies come from the kernel, whose daemon hears of it what it needs for
// renewing keys. What no policy is for passes in the clear if DEFAULT is 'bypass', and is dropped otherwise.
define($IN eth0, $SITE 10.0.1.1/24, $SITE6 2001:db8:1::1/64, $OUT eth1, $OUTSIDE 192.0.2.1/24, $OUTSIDE6 2001:db8:f::1/64,
  $ROUTER 192.0.2.254, $ROUTER6 2001:db8:f::fe, $MTU 1500, $DEFAULT discard, $SNIFFER true, $ERRORS 1000);

AddressInfo(site $SITE $SITE6 $IN:eth, outside $OUTSIDE $OUTSIDE6 $OUT:eth);

// A port. Outputs: IPv4 and IPv6 packets that arrived, their headers checked, and ICMP errors that sending caused. Inputs: those that leave, the next
// hop in their annotation.
elementclass Port { $device, $port |
  to :: ToDevice($device);
  FromDevice($device, SNIFFER $SNIFFER) -> HostEtherFilter($port, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, 12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
  arp :: ARPQuerier($port:ip, $port:eth) -> to;
  nd :: IP6NDSolicitor($port:ip6, $port:eth) -> to;
  kind[0] -> asked :: Tee -> ARPResponder($port:ip $port:eth) -> to; asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  kind[2] -> Strip(14) -> CheckIPHeader(BADSRC site:ip outside:ip 0.0.0.0 255.255.255.255) -> GetIPAddress(16) -> [0]output;
  kind[3] -> solicited :: Tee -> IP6NDAdvertiser($port:ip6 $port:eth) -> to; solicited[1] -> [1]nd;
  kind[4] -> [1]nd;
  kind[5] -> Strip(14) -> CheckIP6Header(:: ::1 site:ip6 outside:ip6) -> GetIP6Address(24) -> [1]output;
  kind[6] -> Discard;
  input[0] -> fragment :: IPFragmenter($MTU) -> arp;
  fragment[1] -> ICMPError($port:ip, unreachable, needfrag, PMTU $MTU, RATE $ERRORS) -> [0]output;
  input[1] -> fragment6 :: IP6Fragmenter($MTU) -> nd;
  fragment6[1] -> ICMP6Error($port:ip6, 2, 0, PMTU $MTU, RATE $ERRORS) -> [1]output;
}
near :: Port($IN, site);
far :: Port($OUT, outside);

ipsec :: IPsec(DEFAULT $DEFAULT, MTU $MTU);
kernel :: KernelIPsec(ipsec);

// From the site: what is for this gateway itself, and what goes out.
near[0] -> inner :: IPClassifier(dst host site:ip, dst net 224.0.0.0/4 or dst host 255.255.255.255, -);
inner[0] -> IPReassembler -> asked_inside :: IPClassifier(icmp type echo, -) -> ICMPPingResponder -> back :: IPLookup(site:ipnet 0, NOROUTE 1);
asked_inside[1], inner[1] -> Discard;
inner[2] -> ttl :: DecIPTTL -> [0]ipsec;
ttl[1] -> ICMPError(site:ip, timeexceeded, RATE $ERRORS) -> back;
near[1] -> inner6 :: IP6Classifier(dst host site:ip6 or dst net ff00::/8 or dst net fe80::/10, -);
inner6[0] -> IP6Reassembler -> ICMP6PingResponder -> IP6Fragmenter($MTU) -> back6 :: IP6Lookup(site:ip6net 0, NOROUTE 1);
inner6[1] -> hops :: DecIP6HLIM -> [0]ipsec;
hops[1] -> ICMP6Error(site:ip6, 3, 0, RATE $ERRORS) -> back6;

// To the outside: ESP, and what passes in the clear; and what the daemon sends.
ipsec[0] -> leaving :: Classifier(0/4?, 0/6?);
leaving[0] -> out :: IPLookup(outside:ipnet 0, 0.0.0.0/0 $ROUTER 0) -> [0]far;
// In IPv6 only the sender of a packet cuts it: of ESP that is this gateway.
leaving[1] -> ours6 :: IP6Classifier(src host outside:ip6, -);
ours6[0] -> IP6Fragmenter($MTU) -> out6 :: IP6Lookup(outside:ip6net 0, ::/0 $ROUTER6 0) -> [1]far;
ours6[1] -> out6;
ike :: KernelTun($OUTSIDE, DEVNAME ike0) -> sent :: Classifier(0/4?, 0/6?);
sent[0] -> out; sent[1] -> out6;

// From the outside. Whole packets are needed of what is ESP, or may be, and of pings.
far[0] -> outer :: IPClassifier(dst host outside:ip, -);
outer[0] -> IPReassembler -> whole :: IPClassifier(icmp type echo, -);
whole[0] -> ICMPPingResponder -> out;
whole[1], outer[1] -> [1]ipsec;
far[1] -> outer6 :: IP6Classifier(dst host outside:ip6 or dst net ff00::/8 or dst net fe80::/10, -);
outer6[0] -> IP6Reassembler -> pings6 :: ICMP6PingResponder -> IP6Fragmenter($MTU) -> out6;
pings6[1] -> [1]ipsec;
outer6[1] -> [1]ipsec;

// To the site.
ipsec[1] -> entering :: Classifier(0/4?, 0/6?);
entering[0] -> CheckIPHeader -> GetIPAddress(16) -> own :: IPClassifier(dst host site:ip, -);
own[0] -> IPReassembler -> asked_by_peer :: IPClassifier(icmp type echo, -) -> ICMPPingResponder -> [0]ipsec;
asked_by_peer[1] -> Discard;
own[1] -> ttl_in :: DecIPTTL -> back;
ttl_in[1] -> ICMPError(site:ip, timeexceeded, RATE $ERRORS) -> [0]ipsec;
entering[1] -> CheckIP6Header -> GetIP6Address(24) -> own6 :: IP6Classifier(dst host site:ip6, -);
// In IPv6 only the sender of a packet cuts it: of an answer that is this gateway, and 1280 bytes fit into every tunnel.
own6[0] -> IP6Reassembler -> ICMP6PingResponder -> IP6Fragmenter(1280) -> [0]ipsec;
own6[1] -> hops_in :: DecIP6HLIM -> back6;
hops_in[1] -> ICMP6Error(site:ip6, 3, 0, RATE $ERRORS) -> [0]ipsec;
back[0] -> [0]near; back6[0] -> [1]near;
back[1] -> ICMPError(site:ip, unreachable, net, RATE $ERRORS) -> [0]ipsec;
back6[1] -> ICMP6Error(site:ip6, 1, 0, RATE $ERRORS) -> [0]ipsec;

// IKE is the daemon's affair.
ipsec[2] -> asked :: Classifier(0/4?, 0/6?);
asked[0] -> CheckIPHeader -> ike; asked[1] -> CheckIP6Header -> ike;
