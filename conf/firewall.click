// A firewall in the cable between a network and the rest of the world: it has no addresses of its own, and no one needs to
// know that it is there.
//
// eth0 leads inside, eth1 outside. Frames keep their Ethernet headers. ARP passes. IPv4 and IPv6 packets pass if a rule
// lets them; the others are counted and end here.
//
// `clique ctl` shows what was refused: read refused_in.count, refused_out.count, from_outside.program. New rules can be
// written to from_outside.config while packets pass.

AddressInfo(
  net4 192.0.2.0/24, net6 2001:db8:2::/48,
  web4 192.0.2.80, web6 2001:db8:2::80,
  mail4 192.0.2.25, mail6 2001:db8:2::25
);

// From inside: under own addresses only, and mail by the mail server only.
from_inside :: IPFilter(
  1 not src net net4,
  1 dst tcp port smtp and not src host mail4,
  allow all
);
from_inside6 :: IP6Filter(
  allow icmp,
  1 not src net net6,
  1 dst tcp port smtp and not src host mail6,
  allow all
);

// From outside: who is asked may answer; servers may be asked.
from_outside :: IPFilter(
  1 src net net4,                                   // forged
  1 not dst net net4,
  1 ip frag and (tcp or udp) and ip[6:2] & 0x1fff == 1, // would overwrite ports that have been let pass
  allow tcp opt ack,                                // of a connection that exists
  allow dst host web4 and (dst tcp port www or https),
  allow dst host mail4 and dst tcp port smtp,
  allow udp and src port domain and dst port > 1023,
  allow icmp type echo-reply or unreachable or timeexceeded,
  allow ip frag and ip[6:2] & 0x1fff != 0,          // the rest of packets whose beginning was let pass
  1 all
);
from_outside6 :: IP6Filter(
  1 src net net6,
  allow icmp,                                       // without neighbour discovery there is no IPv6
  1 not dst net net6,
  allow tcp opt ack,
  allow dst host web6 and (dst tcp port www or https),
  allow dst host mail6 and dst tcp port smtp,
  allow udp and src port domain and dst port > 1023,
  1 all
);

FromMemory(eth0) -> kind_in :: Classifier(12/0800, 12/86DD, 12/0806, -);
to_outside :: ToMemory(eth1);
refused_out :: Counter -> Discard;
kind_in[0] -> CheckIPHeader(14) -> from_inside -> to_outside;
kind_in[1] -> CheckIP6Header(::, 14) -> from_inside6 -> to_outside;
kind_in[2] -> to_outside;
kind_in[3] -> refused_out;
from_inside[1] -> refused_out;
from_inside6[1] -> refused_out;

FromMemory(eth1) -> kind_out :: Classifier(12/0800, 12/86DD, 12/0806, -);
to_inside :: ToMemory(eth0);
refused_in :: Counter -> Discard;
kind_out[0] -> CheckIPHeader(14) -> from_outside -> to_inside;
kind_out[1] -> CheckIP6Header(::, 14) -> from_outside6 -> to_inside;
kind_out[2] -> to_inside;
kind_out[3] -> refused_in;
from_outside[1] -> refused_in;
from_outside6[1] -> refused_in;
