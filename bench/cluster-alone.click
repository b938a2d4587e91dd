// A router that is no part of a cluster, between the hosts 0 and 2 of bench/cluster-roles.sh: what conf/cluster-node.click does without
// links.

define($A 0, $AIF ext, $B 2, $BIF other);

elementclass Port { $node, $device |
  AddressInfo(port 10.0.$node.1 $device:eth);
  out :: ToDevice($device);
  FromDevice($device) -> HostEtherFilter(port, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier(port:ip, port:eth) -> out;
  kind[0] -> ARPResponder(port:ip port:eth) -> out;
  kind[1] -> [1]arp;
  kind[3] -> Discard;
  kind[2] -> Strip(14) -> CheckIPHeader -> output;
  input -> GetIPAddress(16) -> arp;
}
a :: Port($A, $AIF);
b :: Port($B, $BIF);
routes :: IPLookup(10.0.$A.0/24 0, 10.0.$B.0/24 1);
a -> routes;
b -> routes;
routes[0] -> ttl_a :: DecIPTTL -> a;
routes[1] -> ttl_b :: DecIPTTL -> passed :: Counter -> b;
ttl_a[1], ttl_b[1] -> Discard;
