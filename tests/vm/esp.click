// A gateway between a network on eth0 and an ESP tunnel over eth1, whose other end is Linux' own.
//
// OUTER: 0 for a tunnel over IPv4, 1 over IPv6. THERE, HERE: files with the keys of the two directions.
define($OUTER 0, $ESN false, $THERE there.key, $HERE here.key);
AddressInfo(near 10.0.1.1/24 2001:db8:1::1/64 eth0:eth, far 10.0.2.1/24 2001:db8:2::1/64 eth1:eth,
  peer 10.0.2.2 2001:db8:2::2);

// Outputs: IPv4 and IPv6 packets that arrived. Inputs: those that leave, the next hop in their annotation.
elementclass Side { $device, $port |
  to :: ToDevice($device);
  FromDevice($device) -> HostEtherFilter($port, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, 12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
  input[0] -> arp :: ARPQuerier($port:ip, $port:eth) -> to;
  input[1] -> nd :: IP6NDSolicitor($port:ip6, $port:eth) -> to;
  kind[0] -> ARPResponder($port:ip $port:eth) -> to;
  kind[1] -> [1]arp;
  kind[2] -> Strip(14) -> CheckIPHeader -> [0]output;
  kind[3] -> IP6NDAdvertiser($port:ip6 $port:eth) -> to;
  kind[4] -> [1]nd;
  kind[5] -> Strip(14) -> CheckIP6Header(::) -> [1]output;
  kind[6] -> Discard;
}
near :: Side(eth0, near);
far :: Side(eth1, far);

// Out through the tunnel: all that is not for this router.
near[0] -> mine :: IPClassifier(dst host near:ip, -) -> Discard;
near[1] -> mine6 :: IP6Classifier(dst host near:ip6 or dst net ff00::/8, -) -> Discard;
mine[1] -> DecIPTTL -> encap :: ESPEncap(0x1001, KEYFILE $THERE, ESN $ESN) -> outer :: Switch($OUTER);
mine6[1] -> DecIP6HLIM -> encap;
outer[0] -> IPEncap(esp, far:ip, peer:ip) -> IPFragmenter(1500) -> [0]far;
outer[1] -> IP6Encap(esp, far:ip6, peer:ip6) -> IP6Fragmenter(1500) -> [1]far;

// And in.
far[0] -> IPReassembler -> esp :: IPClassifier(ip proto esp and dst host far:ip, -)
  -> StripIPHeader -> decap :: ESPDecap(0x2002, KEYFILE $HERE, ESN $ESN) -> inner :: Classifier(0/4?, 0/6?);
far[1] -> IP6Reassembler -> esp6 :: IP6Classifier(ip6 proto esp and dst host far:ip6, -) -> StripIPHeader -> decap;
esp[1] -> Discard; esp6[1] -> Discard;
inner[0] -> CheckIPHeader -> GetIPAddress(16) -> DecIPTTL -> IPFragmenter(1500) -> [0]near;
inner[1] -> CheckIP6Header -> GetIP6Address(24) -> DecIP6HLIM -> [1]near;
