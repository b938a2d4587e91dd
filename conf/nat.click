// A gateway that shares one public address among the hosts of a private network.
//
//   hosts ── IN [    ] OUT ── PROVIDER ── the world
//        INSIDE      OUTSIDE
//
//   clique run -u /run/clique.sock conf/nat.click IN=eth0 INSIDE=10.0.0.1/24 OUT=eth1 OUTSIDE=203.0.113.2/24 PROVIDER=203.0.113.1
//
// IN leads to the private network, OUT to the provider; INSIDE and OUTSIDE are the gateway's addresses there, and the kernel should
// have none on either. Connections that begin inside get the gateway's public address and a port of their own; so do pings. Active
// FTP works, and ICMP errors find their way to the host whose packet caused them; those from inside leave as the gateway's. From outside
// only the web server WEB can be reached, by the public address also from inside. The gateway answers pings on both sides.
//
// MAPPING endpoint-independent gives each address and port inside one public port for all it sends to, which applications that find their
// peers by a third party (STUN, games, calls) need, and so each identifier of pings; FILTERING says who may send to a port there:
// endpoint-independent, address-dependent, or address-and-port-dependent (RFC 4787). Hosts inside then reach each other by what they are
// outside, too.
//
// FLOWS connections are remembered, 160 bytes each. When there are more, those give way whose handshake is not complete, or that were not
// answered, after 5 seconds; no others do, so that a flood ends none, and new ones are refused. With MAPPING endpoint-independent each address and port inside counts
// as one more. `clique ctl` shows them: read rw.tcp_table. QUOTA says how many of them, and of pings, one address may have, inside or outside; with 0 there is
// no limit but FLOWS.
//
// Fragments are put together before they are translated, as only the first one has ports, and what is larger than MTU_IN or MTU_OUT is cut again behind
// that (RFC 4787, REQ-14).
//
// Senders of packets that are too large, have used up their TTL, find no neighbour, can have no mapping or came in part only get ICMP errors, at most
// ERRORS a second for each reason, side and worker.

define($IN eth0, $INSIDE 10.0.0.1/24, $OUT eth1, $OUTSIDE 203.0.113.2/24, $PROVIDER 203.0.113.1,
  $WEB 10.0.0.80, $FLOWS 100000, $QUOTA 0, $METHOD LINUX, $MAPPING address-and-port-dependent, $FILTERING address-and-port-dependent,
  $MTU_IN 1500, $MTU_OUT 1500, $ERRORS 1000);

AddressInfo(inside $INSIDE $IN:eth, outside $OUTSIDE $OUT:eth, provider $PROVIDER, web $WEB);

// The public address with any port that is free. The rewriters below take turns.
IPRewriterPatterns(share outside 1024-65535 - -);

// Input 0: from inside. Input 1: from outside, for the web server. Input 2: from outside, only what is known, or let in by FILTERING.
// Output 0 leads outside, output 1 inside; by output 2 leaves what no mapping can be made for.
rw :: IPRewriter(pattern share 0 1, pattern - - web 80 1 0, drop, MAPPING_CAPACITY $FLOWS, MAPPING $MAPPING, FILTERING $FILTERING,
  QUOTA $QUOTA, QUOTA_PREFIX 32, UNMAPPED 2);
ping :: ICMPPingRewriter(pattern share 0 1, drop, MAPPING_CAPACITY rw, MAPPING $MAPPING, UNMAPPED 2);

// Errors about packets that were translated, from outside and from inside (RFC 5508, section 4), by the output that such packets have.
errors_in :: ICMPRewriter(rw:0 ping:0, CHECKSUM true);
errors_out :: ICMPRewriter(rw:0 ping:0, CHECKSUM true, TRANSLATE_SRC true);

// A network interface: IP packets that arrive leave by the output, put together if they came in fragments; IP packets at the input are sent to
// their neighbours. Errors about those that do not reach these leave by the second output, and by the third errors about those that arrived in part.
elementclass Port { $device, $address, $mtu |
  FromDevice($device, METHOD $METHOD)
    -> HostEtherFilter($address, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  // A neighbour that does not answer three times, a second apart, is unreachable.
  arp :: ARPQuerier($address, PROBES 3) -> out :: ToDevice($device, METHOD $METHOD);
  arp[1] -> out;
  arp[2] -> ICMPError($address, unreachable, host, RATE $ERRORS) -> [1]output;
  // Who asks, or announces itself, says where it is.
  kind[0] -> asked :: Tee -> ARPResponder($address) -> out;
  asked[1] -> [1]arp;
  kind[1] -> [1]arp;
  // From possible senders (RFC 1812, section 5.3.7).
  kind[2] -> Strip(14)
    -> CheckIPHeader(BADSRC inside:ip inside:bcast outside:ip outside:bcast 0.0.0.0 255.255.255.255)
    -> from :: IPFilter(drop src net 0.0.0.0/8, drop src net 127.0.0.0/8, drop src net 224.0.0.0/4, 1 ip frag, allow all)
    -> output;
  // What came in fragments may leave in fragments, whatever its sender says: it no longer has "don't fragment".
  from[1] -> whole :: IPReassembler -> StoreData(6, \<00>, \<40>) -> SetIPChecksum -> output;
  whole[1] -> ICMPError($address, timeexceeded, reassembly, RATE $ERRORS) -> [2]output;
  kind[3] -> Discard;
  // Hosts behind one address may have given their packets the same identifications.
  input -> size :: IPFragmenter($mtu, NEW_ID true) -> arp;
  size[1] -> ICMPError($address, unreachable, needfrag, PMTU $mtu, RATE $ERRORS) -> [1]output;
}

in :: Port($IN, inside, $MTU_IN);
out :: Port($OUT, outside, $MTU_OUT);

// From inside. What is for the gateway itself ends here; pings of it are answered (RFC 5508, REQ-10).
in -> from_in :: IPClassifier(dst host inside:ip or (icmp type echo and dst host outside:ip), tcp dst port 21, tcp or udp, icmp type echo, icmp, -);
from_in[0] -> asked_inside :: IPClassifier(icmp type echo, -) -> ICMPPingResponder -> in;
asked_inside[1] -> Discard;
from_in[1] -> FTPPortMapper(rw, rw, 0) -> [0]rw;
from_in[2] -> [0]rw;
from_in[3] -> [0]ping;
from_in[4] -> errors_out;
from_in[5] -> Discard;

// From outside.
out -> from_out :: IPClassifier(tcp dst port 80, tcp or udp, icmp type echo-reply, icmp type echo and dst host outside:ip, icmp, -);
from_out[0] -> [1]rw;
from_out[1] -> [2]rw;
from_out[2] -> [1]ping;
from_out[4] -> errors_in;
from_out[5] -> Discard;

// To the outside: a hop further, by the provider if need be. Who sent a packet in circles hears of it.
to_out :: DecIPTTL -> route :: StaticIPLookup(outside:ipnet 0, 0.0.0.0/0 provider 0) -> out;
from_out[3] -> ICMPPingResponder -> route;
rw[0] -> hairpin :: IPClassifier(dst host outside:ip and tcp dst port 80, dst host outside:ip, -);
hairpin[2] -> to_out;
ping[0] -> to_out;
to_out[1] -> ICMPError(outside, timeexceeded, RATE $ERRORS) -> errors_in;

// Who is inside and asks for the public address means a host inside, and both see each other under that address (RFC 4787, section 6; RFC
// 5382, REQ-8).
hairpin[0] -> [1]rw;
hairpin[1] -> [2]rw;

// An error about such a packet is one for the other host inside.
errors_out[0] -> told :: IPClassifier(dst host outside:ip, -);
told[0] -> errors_in;
told[1] -> to_out;
errors_out[1] -> Discard;

// To the inside: the rewriters have set the destination.
to_in :: DecIPTTL -> in;
rw[1] -> to_in;
ping[1] -> to_in;
errors_in[0] -> Discard; // it quotes a packet as only hosts inside see it
errors_in[1] -> to_in;
to_in[1] -> ICMPError(outside, timeexceeded, RATE $ERRORS) -> errors_out; // tells of the packet as it came

// Errors about packets that are translated already, and about packets as they came.
out[1] -> errors_in;
in[1] -> errors_out;
out[2] -> route;
in[2] -> in;

// Who sends what no mapping can be made for hears of it (RFC 5508, REQ-8).
rw[2] -> unmapped :: IPClassifier(src net inside:ipnet, src host outside:ip, -);
ping[2] -> unmapped;
unmapped[0] -> ICMPError(inside, unreachable, filterprohibited, RATE $ERRORS) -> in;
// A host inside has asked for the public address, and its packet has the public source by now.
unmapped[1] -> ICMPError(outside, unreachable, filterprohibited, RATE $ERRORS) -> errors_in;
unmapped[2] -> ICMPError(outside, unreachable, filterprohibited, RATE $ERRORS) -> route;
