// An IPv4 and IPv6 router with four interfaces.
//
// The interfaces are in memory: they receive traffic that the program makes and count what is sent. On a machine with
// network cards only FromMemory and ToMemory have to be replaced. `clique demo` runs this configuration, fills both
// route tables with the full Internet table, and changes routes while it forwards.
//
// Each interface has a receive queue for every worker, so all cores forward, each its own packets from end to end.

// What arrives at an interface: output 0 has checked IPv4 packets, output 1 checked IPv6 packets.
elementclass Receive { $device, $colour |
  FromMemory($device)
    -> Paint($colour)
    -> class :: Classifier(12/0800, 12/86dd, -);
  // From possible senders only (RFC 1812, section 5.3.7; RFC 4291, section 2.5).
  class[0] -> Strip(14) -> CheckIPHeader(INTERFACES $IPV4_INTERFACES, BADSRC $IPV4_ADDRESSES)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> [0]output;
  class[1] -> Strip(14) -> CheckIP6Header(:: ::1 $IPV6_ADDRESSES)
    -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
    -> GetIP6Address(24) -> [1]output;
  class[2] -> Discard;
}

// What leaves through an interface: IPv4 packets at input 0, IPv6 packets at input 1. Output 0 has the ICMP errors that
// forwarding caused, to be routed themselves; output 1 the ICMPv6 errors.
elementclass Send { $device, $colour, $address, $address6, $mac |
  out :: ToMemory($device);

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($address)
    -> FixIPSrc($address)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter(1500)
    -> EtherEncap(0x0800, $mac, 02:00:00:00:01:01)
    -> out;
  redirect[1] -> Discard; // the demonstration's neighbours do not listen to redirects
  options[1] -> ICMPError($address, parameterproblem) -> [0]output;
  ttl[1] -> ICMPError($address, timeexceeded) -> [0]output;
  fragment[1] -> ICMPError($address, unreachable, needfrag) -> [0]output;

  input[1]
    -> DropBroadcasts
    -> options6 :: IP6GWOptions
    -> hops :: DecIP6HLIM
    -> EtherEncap(0x86dd, $mac, 02:00:00:00:01:01)
    -> out;
  options6[1] -> ICMP6Error($address6, 4, 2) -> [1]output;
  hops[1] -> ICMP6Error($address6, 3, 0) -> [1]output;
}

define($IPV4_INTERFACES 198.18.0.1/24 198.18.1.1/24 198.18.2.1/24 198.18.3.1/24,
  $IPV4_ADDRESSES 198.18.0.1 198.18.1.1 198.18.2.1 198.18.3.1,
  $IPV6_ADDRESSES 2001:2::1 2001:2::2 2001:2::3 2001:2::4);

// The hosts that send the traffic are behind eth0; all other routes are loaded through the handlers.
routes4 :: IPLookup(198.18.0.0/15 0);
routes6 :: IP6Lookup(2001:2::/48 0);

in0 :: Receive(eth0, 1); in0[0] -> routes4; in0[1] -> routes6;
in1 :: Receive(eth1, 2); in1[0] -> routes4; in1[1] -> routes6;
in2 :: Receive(eth2, 3); in2[0] -> routes4; in2[1] -> routes6;
in3 :: Receive(eth3, 4); in3[0] -> routes4; in3[1] -> routes6;

out0 :: Send(eth0, 1, 198.18.0.1, 2001:2::1, 02:00:00:00:00:10);
out1 :: Send(eth1, 2, 198.18.1.1, 2001:2::2, 02:00:00:00:00:11);
out2 :: Send(eth2, 3, 198.18.2.1, 2001:2::3, 02:00:00:00:00:12);
out3 :: Send(eth3, 4, 198.18.3.1, 2001:2::4, 02:00:00:00:00:13);

routes4[0] -> out0; routes4[1] -> out1; routes4[2] -> out2; routes4[3] -> out3;
routes6[0] -> [1]out0; routes6[1] -> [1]out1; routes6[2] -> [1]out2; routes6[3] -> [1]out3;

// Errors go the way of all packets. An error about an error is never sent, so this cannot go on for ever.
out0[0] -> routes4; out1[0] -> routes4; out2[0] -> routes4; out3[0] -> routes4;
out0[1] -> routes6; out1[1] -> routes6; out2[1] -> routes6; out3[1] -> routes6;
