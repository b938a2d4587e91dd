// Basic network address translation: each host of a private network gets a public address of its own.
//
// Hosts in 10.0.0.0/24, behind eth0, are seen outside under addresses of 203.0.113.128/25, one each, chosen when a host first
// sends something; packets of all protocols pass, and hosts outside can begin connections to those addresses as long as
// they are in use. One server always has the same address.
//
// The interfaces are in memory. On a machine with network cards only FromMemory and ToMemory have to be replaced.

AddressInfo(
  inside 10.0.0.1/24 02:00:00:00:00:01,
  outside 203.0.113.2/24 02:00:00:00:00:02,
  provider 203.0.113.1,
  server 10.0.0.80,
  server_outside 203.0.113.80
);

// Inputs: the server, other hosts, and packets from outside. Output 0 leads outside, output 1 inside.
rw :: IPAddrRewriter(pattern server_outside - 0 1, pattern 203.0.113.128/25 - 0 1, drop, TIMEOUT 12 hr);
errors :: ICMPRewriter(rw);

elementclass Port { $device, $address, $answers |
  FromMemory($device) -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($address) -> out :: ToMemory($device);
  // Who asks, or announces itself, says where it is.
  kind[0] -> asked :: Tee -> ARPResponder($answers) -> out;
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

// Outside, the gateway answers for the addresses of all hosts.
in :: Port(eth0, inside, inside);
out :: Port(eth1, outside, 203.0.113.2 203.0.113.80 203.0.113.128/25 02:00:00:00:00:02);

in -> from_in :: IPClassifier(dst host 10.0.0.1, src host 10.0.0.80, -);
from_in[0] -> Discard;
from_in[1] -> [0]rw;
from_in[2] -> [1]rw;

// An error concerns a host inside if its packet is in the table; else it is a packet like others.
out -> from_out :: IPClassifier(icmp type unreachable or icmp type timeexceeded, -);
from_out[0] -> errors -> to_in :: DecIPTTL -> in;
from_out[1] -> [2]rw;

rw[0] -> GetIPAddress(16) -> to_out :: DecIPTTL -> StaticIPLookup(203.0.113.0/24 0, 0.0.0.0/0 provider 0) -> out;
rw[1] -> to_in;
to_out[1] -> Discard;
to_in[1] -> Discard;
