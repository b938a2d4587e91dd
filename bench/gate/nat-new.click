// Packets that leave a private network by a gateway, each of which begins a flow.
define($LIMIT 1000);

src :: FastUDPFlows(0, $LIMIT, 60, 02:00:00:00:00:01, 10.0.0.10, 02:00:00:00:00:02, 198.51.100.7, 1, 1, ACTIVE false, STOP true);

src -> Strip(14) -> CheckIPHeader -> IPRewriter(pattern 203.0.113.2 1024-65535 - - 0 0) -> Queue -> d :: Discard(BURST 32);

Script(write src.active true);
