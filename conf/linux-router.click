// A router between two networks on Linux.
//
//   clique run conf/linux-router.click IF0=eth0 NET0=10.0.1.1/24 IF1=eth1 NET1=10.0.2.1/24
//
// NET0 and NET1 are this router's addresses and the networks around them; the kernel should have no IP address on either
// interface, so that only Clique answers there. Further routes can be added while it runs, for instance with
// `clique ctl write routes.add "10.9.0.0/16 10.0.2.2 2"` (output 1 leads to NET0, output 2 to NET1).
//
// METHOD=XDP receives and sends past the kernel's stack; then the kernel sees nothing of what arrives.
//
// Each worker has a receive queue and a socket of its own on each interface, so that a packet is handled by one worker
// from end to end; while nothing arrives all workers sleep.

define($IF0 eth0, $NET0 10.0.1.1/24, $IF1 eth1, $NET1 10.0.2.1/24, $MTU 1500,
  $METHOD LINUX);

AddressInfo(port0 $NET0 $IF0:eth, port1 $NET1 $IF1:eth);

// A port. Output: IP packets that arrived, their headers checked. Input: IP packets that leave, the next hop in their
// annotation; output 1 has the ICMP errors that forwarding them caused.
elementclass Port { $device, $port, $colour |
  to :: ToDevice($device, METHOD $METHOD);
  FromDevice($device, METHOD $METHOD)
    -> HostEtherFilter($port, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($port:ip, $port:eth) -> to;
  kind[0] -> ARPResponder($port:ip $port:eth) -> to;
  kind[1] -> [1]arp;
  kind[2]
    -> Paint($colour)
    -> Strip(14)
    -> CheckIPHeader(INTERFACES $NET0 $NET1)
    -> [0]output;
  kind[3] -> Discard;

  input[0]
    -> DropBroadcasts
    -> redirect :: PaintTee($colour)
    -> options :: IPGWOptions($port:ip)
    -> FixIPSrc($port:ip)
    -> ttl :: DecIPTTL
    -> fragment :: IPFragmenter($MTU)
    -> arp;
  redirect[1] -> ICMPError($port:ip, redirect, host) -> [1]output;
  options[1] -> ICMPError($port:ip, parameterproblem) -> [1]output;
  ttl[1] -> ICMPError($port:ip, timeexceeded) -> [1]output;
  fragment[1] -> ICMPError($port:ip, unreachable, needfrag) -> [1]output;
}

// Output 0 is this host.
routes :: IPLookup(port0:ip 0, port1:ip 0, port0:ipnet 1, port1:ipnet 2);

p0 :: Port($IF0, port0, 1);
p1 :: Port($IF1, port1, 2);
p0 -> routes; p0[1] -> routes;
p1 -> routes; p1[1] -> routes;
routes[1] -> p0;
routes[2] -> p1;

// This host answers pings, and tells who tries anything else.
routes[0] -> host :: IPClassifier(icmp type echo, udp or tcp, -);
host[0] -> ICMPPingResponder -> routes;
host[1] -> ICMPError(port0:ip, unreachable, port) -> routes;
host[2] -> Discard;
