// One interface of a machine whose kernel keeps its addresses while Clique forwards: `clique run --from-host` puts one for
// each interface around the route tables that it mirrors from the kernel; `clique run --from-host -q -o -` prints all.
//
// $device: the interface. $ip, $ip6: its addresses, from which ICMP errors and requests for neighbours are sent. $nets: its networks,
// whose hosts are told of better gateways. $no_host, $no_host6: addresses that send nothing, such as this machine's and broadcasts.
// Outputs: IPv4 packets, IPv6 packets, which arrived or are ICMP errors of our own. Inputs: those that leave, the next hop
// in their annotation; at the third, IPv4 packets to IPv6 gateways (RFC 8950), whom neighbour discovery finds.
elementclass HostPort { $device, $ip, $ip6, $mtu, $colour, $nets, $no_host, $no_host6 |
  to :: ToDevice($device);
  FromDevice($device)
    -> HostEtherFilter($device:eth, DROP_OTHER true)
    -> kind :: Classifier(12/0806, 12/0800, 12/86dd 20/3aff 54/88, 12/86dd 20/3aff 54/87, 12/86dd, -);
  arp :: ARPQuerier($ip, $device:eth) -> to;
  kind[0] -> [1]arp;
  // From possible senders (RFC 1812, section 5.3.7): the kernel, which gets what is for this machine, looks at that by itself.
  kind[1] -> Paint($colour) -> Strip(14)
    -> CheckIPHeader(BADSRC $no_host)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> [0]output;
  nd :: IP6NDSolicitor($ip6, $device:eth) -> to;
  kind[2] -> [1]nd;
  kind[3] -> [1]nd; // who asks for this machine, of the kernel, is a neighbour, too; so ARP requests
  kind[4] -> DropBroadcasts -> Strip(14)
    -> CheckIP6Header($no_host6)
    -> IP6Filter(deny src net fe80::/10, deny src net ff00::/8, allow all)
    -> GetIP6Address(24)
    -> [1]output;
  kind[5] -> Discard;

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($ip)
    -> FixIPSrc($ip)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter($mtu)
    -> arp;
  redirect[1] -> ICMPError($ip, redirect, host, RATE 1000, LINK $nets, DEVICE $device) -> [0]output;
  options[1] -> Discard; // the kernel looks at options first, forwards or not, and tells who sent wrong ones
  ttl[1] -> old :: ICMPError($ip, timeexceeded, RATE 1000) -> [0]output;
  fragment[1] -> large :: ICMPError($ip, unreachable, needfrag, PMTU $mtu, RATE 1000) -> [0]output;

  // As with IPv4, the kernel tells who sent options that are not known.
  input[1] -> FixIP6Src($ip6) -> IP6GWOptions -> hops :: DecIP6HLIM -> size :: IP6Fragmenter($mtu) -> nd;
  hops[1] -> ICMP6Error($ip6, 3, 0) -> [1]output;
  size[1] -> ICMP6Error($ip6, 2, 0, PMTU $mtu) -> [1]output;

  // No redirect could name such a gateway.
  input[2]
    -> DropBroadcasts
    -> options_across :: IPGWOptions($ip)
    -> FixIPSrc($ip)
    -> ttl_across :: DecIPTTL
    -> fragment_across :: IPFragmenter($mtu)
    -> nd;
  options_across[1] -> Discard;
  ttl_across[1] -> old;
  fragment_across[1] -> large;
}
