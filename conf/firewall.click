// A firewall in the cable between a network and the rest of the world: it has no addresses of its own, and no one needs to
// know that it is there. It remembers connections: replies need no rule.
//
//   NET4, NET6 ── IN [    ] OUT ── the world
//
//   clique run -u /run/clique.sock conf/firewall.click IN=eth0 OUT=eth1 NET4=192.0.2.0/24 NET6=2001:db8:2::/48 ...
//
// IN leads inside, OUT outside; the kernel should have no address on either. Frames keep their Ethernet headers. ARP passes.
// IPv4 and IPv6 packets pass if a rule lets them; the others are counted and end here.
//
// `clique ctl` shows what was refused, and what is known: read refused_in.count, from_outside.rule_packets, ct.flows, ct.counters.
// New rules can be written to from_outside.config while packets pass; connections that are known go on.
//
// FLOWS connections are remembered, 160 bytes each. A flood of SYNs that a rule lets pass fills that with half-open connections, the
// oldest of which give way; those that are established do not. QUOTA says how many the addresses of one prefix may have begun, of 24 bits of IPv4 and 64 of
// IPv6, inside, too; with 0 there is no limit but FLOWS. METHOD=XDP bypasses the kernel's stack.

define($IN eth0, $OUT eth1, $NET4 192.0.2.0/24, $NET6 2001:db8:2::/48,
  $WEB4 192.0.2.80, $WEB6 2001:db8:2::80, $MAIL4 192.0.2.25, $MAIL6 2001:db8:2::25,
  $FLOWS 1048576, $QUOTA 0, $METHOD LINUX);

AddressInfo(net4 $NET4, net6 $NET6, web4 $WEB4, web6 $WEB6, mail4 $MAIL4, mail6 $MAIL6);

// Inputs 0 and 1: IPv4 and IPv6 from inside. Inputs 2 and 3: from outside. What the filters let pass is remembered.
ct :: ConnTrack(CAPACITY $FLOWS, QUOTA $QUOTA);

// From inside: under own addresses only, and mail by the mail server only.
from_inside :: IPFilter(
  1 not src net net4,
  1 state invalid,
  allow state established or related,
  1 dst tcp port smtp and not src host mail4,
  allow all,
  COUNT true
);
from_inside6 :: IP6Filter(
  allow state untracked and icmp,                   // without neighbour discovery there is no IPv6
  1 not src net net6,
  1 state invalid,
  allow state established or related,
  1 dst tcp port smtp and not src host mail6,
  allow all,
  COUNT true
);

// From outside: who is asked may answer; servers may be asked.
from_outside :: IPFilter(
  1 src net net4,                                   // forged
  1 not dst net net4,
  1 ip frag and (tcp or udp) and ip[6:2] & 0x1fff == 1, // would overwrite ports that have been let pass
  allow state established or related,
  allow state new and dst host web4 and (dst tcp port www or https),
  allow state new and dst host mail4 and dst tcp port smtp,
  allow ip frag and ip[6:2] & 0x1fff != 0,          // the rest of packets whose beginning was let pass
  1 all,
  COUNT true
);
from_outside6 :: IP6Filter(
  1 src net net6,
  allow state untracked and icmp,
  1 not dst net net6,
  allow state established or related,
  allow state new and icmp type echo,
  allow state new and dst host web6 and (dst tcp port www or https),
  allow state new and dst host mail6 and dst tcp port smtp,
  allow state untracked and ip frag,                // the rest of packets whose beginning was let pass
  1 all,
  COUNT true
);

// One side of the cable. Outputs: IPv4, IPv6, ARP, and all else.
elementclass Side { $device |
  FromDevice($device, PROMISC true, METHOD $METHOD) -> kind :: Classifier(12/0800, 12/86DD, 12/0806, -);
  kind[0] -> CheckIPHeader(14) -> [0]output;
  kind[1] -> CheckIP6Header(::, 14) -> [1]output;
  kind[2] -> [2]output;
  kind[3] -> [3]output;
  input -> ToDevice($device, METHOD $METHOD);
}

in :: Side($IN);
out :: Side($OUT);

refused_out :: Counter -> Discard;
in[0] -> [0]ct; ct[0] -> from_inside -> keep_out :: ConnTrackConfirm(ct) -> out;
in[1] -> [1]ct; ct[1] -> from_inside6 -> keep_out;
in[2] -> out;
in[3] -> refused_out;
from_inside[1] -> refused_out;
from_inside6[1] -> refused_out;

refused_in :: Counter -> Discard;
out[0] -> [2]ct; ct[2] -> from_outside -> keep_in :: ConnTrackConfirm(ct) -> in;
out[1] -> [3]ct; ct[3] -> from_outside6 -> keep_in;
out[2] -> in;
out[3] -> refused_in;
from_outside[1] -> refused_in;
from_outside6[1] -> refused_in;
