// A gateway that shares one public address among the hosts of a private network.
//
// eth0 leads to the private network 10.0.0.0/24, eth1 to the provider. Connections that begin inside get the gateway's
// public address and a port of their own; so do pings. Active FTP works, and ICMP errors find their way to the host whose
// packet caused them. From outside only the web server can be reached.
//
// The interfaces are in memory. On a machine with network cards only FromMemory and ToMemory have to be replaced.

AddressInfo(
  inside 10.0.0.1/24 02:00:00:00:00:01,
  outside 203.0.113.2/24 02:00:00:00:00:02,
  provider 203.0.113.1,
  web 10.0.0.80
);

// The public address with any port that is free. The rewriters below take turns.
IPRewriterPatterns(share outside 1024-65535 - -);

// Input 0: from inside. Input 1: from outside, for the web server. Input 2: from outside, only what is known.
// Output 0 leads outside, output 1 inside.
rw :: IPRewriter(pattern share 0 1, pattern - - web 80 1 0, drop, MAPPING_CAPACITY 100000);
ping :: ICMPPingRewriter(pattern share 0 1, drop, MAPPING_CAPACITY rw);
errors :: ICMPRewriter(rw ping);

// A network interface: IP packets that arrive leave by the output, IP packets at the input are sent to their neighbours.
elementclass Port { $device, $address |
  FromMemory($device) -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($address) -> out :: ToMemory($device);
  // Who asks, or announces itself, says where it is.
  kind[0] -> asked :: Tee -> ARPResponder($address) -> out;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  // From possible senders (RFC 1812, section 5.3.7).
  kind[2] -> Strip(14)
    -> CheckIPHeader(BADSRC inside:ip inside:bcast outside:ip outside:bcast 0.0.0.0 255.255.255.255)
    -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow all)
    -> output;
  kind[3] -> Discard;
  input -> arp;
}

in :: Port(eth0, inside);
out :: Port(eth1, outside);

// From inside. What is for the gateway itself ends here.
in -> from_in :: IPClassifier(dst host 10.0.0.1, tcp dst port 21, tcp or udp, icmp type echo, -);
from_in[0] -> Discard;
from_in[1] -> FTPPortMapper(rw, rw, 0) -> [0]rw;
from_in[2] -> [0]rw;
from_in[3] -> [0]ping;
from_in[4] -> Discard;

// From outside.
out -> from_out :: IPClassifier(tcp dst port 80, tcp or udp, icmp type echo-reply, icmp, -);
from_out[0] -> [1]rw;
from_out[1] -> [2]rw;
from_out[2] -> [1]ping;
from_out[3] -> errors;
from_out[4] -> Discard;

// To the outside: a hop further, by the provider if need be. Who sent a packet in circles hears of it.
to_out :: DecIPTTL -> StaticIPLookup(203.0.113.0/24 0, 0.0.0.0/0 provider 0) -> out;
rw[0] -> to_out;
ping[0] -> to_out;
to_out[1] -> ICMPError(outside, timeexceeded) -> errors;

// To the inside: the rewriters have set the destination.
to_in :: DecIPTTL -> in;
rw[1] -> to_in;
ping[1] -> to_in;
errors -> to_in;
to_in[1] -> ICMPError(outside, timeexceeded) -> ICMPRewriter(rw ping) -> out; // tells of the packet as it came
