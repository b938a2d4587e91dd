// A router that is no part of a cluster: between two external ports what conf/cluster-node.click does to IPv4 packets, without labels and
// links.

elementclass Port { $node, $device |
  AddressInfo(port 10.0.$node.1 2:0:0:2:$node:0);
  out :: ToCable($device);
  FromCable($device)
    -> HostEtherFilter(port, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800,
                          12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
  arp :: ARPQuerier(port:ip, port:eth) -> out;
  kind[0] -> asked :: Tee -> ARPResponder(port:ip port:eth) -> out;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  kind[3], kind[4], kind[5], kind[6] -> Discard;
  kind[2] -> Strip(14)
    -> CheckIPHeader(BADSRC port:ip 10.0.$node.255 0.0.0.0 255.255.255.255)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> output;
  input -> arp;
}
a :: Port(0, ext);
b :: Port(1, other);
routes :: IPLookup(10.0.0.0/24 0, 10.0.1.0/24 1, 10.0.2.0/24 2, 10.0.3.0/24 2, 10.0.0.1 2, 10.0.1.1 2);
a, b -> routes;
routes[0] -> ttl_a :: DecIPTTL -> a;
routes[1] -> ttl_b :: DecIPTTL -> b;
routes[2], ttl_a[1], ttl_b[1] -> Discard;
