// A gateway by which IPv6 hosts reach IPv4 hosts (RFC 6146).
//
//   IPv6 hosts ── IN [    ] OUT ── PROVIDER ── the world of IPv4
//           INSIDE      OUTSIDE
//
//   clique run -u /run/clique.sock conf/nat64.click IN=eth0 INSIDE=2001:db8:1::1/64 OUT=eth1 OUTSIDE=203.0.113.2/24 PROVIDER=203.0.113.1
//
// INSIDE is the gateway's IPv6 address and the network around it, OUTSIDE its IPv4 address on the other side; the kernel should have none on
// either interface. Hosts inside send what is for the IPv4 address a.b.c.d to PREFIX with that address behind it (64:ff9b::a.b.c.d), which a DNS64 resolver
// tells them; the gateway is on their way there: it answers neighbour discovery and pings, and sends no router advertisements. All of them
// share the address of OUTSIDE, with a port of their own for each of their ports (and for each identifier of pings). From outside no host
// reaches one that has not sent there first: FILTERING says which hosts then may (endpoint-independent, address-dependent,
// address-and-port-dependent).
//
// Fragments are put together before they are translated, and cut again behind that. Who sends a packet that is too large (MTU6 inside, MTU4 outside) and
// must not be cut hears of it, through the translator where it is on the other side.
//
// FLOWS flows, endpoints and addresses that endpoints send to are remembered, 256 bytes each. `clique ctl flows` shows them. QUOTA says how many flows the hosts
// of one prefix of 64 bits may have, in which a host can take any address; with 0 there is no limit but FLOWS and the ports.

define($IN eth0, $INSIDE 2001:db8:1::1/64, $OUT eth1, $OUTSIDE 203.0.113.2/24, $PROVIDER 203.0.113.1, $PREFIX 64:ff9b::/96,
  $FLOWS 100000, $QUOTA 0, $FILTERING address-dependent, $MTU6 1500, $MTU4 1500, $METHOD LINUX, $ERRORS 1000);

AddressInfo(inside $INSIDE $IN:eth, outside $OUTSIDE $OUT:eth, provider $PROVIDER);

nat64 :: NAT64(outside 1024-65535, PREFIX $PREFIX, FILTERING $FILTERING, MAPPING_CAPACITY $FLOWS, QUOTA $QUOTA);

// The side of IPv6: who asks for the gateway is answered, and learned.
to_in :: ToDevice($IN, METHOD $METHOD);
nd :: IP6NDSolicitor(inside:ip6, inside:eth, INTERFACE $IN) -> to_in;
nd[1] -> to_in;
FromDevice($IN, METHOD $METHOD)
  -> HostEtherFilter(inside, DROP_OTHER true)
  -> kind6 :: Classifier(12/86dd 20/3aff 54/87, 12/86dd 20/3aff 54/88, 12/86dd, -);
kind6[0] -> asked6 :: Tee -> IP6NDAdvertiser(inside:ip6 inside:eth) -> to_in;
asked6[1] -> [1]nd;
kind6[1] -> [1]nd;
kind6[3] -> Discard;
kind6[2] -> DropBroadcasts -> Strip(14)
  -> CheckIP6Header(:: ::1 inside:ip6)
  -> GetIP6Address(24)
  -> from_in :: IP6Classifier(dst host inside:ip6, src net fe80::/10 or src net ff00::/8 or dst net fe80::/10 or dst net ff00::/8, -);
from_in[0] -> IP6Reassembler -> ping :: ICMP6PingResponder -> IP6Fragmenter($MTU6) -> GetIP6Address(24) -> nd;
ping[1] -> Discard;
from_in[1] -> Discard;
from_in[2] -> hops :: DecIP6HLIM -> parts6 :: IP6Classifier(ip frag, -);
hops[1] -> ICMP6Error(inside:ip6, 3, 0, RATE $ERRORS) -> nd;
// What came in fragments may leave in fragments.
parts6[0] -> Paint(1) -> whole6 :: IP6Reassembler -> [0]nat64;
whole6[1] -> ICMP6Error(inside:ip6, 3, 1, RATE $ERRORS) -> nd;
whole6[2] -> ICMP6Error(inside:ip6, 4, 0, RATE $ERRORS) -> nd;
parts6[1] -> Paint(0) -> [0]nat64;

// The side of IPv4.
to_out :: ToDevice($OUT, METHOD $METHOD);
arp :: ARPQuerier(outside) -> to_out;
FromDevice($OUT, METHOD $METHOD)
  -> HostEtherFilter(outside, DROP_OTHER true)
  -> kind4 :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
kind4[0] -> asked4 :: Tee -> ARPResponder(outside) -> to_out;
asked4[1] -> [1]arp;
kind4[1] -> [1]arp;
kind4[3] -> Discard;
// From possible senders (RFC 1812, section 5.3.7), and for the gateway's address.
kind4[2] -> DropBroadcasts -> Strip(14)
  -> CheckIPHeader(BADSRC outside:ip outside:bcast 0.0.0.0 255.255.255.255)
  -> IPFilter(deny src net 0.0.0.0/8, deny src net 127.0.0.0/8, deny src net 224.0.0.0/4, allow dst host outside:ip, deny all)
  -> ttl :: DecIPTTL
  // What is whole and must stay so; what else comes may leave in fragments.
  -> uncut :: Classifier(6/4000%7fff, -);
route :: StaticIPLookup(outside:ipnet 0, 0.0.0.0/0 provider 0) -> arp;
ttl[1] -> ICMPError(outside, timeexceeded, RATE $ERRORS) -> route;
uncut[0] -> Paint(0) -> from_v4 :: Null -> [1]nat64;
uncut[1] -> Paint(1) -> whole4 :: IPReassembler -> from_v4;
whole4[1] -> ICMPError(outside, timeexceeded, reassembly, RATE $ERRORS) -> route;

// Outward. A host inside that is reached by what it is outside (hairpin) is one for the other input.
nat64[0] -> hairpin :: IPClassifier(dst host outside:ip, -) -> from_v4;
hairpin[1] -> cut4 :: PaintSwitch -> size4 :: IPFragmenter($MTU4) -> route;
size4[1] -> ICMPError(outside, unreachable, needfrag, PMTU $MTU4, RATE $ERRORS) -> from_v4;
cut4[1] -> IPFragmenter($MTU4, HONOR_DF false, KEEP_ID true) -> route;

// Inward.
nat64[1] -> cut6 :: PaintSwitch -> size6 :: IP6Fragmenter($MTU6) -> nd;
size6[1] -> ICMP6Error(inside:ip6, 2, 0, PMTU $MTU6, RATE $ERRORS) -> Paint(0) -> [0]nat64;
cut6[1] -> IP6Fragmenter($MTU6) -> nd;
