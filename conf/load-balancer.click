// A load balancer: one address for a service that several servers provide.
//
// Clients are reached through eth0 and connect to 203.0.113.10. Each new connection goes to the next of three servers
// behind eth1 and stays with it; web traffic goes by the client's address instead, so that a client always finds its
// session. Servers answer through the balancer, which is their router, and clients see the service's address only.
//
// The interfaces are in memory. On a machine with network cards only FromMemory and ToMemory have to be replaced.

AddressInfo(
  service 203.0.113.10/24 02:00:00:00:00:01,
  servers 10.0.0.1/24 02:00:00:00:00:02,
  clients 203.0.113.1
);

// Any connection, in turn.
in_turn :: RoundRobinIPMapper(
  - - 10.0.0.11 - 0 1,
  - - 10.0.0.12 - 0 1,
  - - 10.0.0.13 - 0 1
);

// Web connections, by source: 50 positions of each server on the ring. When a server is taken out, only its own clients
// change theirs.
by_client :: SourceIPHashMapper(50 1,
  - - 10.0.0.11 - 0 1 0,
  - - 10.0.0.12 - 0 1 1,
  - - 10.0.0.13 - 0 1 2
);

// Inputs: web connections, others, and what servers send. Output 0 leads to the servers, output 1 to the clients.
rw :: IPRewriter(by_client, in_turn, drop, MAPPING_CAPACITY 1000000, TCP_TIMEOUT 1 hr);
errors :: ICMPRewriter(rw:0);

elementclass Port { $device, $address |
  FromMemory($device) -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($address) -> out :: ToMemory($device);
  // Who asks, or announces itself, says where it is.
  kind[0] -> asked :: Tee -> ARPResponder($address) -> out;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  // From possible senders (RFC 1812, section 5.3.7).
  kind[2] -> Strip(14)
    -> CheckIPHeader(BADSRC service:ip service:bcast servers:ip servers:bcast 0.0.0.0 255.255.255.255)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> output;
  kind[3] -> Discard;
  input -> arp;
}

outside :: Port(eth0, service);
inside :: Port(eth1, servers);

outside -> from_clients :: IPClassifier(
  dst host 203.0.113.10 and tcp dst port 80 or 443,
  dst host 203.0.113.10 and (tcp or udp),
  dst host 203.0.113.10 and icmp,
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
to_clients :: DecIPTTL -> StaticIPLookup(203.0.113.0/24 0, 0.0.0.0/0 clients 0) -> outside;
rw[0] -> to_servers;
rw[1] -> to_clients;
errors[0] -> to_servers;
errors[1] -> to_clients;
to_servers[1] -> Discard;
to_clients[1] -> Discard;
