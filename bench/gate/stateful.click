// Packets of a thousand flows, chosen at random, through all that remembers flows: a filter by the states of connections, NAT, two next hops that
// flows keep, and accounting.
define($LIMIT 1000);

src :: FastUDPFlows(0, $LIMIT, 60, 02:00:00:00:00:01, 10.0.0.10, 02:00:00:00:00:02, 198.51.100.7, 1000, 1000000000,
  ACTIVE false, STOP true);

ct :: ConnTrack(CAPACITY 65536);
routes :: IPLookup(0.0.0.0/0 192.0.2.1 0, FLOWS 65536);

src -> Strip(14) -> CheckIPHeader -> [0]ct[0]
  -> IPFilter(deny state invalid, allow dst net 198.51.100.0/24 and udp, deny all)
  -> ConnTrackConfirm(ct)
  -> IPRewriter(pattern 203.0.113.2 1024-65535 - - 0 0)
  -> routes
  -> fx :: FlowExporter(CAPACITY 65536)
  -> Queue -> d :: Discard(BURST 32);
fx[1] -> Discard;
Idle -> [1]ct[1] -> Discard;

Script(write routes.set 0.0.0.0/0 nexthop 192.0.2.1 0 nexthop 192.0.2.2 0, write src.active true);
