// An IPsec gateway whose keys are entered by hand: packets to the other site travel encrypted to its gateway, and come back so (ESP, AES-GCM).
//
//   site ── IN [    ] OUT ── ROUTER ── ... ── PEER [ the other gateway ] ── REMOTE
//       INSIDE      OUTSIDE
//
//   (umask 77; head -c 20 /dev/urandom | od -An -tx1 | tr -d ' \n' >/etc/clique/out.key)    # and in.key; the peer has them the other way round
//   clique run -u /run/clique.sock conf/esp-gateway.click IN=eth0 INSIDE=10.0.1.1/24 OUT=eth1 OUTSIDE=192.0.2.1/24 ROUTER=192.0.2.254 \
//     PEER=198.51.100.1 REMOTE=10.0.2.0/24 SPI_OUT=0x1001 KEY_OUT=/etc/clique/out.key SPI_IN=0x1002 KEY_IN=/etc/clique/in.key
//
// IN leads to the site, OUT to the outside; INSIDE and OUTSIDE are this gateway's addresses there, and the kernel should have none on either. ROUTER is the way to
// what is not in OUTSIDE's network, PEER among it. Each direction has a number (SPI) and a key of its own, which is used after one start only: sequence numbers
// begin anew, and with AES-GCM no number may come twice under a key. Where an IKE daemon renews keys, conf/ipsec-gateway.click is right instead.
//
// Packets to REMOTE are encrypted, and those from there to the site are let in; all else ends here. Packets of more than MTU bytes do not fit
// into the tunnel: their senders hear of it, at most ERRORS times a second and worker, or they are cut.

define($IN eth0, $INSIDE 10.0.1.1/24, $OUT eth1, $OUTSIDE 192.0.2.1/24, $ROUTER 192.0.2.254, $PEER 198.51.100.1, $REMOTE 10.0.2.0/24,
  $SPI_OUT 0x1001, $KEY_OUT /etc/clique/out.key, $SPI_IN 0x1002, $KEY_IN /etc/clique/in.key, $MTU 1438, $METHOD LINUX, $ERRORS 1000);

AddressInfo(inside $INSIDE $IN:eth, outside $OUTSIDE $OUT:eth, peer $PEER, remote $REMOTE);

// A network interface: IP packets that arrive leave by the output, IP packets at the input are sent to their neighbours.
elementclass Port { $device, $address |
  FromDevice($device, METHOD $METHOD)
    -> HostEtherFilter($address, DROP_OTHER true)
    -> kind :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
  arp :: ARPQuerier($address) -> out :: ToDevice($device, METHOD $METHOD);
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
near :: Port($IN, inside);
far :: Port($OUT, outside);

to_site :: GetIPAddress(16) -> near;
to_outside :: StaticIPLookup(outside:ipnet 0, 0.0.0.0/0 $ROUTER 0) -> far;

// From the site.
near -> from_site :: IPClassifier(dst host inside:ip, dst net remote, -);
from_site[0] -> IPReassembler -> asked_inside :: IPClassifier(icmp type echo, -) -> ICMPPingResponder -> IPFragmenter($MTU) -> to_site;
asked_inside[1] -> Discard;
from_site[1] -> ttl :: DecIPTTL -> into_tunnel :: IPFragmenter($MTU)
  -> ESPEncap($SPI_OUT, KEYFILE $KEY_OUT) -> IPEncap(esp, outside:ip, $PEER) -> GetIPAddress(16) -> to_outside;
from_site[2] -> refused_out :: Counter -> Discard;
ttl[1] -> ICMPError(inside:ip, timeexceeded, RATE $ERRORS) -> to_site;
into_tunnel[1] -> ICMPError(inside:ip, unreachable, needfrag, PMTU $MTU, RATE $ERRORS) -> to_site;

// From the outside. What is for this gateway is put together, as only a first fragment says that it is a ping.
far -> from_outside :: IPClassifier(dst host outside:ip, -);
from_outside[0] -> IPReassembler -> own :: IPClassifier(src host peer and ip proto esp, icmp type echo, -);
own[0] -> StripIPHeader -> ESPDecap($SPI_IN, KEYFILE $KEY_IN)
  -> CheckIPHeader -> selected :: IPClassifier(src net remote and dst host inside:ip, src net remote and dst net inside:ipnet, -);
own[1] -> ICMPPingResponder -> IPFragmenter($MTU) -> to_outside;
own[2], from_outside[1] -> refused_in :: Counter -> Discard;
selected[0] -> IPReassembler -> asked_by_peer :: IPClassifier(icmp type echo, -) -> ICMPPingResponder -> into_tunnel;
asked_by_peer[1] -> Discard;
selected[1] -> ttl_in :: DecIPTTL -> to_site;
selected[2] -> refused_in;
ttl_in[1] -> ICMPError(inside:ip, timeexceeded, RATE $ERRORS) -> into_tunnel;
