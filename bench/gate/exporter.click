// Packets of a thousand flows, chosen at random, that are accounted for.
define($LIMIT 1000);

src :: FastUDPFlows(0, $LIMIT, 60, 02:00:00:00:00:01, 10.0.0.10, 02:00:00:00:00:02, 198.51.100.7, 1000, 1000000000,
  ACTIVE false, STOP true);

src -> Strip(14) -> CheckIPHeader -> fx :: FlowExporter(CAPACITY 65536) -> Queue -> d :: Discard(BURST 32);
fx[1] -> Discard;

Script(write src.active true);
