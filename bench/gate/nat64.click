// Packets of a thousand known flows of a host that has IPv6 only, chosen at random, on their way to a host that has IPv4 only.
define($LIMIT 1000);

src :: FastUDPFlowsIP6(0, $LIMIT, 80, 02:00:00:00:00:01, 2001:db8:1::10, 02:00:00:00:00:02, 64:ff9b::c633:6407, 1000, 1000000000,
  ACTIVE false, STOP true);

n :: NAT64(203.0.113.2 1024-65535, FILTERING address-dependent);

src -> Strip(14) -> CheckIP6Header -> [0]n[0] -> Queue -> d :: Discard(BURST 32);
Idle -> [1]n[1] -> Discard;

Script(write src.active true);
