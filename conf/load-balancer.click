// A load balancer: one address for a service that several servers provide.
//
//                                            ┌── SERVER0
//   clients ── PROVIDER ── IF0 [    ] IF1 ───┼── SERVER1
//                      SERVICE      NET1     └── SERVER2
//
//   clique run -u /run/clique.sock conf/load-balancer.click IF0=eth0 SERVICE=203.0.113.10/24 PROVIDER=203.0.113.1 \
//     IF1=eth1 NET1=10.0.0.1/24 SERVER0=10.0.0.11 SERVER1=10.0.0.12 SERVER2=10.0.0.13
//
// IF0 leads to the clients, who connect to SERVICE, by the router PROVIDER if they are not in its network; IF1 leads to the servers. NET1 is the
// balancer's address there, and the servers' way to everywhere. The kernel should have no address on either interface.
//
// Each new connection goes to the next server and stays with it; web traffic goes by the client's address instead, so that a client always finds its
// session. Clients see the service's address only. Fragments are put together before they are translated, as only the first one has ports, and what is larger
// than MTU0 on the clients' side, MTU1 on the servers', is cut again behind that. Senders of packets that are too large and must not be cut, or that
// came in part only, get ICMP errors, at most ERRORS a second for each reason, side and worker. FLOWS connections are remembered, 160 bytes each. METHOD=XDP bypasses the kernel's stack.
// Another number of servers needs as many lines in both lists. What is known is shown by: clique ctl -u /run/clique.sock read rw.tcp_table

define($IF0 eth0, $SERVICE 203.0.113.10/24, $PROVIDER 203.0.113.1, $IF1 eth1, $NET1 10.0.0.1/24,
  $SERVER0 10.0.0.11, $SERVER1 10.0.0.12, $SERVER2 10.0.0.13, $FLOWS 1000000, $METHOD LINUX,
  $MTU0 1500, $MTU1 1500, $ERRORS 1000);

AddressInfo(service $SERVICE $IF0:eth, servers $NET1 $IF1:eth, provider $PROVIDER);

// Any connection, in turn.
in_turn :: RoundRobinIPMapper(
  - - $SERVER0 - 0 1,
  - - $SERVER1 - 0 1,
  - - $SERVER2 - 0 1
);

// Web connections, by source: 50 positions of each server on the ring. When a server is taken out, only its own clients
// change theirs.
by_client :: SourceIPHashMapper(50 1,
  - - $SERVER0 - 0 1 0,
  - - $SERVER1 - 0 1 1,
  - - $SERVER2 - 0 1 2
);

// Inputs: web connections, others, and what servers send. Output 0 leads to the servers, output 1 to the clients.
rw :: IPRewriter(by_client, in_turn, drop, MAPPING_CAPACITY $FLOWS, TCP_TIMEOUT 1 hr);
errors :: ICMPRewriter(rw:0, TRANSLATE_SRC true);

// A network interface: IP packets that arrive leave by the output, put together if they came in fragments; IP packets at the input are sent to
// their neighbours. Errors about those that do not fit leave by the second output, and by the third errors about those that arrived in part.
elementclass Port { $device, $address, $mtu |
  FromDevice($device, METHOD $METHOD) -> HostEtherFilter($address, DROP_OTHER true) -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($address) -> out :: ToDevice($device, METHOD $METHOD);
  // Who asks, or announces itself, says where it is.
  kind[0] -> asked :: Tee -> ARPResponder($address) -> out;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  // From possible senders (RFC 1812, section 5.3.7).
  kind[2] -> Strip(14)
    -> CheckIPHeader(BADSRC service:ip service:bcast servers:ip servers:bcast 0.0.0.0 255.255.255.255)
    -> from :: IPFilter(drop src net 0.0.0.0/8, drop src net 127.0.0.0/8, drop src net 224.0.0.0/4, 1 ip frag, allow all)
    -> output;
  // What came in fragments may leave in fragments, whatever its sender says: it no longer has "don't fragment".
  from[1] -> whole :: IPReassembler -> StoreData(6, \<00>, \<40>) -> SetIPChecksum -> output;
  whole[1] -> ICMPError($address, timeexceeded, reassembly, RATE $ERRORS) -> [2]output;
  kind[3] -> Discard;
  // Servers behind one address may have given their packets the same identifications.
  input -> size :: IPFragmenter($mtu, NEW_ID true) -> arp;
  size[1] -> ICMPError($address, unreachable, needfrag, PMTU $mtu, RATE $ERRORS) -> [1]output;
}

outside :: Port($IF0, service, $MTU0);
inside :: Port($IF1, servers, $MTU1);

outside -> from_clients :: IPClassifier(
  dst host service:ip and tcp dst port 80 or 443,
  dst host service:ip and (tcp or udp),
  dst host service:ip and icmp,
  -);
from_clients[0] -> [0]rw;
from_clients[1] -> [1]rw;
from_clients[2] -> errors;
from_clients[3] -> Discard;

inside -> from_servers :: IPClassifier(tcp or udp, icmp, -);
from_servers[0] -> [2]rw;
from_servers[1] -> errors;
from_servers[2] -> Discard;

to_servers :: DecIPTTL -> inside;
to_clients :: DecIPTTL -> route :: StaticIPLookup(service:ipnet 0, 0.0.0.0/0 provider 0) -> outside;
rw[0] -> to_servers;
rw[1] -> to_clients;
errors[0] -> to_servers;
errors[1] -> to_clients;
// Errors about packets that are translated already.
outside[1] -> errors;
inside[1] -> errors;
to_servers[1] -> Discard;
to_clients[1] -> Discard;
// Errors about packets as they came.
outside[2] -> route;
inside[2] -> inside;
